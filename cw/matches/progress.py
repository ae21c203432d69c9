"""The progress of a running match, and its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeAlias

from cw.arena.referee import MatchRecord
from cw.errors import Failure
from cw.games.rules import Json
from cw.matches.spec import MatchFault, MatchResult, MatchSpec
from cw.matches.verdict import tie_breaks
from cw.replays.document import Document, Recorder, ending_of, replay_of


@dataclass(slots=True)
class MatchProgress:
    """A match in progress."""

    record: MatchRecord
    date: str = field(default_factory=lambda: datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    """When it started, in UTC."""
    recorder: Recorder = field(default_factory=Recorder)
    spectate: str | None = None
    """The URL for spectators, if one was requested."""

    @property
    def turns(self) -> int:
        """How many turns have been played."""
        return len(self.record.turns)

    def faults(self) -> tuple[MatchFault, ...]:
        """Return the faults so far, in order."""
        numbers = {player: number for number, player in enumerate(self.record.bots)}
        return tuple(
            MatchFault(
                numbers[noted.player],
                noted.player,
                noted.turn,
                noted.fault.kind,
                noted.fault.sentence,
                noted.fault.expected,
                noted.fault.actual,
                noted.fault.answer,
                noted.fault.cause,
            )
            for noted in self.record.faults
        )

    def document(self) -> Document:
        """Return the replay of the match so far."""
        return replay_of(self.record, self.recorder, self.date)

    def news(self, after: int) -> Document:
        """Return the turns after the first `after`, all faults, and the result as far as known."""
        return {"turns": self.recorder.turns[after:], **ending_of(self.record)}


OnTurn: TypeAlias = Callable[[MatchProgress], None]
"""Called after the start of a match and after every turn; an error it raises ends the match."""


def result_of(spec: MatchSpec, progress: MatchProgress) -> MatchResult:
    """Return the result of a finished match."""
    record, outcome = progress.record, progress.record.outcome
    if outcome is None:
        raise Failure(f"the protocol of {spec.game} ended a match without an outcome")
    numbers = {player: number for number, player in enumerate(record.bots)}
    return MatchResult(
        id=spec.id,
        game=spec.game,
        reason=outcome.reason,
        winner=None if outcome.winner is None else numbers[outcome.winner],
        ranks=tuple(outcome.ranks.get(player) for player in record.bots),
        scores=tuple(outcome.scores.get(player) for player in record.bots),
        faults=progress.faults(),
        seconds=tuple(
            tuple(turn.seconds[player] for turn in record.turns if player in turn.seconds)
            for player in record.bots
        ),
        turns=len(record.turns),
        stderr=tuple(record.stderr.get(player, "") for player in record.bots),
        stderr_turns=tuple(record.stderr_turns.get(player, ()) for player in record.bots),
        replay=progress.document(),
        tie_breaks=tie_breaks(spec.game, record.state, record.bots),
        figures=figures_of(record),
    )


def figures_of(record: MatchRecord) -> tuple[dict[str, Json], ...]:
    """Return each bot's statistics other than rank and score; () if the match never started."""
    if record.state is None:
        return ()
    figures = record.game.conduct.figures(record.state)
    return tuple(dict(figures.get(player, {})) for player in record.bots)
