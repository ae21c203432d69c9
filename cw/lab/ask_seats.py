"""Seats of a match replayed from its record, in which one bot is asked anew."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from cw.arena.referee import MatchRecord
from cw.arena.seats import Answer, Look, Seat
from cw.arena.seats.heard import question_text
from cw.arena.transports.lines import SILENT, HeadAndTail
from cw.games.rules import Fault, Json, Player
from cw.games.wire import Query, Transport

WITHOUT_LIMIT: Final = 24 * 3600.0
"""Seconds for an answer while somebody debugs the bot."""

SETTLING: Final = 4
"""Rounds of the event loop in which to collect output written before an answer."""

LATEST: Final = 2000
"""Characters of a long output that count as new."""

GRANTED: Final = Answer(None, 0.0)
"""The answer of a seat if only an OK is expected."""


class EndOfQuestions(Exception):
    """Ends a replayed match: everything requested has been asked."""


@dataclass(frozen=True, slots=True)
class RecordedTurns:
    """The actions of a match, read as it is replayed."""

    record: MatchRecord
    turns: Sequence[Mapping[str, Json]]
    """The actions of each turn by player."""

    @property
    def now(self) -> int:
        """The index of the turn being played."""
        return len(self.record.turns)

    def document(self, player: Player) -> Json:
        """Return a player's action in this turn; raise EndOfQuestions if there is none."""
        if self.now >= len(self.turns) or str(player) not in self.turns[self.now]:
            # It moved out of turn, or did not accept the news of a move: that ended the match.
            raise EndOfQuestions
        return self.turns[self.now][str(player)]

    def action(self, player: Player) -> Any:
        """Return the action or the fault of a player in this turn."""
        actions = {str(player): self.document(player)}
        read = self.record.game.codec.actions_from_json(self.record.state, actions)
        return next(iter(read.values()))


class Listener(Protocol):
    """Receives the results of asking a bot again."""

    def add(self, new: NewAnswer) -> None:
        """Receive an answer."""

    def refuse(self, query: Query, fault: Fault) -> None:
        """Receive a fault where only an OK was expected; the bot is not asked again."""


class RecordedSeat:
    """A player who acts as recorded."""

    stderr = SILENT

    def __init__(
        self, player: Player, turns: RecordedTurns, transport: Transport, absent: Fault | None
    ) -> None:
        """Seat a player; one who was `absent` from the start refuses the first query."""
        self.player = player
        self.turns = turns
        self.transport = transport
        self.absent = absent

    async def ask(self, query: Query, look: Look) -> Answer:
        """Return the recorded action; agree to any other query."""
        if query.action:
            return Answer(self.turns.action(self.player), 0.0)
        if self.absent is not None and query.message != "nothing":
            return Answer(query.explain(self.absent), 0.0)
        return GRANTED

    async def close(self) -> None:
        """Do nothing: nothing was started."""


@dataclass(frozen=True, slots=True)
class NewAnswer:
    """A bot's new answer to a question of a match."""

    turn: int
    """The index of the turn."""
    state: Any
    """The position before that turn."""
    question: str
    """What it was sent; for a bot that is shown the position, the position as JSON."""
    recorded: Any
    """The action in the match, or a fault."""
    value: Any
    """The new answer: an action, or a fault."""
    seconds: float
    stderr: str
    """What it has written to standard error since the previous question."""


class AskedSeat:
    """A bot that is asked again; the match continues with the actions recorded for its seat."""

    def __init__(
        self,
        player: Player,
        seat: Seat,
        turns: RecordedTurns,
        listener: Listener,
        *,
        is_patient: bool,
    ) -> None:
        """Seat a bot; `is_patient` lifts its time limit."""
        self.player = player
        self.seat = seat
        self.transport = seat.transport
        self.turns = turns
        self.listener = listener
        self.is_patient = is_patient
        self._written = ""

    @property
    def stderr(self) -> HeadAndTail:
        """The bot's output on standard error."""
        return self.seat.stderr

    async def ask(self, query: Query, look: Look) -> Answer:
        """Ask the bot, and return the recorded action."""
        if self.is_patient:
            query = replace(query, limits=query.limits._replace(seconds=WITHOUT_LIMIT))
        if not query.action:
            answer = await self.seat.ask(query, look)
            # For a fault that is not reported, the protocol itself decides whether to continue.
            if isinstance(answer.value, Fault) and query.noted:
                self.listener.refuse(query, answer.value)
                raise EndOfQuestions
            return GRANTED
        recorded = self.turns.action(self.player)
        answer = await self.seat.ask(query, look)
        written = await self._fresh_output()
        turn, state, value = self.turns.now, self.turns.record.state, answer.value
        question = question_text(query, look, self.transport, self.turns.record.game.codec)
        self.listener.add(
            NewAnswer(turn, state, question, recorded, value, answer.seconds, written)
        )
        if isinstance(value, Fault) and value.lasting:
            raise EndOfQuestions
        return Answer(recorded, 0.0)

    async def _fresh_output(self) -> str:
        """Return what the bot has written to standard error since the last call."""
        for _ in range(SETTLING):
            await asyncio.sleep(0)
        before, self._written = self._written, self.seat.stderr.text()
        if self._written.startswith(before):
            return self._written[len(before) :]
        # Only head and tail of a long output are kept, so the new part cannot be determined.
        return self._written[-LATEST:]

    async def close(self) -> None:
        """Close the seat."""
        await self.seat.close()
