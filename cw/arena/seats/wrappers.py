"""Seats that wrap other seats, and the seats of humans, built-in strategies and failed bots."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Final, Protocol, TypeAlias

from cw.arena.referee import MatchRecord
from cw.arena.seats import SKIPPED, Answer, Look, Seat
from cw.arena.transports.lines import SILENT, HeadAndTail
from cw.arena.transports.stdio import StdioBot
from cw.errors import Abandoned, OutOfTurn
from cw.games.codec import Codec
from cw.games.rules import Fault, Player, Strategy
from cw.games.wire import LineMessage, Query, Request, Transport, compact

ASKED_IN: Final = 10
"""A bot that has long been late is asked in only one out of this many turns."""


class PacedSeat:
    """A seat that slows its answers down for spectators."""

    def __init__(self, seat: Seat, pace: float) -> None:
        """Make every action take at least `pace` seconds."""
        self.seat = seat
        self.pace = pace
        self.transport = seat.transport

    @property
    def stderr(self) -> HeadAndTail:
        """The `stderr` of the wrapped seat."""
        return self.seat.stderr

    async def ask(self, query: Query, look: Look) -> Answer:
        """Ask, and delay an early answer; the bot's own time is not affected."""
        clock = asyncio.get_running_loop().time
        began = clock()
        answer = await self.seat.ask(query, look)
        if query.action:
            await asyncio.sleep(self.pace - (clock() - began))
        return answer

    async def close(self) -> None:
        """Close the seat."""
        await self.seat.close()


class ImpatientSeat:
    """A seat that skips most turns once its bot has long been late.

    Otherwise a bot in an endless loop would use up the whole time limit in every turn to the end of
    the match.
    """

    def __init__(self, seat: Seat, patience: int) -> None:
        """After `patience` late turns in a row, ask in only one turn of ASKED_IN."""
        self.seat = seat
        self.patience = patience
        self.transport = seat.transport
        self._late = 0
        """Number of consecutive late answers, counting only turns in which it was asked."""
        self._skipped = 0
        self._fault: Fault | None = None
        """The last of these faults."""

    @property
    def stderr(self) -> HeadAndTail:
        """The `stderr` of the wrapped seat."""
        return self.seat.stderr

    async def ask(self, query: Query, look: Look) -> Answer:
        """Ask, or repeat the fault of the last turn in which it was asked."""
        if not query.action:
            return await self.seat.ask(query, look)
        if self._fault and self._late >= self.patience and self._skipped < ASKED_IN - 1:
            self._skipped += 1
            return Answer(replace(self._fault, cause=SKIPPED), 0.0)
        self._skipped = 0
        answer = await self.seat.ask(query, look)
        value = answer.value
        self._fault = value if isinstance(value, Fault) and value.kind == "timeout" else None
        self._late = self._late + 1 if self._fault else 0
        return answer

    async def close(self) -> None:
        """Close the seat."""
        await self.seat.close()


class Meter(Protocol):
    """Measures the CPU time of a match's bots, and makes them pause."""

    async def rest(self) -> None:
        """Wait until a bot may compute."""

    def think(self, began: float) -> None:
        """Record a computation from `began`, a time of `perf_counter`, until now."""

    def turn(self) -> None:
        """Record that a turn has been played."""


class MeteredSeat:
    """A seat that measures the processor time of a bot in this process."""

    def __init__(self, seat: Seat, meter: Meter) -> None:
        """Measure the bot in a seat."""
        self.seat = seat
        self.meter = meter
        self.transport = seat.transport

    @property
    def stderr(self) -> HeadAndTail:
        """The `stderr` of the wrapped seat."""
        return self.seat.stderr

    async def ask(self, query: Query, look: Look) -> Answer:
        """Ask once the bot may compute."""
        if not query.action:
            return await self.seat.ask(query, look)
        await self.meter.rest()
        began = perf_counter()
        answer = await self.seat.ask(query, look)
        self.meter.think(began)
        return answer

    async def close(self) -> None:
        """Close the seat."""
        await self.seat.close()


