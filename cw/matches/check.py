"""Checks of a bot: the steps of its protocol one by one, then whole games, each explained."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from cw.arena.bots import BotSpec
from cw.arena.launch import open_seat, with_secrets
from cw.arena.referee import MatchRecord, MatchReferee
from cw.games.registry import game_entry, load_checks, load_game, load_protocol
from cw.games.rules import Fault, FaultKind, Json
from cw.games.wire import Trial
from cw.matches.run import FinishedMatch, room_for

Play = Callable[[str, list[BotSpec], int, Mapping[str, Json], Json], FinishedMatch]
"""Plays a match: game, bots, seed, options, and a start or None."""

FIXES: Final[Mapping[FaultKind, str]] = {
    "startup": "run the command by hand in the same folder, and read what it prints",
    "disconnected": "keep the program running and its connection open until the match is over",
    "timeout": "answer sooner, flush what you print, and never wait for more input than one line",
    "crashed": "run it by hand with the same input; the end of its error output is shown above",
    "malformed": "compare what came with the protocol on the game's page in docs/games/",
    "illegal": "check the move against the rules before you send it; `cw step` tries a rule",
    "oversize": "send only the answer, nothing else",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A step of a check: fine if there is no problem."""

    name: str
    problem: str | None
    fix: str

    def to_json(self) -> dict[str, Json]:
        """Return it for programs."""
        said = {"step": self.name, "ok": self.problem is None}
        return said if self.problem is None else {**said, "problem": self.problem, "fix": self.fix}


@dataclass(slots=True)
class Findings:
    """The steps so far (see `wire.Report`)."""

    found: list[Finding] = field(default_factory=list)

    def step(self, name: str, problem: Fault | str | None, fix: str) -> bool:
        """Note a step."""
        said = f"{problem.kind}: {problem.detail}" if isinstance(problem, Fault) else problem
        self.found.append(Finding(name, said, fix))
        return said is None


def check(game: str, bot: BotSpec, play: Play) -> Iterator[Finding]:
    """Try a bot step by step; whole games only when the steps of the protocol are fine."""
    known = with_secrets(bot)
    # Those that we ask inside speak no protocol.
    probed = [] if bot.kind in ("builtin", "python") else asyncio.run(probe(game, known))
    yield from probed
    if any(step.problem for step in probed):
        return
    for number, trial in enumerate(load_checks(game).trials):
        yield tried(game, known, trial, number, play)


async def probe(game: str, bot: BotSpec) -> list[Finding]:
    """Ask a bot for every step of the protocol."""
    checks, findings = load_checks(game), Findings()
    if game_entry(game).protocol is None:
        return []
    protocol = load_protocol(game)
    player = protocol.players([bot.name])[0]
    played = MatchRecord(load_game(game), {player: bot}, 0, {})
    seat = await open_seat(bot, player, room_for(game, played, seed=0))
    try:
        await checks.probe(MatchReferee(played, {player: seat}), player, findings)
    finally:
        await seat.close()
    return findings.found


def tried(game: str, bot: BotSpec, trial: Trial, number: int, play: Play) -> Finding:
    """Play a trial with the bot in the first seat, and again in the last."""
    others = [
        BotSpec(f"other{seat + 1}", "builtin", name) for seat, name in enumerate(trial.opponents)
    ]
    for bots in ([bot, *others], [*others, bot]):
        finished = play(game, bots, number, trial.options, trial.start)
        fault = first_fault(finished.played, bot)
        if fault is not None:
            return fault_of(trial, fault)
    return Finding(trial.name, None, "")


def first_fault(played: MatchRecord, bot: BotSpec) -> tuple[int, Fault] | None:
    """Return the first fault of a bot, with its turn."""
    for noted in played.faults:
        if played.bots[noted.player].name == bot.name:
            return noted.turn, noted.fault
    return None


def fault_of(trial: Trial, seen: tuple[int, Fault]) -> Finding:
    """Explain a fault."""
    turn, fault = seen
    problem = f"turn {turn}: {fault.kind}: {fault.detail}"
    return Finding(trial.name, problem, FIXES[fault.kind])
