"""A seat that reports what its bot was asked, what it answered, and after how long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from cw.arena.referee import MatchRecord
from cw.arena.seats import Answer, Look, Seat
from cw.arena.transports.lines import HeadAndTail
from cw.games.codec import Codec
from cw.games.rules import Fault, Player
from cw.games.wire import LineMessage, Query, Request, Transport, compact

LONGEST_QUESTION: Final = 64 * 1024
"""Maximum characters of a question that are kept."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question in a match, and its result."""

    player: Player
    turn: int
    """From 1; 0 for questions before the first turn."""
    question: str
    """What was sent, or for a bot that is shown the position, the position as JSON; cut if long."""
    answer: str
    """The beginning of the reply; "" if there was none."""
    seconds: float
    fault: Fault | None
    written: str
    """New standard error output since the previous exchange, as far as it is kept."""


Hear: TypeAlias = Callable[[Exchange], None]
"""Called with each exchange when it is complete."""


class HeardSeat:
    """A seat that reports its exchanges."""

    def __init__(self, player: Player, seat: Seat, record: MatchRecord, hear: Hear) -> None:
        """Report the exchanges of a player's seat in a match."""
        self.player = player
        self.seat = seat
        self.record = record
        self.hear = hear
        self.transport = seat.transport
        self._written = 0
        """Bytes of standard error already reported."""

    @property
    def stderr(self) -> HeadAndTail:
        """What the bot wrote."""
        return self.seat.stderr

    async def ask(self, query: Query, look: Look) -> Answer:
        """Ask, and report the exchange if it was about an action or went wrong."""
        question = self._question(query, look)
        answer = await self.seat.ask(query, look)
        fault = answer.value if isinstance(answer.value, Fault) else None
        if query.action or fault is not None:
            self.hear(self._exchange(question, answer, fault))
        return answer

    def _question(self, query: Query, look: Look) -> str:
        if self.record.state is None:
            # There is no position yet to show.
            message = query.message
            return f"{message.method} {message.path}" if isinstance(message, Request) else ""
        return question_text(query, look, self.transport, self.record.game.codec)

    def _exchange(self, question: str, answer: Answer, fault: Fault | None) -> Exchange:
        turn = 0 if self.record.state is None else len(self.record.turns) + 1
        reply = answer.beginning.decode(errors="replace")
        cut = question[:LONGEST_QUESTION]
        return Exchange(self.player, turn, cut, reply, answer.seconds, fault, self._fresh_output())

    def _fresh_output(self) -> str:
        """Return what the bot wrote since the previous call."""
        stderr, known = self.stderr, self._written
        if stderr.length == known:
            return ""
        self._written = stderr.length
        return stderr.text()[stderr.place(known) :]

    async def close(self) -> None:
        """Close the seat."""
        await self.seat.close()


def question_text(
    query: Query, look: Look, transport: Transport, codec: Codec[Any, Any, Any]
) -> str:
    """Return a question as text: what was sent, and the view unless that includes it."""
    message = query.message
    if transport == "lines" and isinstance(message, LineMessage):
        return message.text.decode()
    if transport == "http" and isinstance(message, Request):
        body = (
            view_text(look, codec)
            if message.body is None
            else message.body.decode(errors="replace")
        )
        return f"{message.method} {message.path}\n{body}"
    return view_text(look, codec)


def view_text(look: Look, codec: Codec[Any, Any, Any]) -> str:
    """Return a player's current view as JSON."""
    return compact(codec.view_to_json(look())).decode()