class FailedSeat:
    """The seat of a bot that could not be started: every query returns the reason."""

    def __init__(self, transport: Transport, fault: Fault, program: StdioBot | None = None) -> None:
        """Store the reason."""
        self.transport = transport
        self.fault = replace(fault, lasting=True)
        self.program = program

    @property
    def stderr(self) -> HeadAndTail:
        """What the bot wrote before it failed."""
        return self.program.stderr if self.program else SILENT

    async def ask(self, query: Query, look: Look) -> Answer:
        """Return the reason."""
        return Answer(query.explain(self.fault), 0.0)

    async def close(self) -> None:
        """Do nothing, as nothing is running."""


class SandboxedSeat:
    """A seat whose program runs in a sandbox that it owns."""

    def __init__(self, seat: Seat, box: ExitStack) -> None:
        """Take ownership of the sandbox."""
        self.seat = seat
        self.box = box
        self.transport = seat.transport

    @property
    def stderr(self) -> HeadAndTail:
        """The `stderr` of the wrapped seat."""
        return self.seat.stderr

    def ask(self, query: Query, look: Look) -> Coroutine[Any, Any, Answer]:
        """Ask the program."""
        return self.seat.ask(query, look)

    async def close(self) -> None:
        """End the program, then remove its working copy."""
        try:
            await self.seat.close()
        finally:
            self.box.close()


LONGEST_QUESTION: Final = 64 * 1024
"""Maximum characters of a question that are stored."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question in a match, and its result."""

    player: Player
    turn: int
    """From 1; 0 for questions before the first turn."""
    question: str
    """What was sent, or the position as JSON for a bot that is shown it; truncated if long."""
    answer: str
    """The beginning of the reply; "" if there was none."""
    seconds: float
    fault: Fault | None
    written: str
    """New standard error output since the previous exchange, as far as it is retained."""


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
        """The `stderr` of the wrapped seat."""
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
            # There is no position to show yet.
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


PATIENCE: Final = 30 * 60.0
"""Seconds without an action after which a human player counts as gone.

See hexagon.md, "A human against a bot".
"""


class HumanSeat:
    """The seat of a human player; used only in the event loop of its match."""

    transport: Transport = "human"
    stderr = SILENT

    def __init__(self, patience: float = PATIENCE) -> None:
        """Create a seat that has not been asked yet."""
        self.patience = patience
        self.resigned = asyncio.Event()
        """Set when the player resigns, no matter whose turn it is."""
        self._asked: asyncio.Future[Any] | None = None

    @property
    def is_asked(self) -> bool:
        """Whether the match is waiting for this player."""
        return self._asked is not None and not self._asked.done()

    async def ask(self, query: Query, look: Look) -> Answer:
        """Wait for an action; other queries need no answer."""
        if not query.action:
            return Answer(None, 0.0)
        loop = asyncio.get_running_loop()
        began = loop.time()
        value = await self.act()
        return Answer(value, loop.time() - began)

    async def act(self) -> Any:
        """Wait for an action; raise Abandoned if none arrives for too long."""
        self._asked = asyncio.get_running_loop().create_future()
        try:
            return await asyncio.wait_for(self._asked, self.patience)
        except TimeoutError:
            raise Abandoned(f"nobody moved for {self.patience:g} s") from None
        finally:
            self._asked = None

    def play(self, action: Any) -> None:
        """Submit the awaited action; raise OutOfTurn if none is awaited."""
        if self._asked is None or self._asked.done():
            raise OutOfTurn("it is not your turn")
        self._asked.set_result(action)

    async def close(self) -> None:
        """Do nothing, as nothing was started."""


class InProcessSeat:
    """A built-in strategy that runs in this process."""

    transport: Transport = "in-process"
    stderr = SILENT

    def __init__(self, strategy: Strategy[Any, Any]) -> None:
        """Seat a strategy."""
        self.strategy = strategy

    async def ask(self, query: Query, look: Look) -> Answer:
        """Run the strategy for an action; accept all other queries."""
        if not query.action:
            return Answer(None, 0.0)
        view = look()
        began = perf_counter()
        # In a thread, so that long computation does not delay the answers of other bots.
        value = await asyncio.to_thread(self._act, view)
        seconds = perf_counter() - began
        return Answer(query.explain(value) if isinstance(value, Fault) else value, seconds)

    def _act(self, view: Any) -> Any:
        try:
            return self.strategy.act(view)
        except Exception as error:
            return Fault("crashed", f"the strategy raised {error!r}", "exception")

    async def close(self) -> None:
        """Do nothing, as nothing was started."""
