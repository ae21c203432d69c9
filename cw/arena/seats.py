"""Seats: how the table asks one bot, whatever it is. A seat never raises for what a bot does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Final, Protocol, cast

import msgspec

from cw.arena.transports.http import HttpBot
from cw.arena.transports.stdio import StdioBot
from cw.games.rules import Fault, Json, Strategy
from cw.games.wire import Ignore, LineMessage, Query, Reply, Request, Transport, compact

Look = Callable[[], Any]
"""Returns what the player may see now."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a question came to: a value or a Fault, and the time of the bot, in seconds."""

    value: Any
    seconds: float


class Seat(Protocol):
    """A bot that can be asked."""

    shape: Transport

    @property
    def stderr(self) -> str:
        """What the bot wrote to its standard error, as far as it was kept."""

    async def ask(self, ask: Query, look: Look) -> Answer:
        """Ask once."""

    async def close(self) -> None:
        """Leave nothing of the bot running that we have started."""


class InProcessSeat:
    """A built-in strategy in this process."""

    shape: Transport = "inside"
    stderr = ""

    def __init__(self, strategy: Strategy[Any, Any]) -> None:
        """Seat a strategy."""
        self.strategy = strategy

    async def ask(self, ask: Query, look: Look) -> Answer:
        """Let the strategy act; to all other questions it agrees."""
        if not ask.action:
            return Answer(None, 0.0)
        view = look()
        began = perf_counter()
        # In a thread, so that a long thought does not hold up the answers of other bots.
        value = await asyncio.to_thread(self._act, view)
        return Answer(value, perf_counter() - began)

    def _act(self, view: Any) -> Any:
        try:
            return self.strategy.act(view)
        except Exception as error:
            return Fault("crashed", f"the strategy raised {error!r}")

    async def close(self) -> None:
        """Do nothing: nothing was started."""


class LineSeat:
    """A program that answers lines with lines."""

    shape: Transport = "lines"

    def __init__(self, bot: StdioBot) -> None:
        """Seat a program that runs."""
        self.bot = bot
        self.owed = 0
        """Answers to earlier questions that may still come, where lines are not numbered."""

    @property
    def stderr(self) -> str:
        """Head and tail of its standard error."""
        return self.bot.stderr.text()

    async def ask(self, ask: Query, look: Look) -> Answer:
        """Send the line, and read lines until one is an answer or the time is up."""
        message, limits = cast(LineMessage, ask.message), ask.limits
        clock = asyncio.get_running_loop().time
        began = clock()
        fault = await self.bot.send(message.text, limits.seconds)
        if fault is not None:
            return Answer(ask.explain(fault), clock() - began)
        deadline = clock() + limits.seconds + limits.grace
        worst: Fault | None = None
        self.owed += 1
        while True:
            answer = await self.bot.receive(max(0.0, deadline - clock()))
            if isinstance(answer, Fault):
                if answer.kind != "oversize" or self.bot.gone or clock() > deadline:
                    fault = more_severe(worst, answer) if worst else answer
                    return Answer(ask.explain(fault), clock() - began)
                worst = more_severe(worst, answer) if worst else answer
                continue
            if not message.numbered:
                self.owed -= 1
                if self.owed:
                    continue
            value = ask.read(Reply(answer.line))
            if not isinstance(value, Ignore):
                self.owed = 0
                return Answer(value, answer.seconds)
            worst = more_severe(worst, value.fault) if worst else value.fault

    async def close(self) -> None:
        """End the program and all that it has started."""
        await self.bot.close()


SEVERITY: Final = ("crashed", "disconnected", "oversize", "malformed", "startup", "timeout")


def more_severe(one: Fault, other: Fault) -> Fault:
    """Return the fault that counts of two; the first of equal ones."""
    return min(one, other, key=lambda fault: SEVERITY.index(fault.kind))


class HttpSeat:
    """A web service, and its program if we have started it."""

    shape: Transport = "http"

    def __init__(self, service: HttpBot, process: StdioBot | None = None) -> None:
        """Seat a service that is ready."""
        self.service = service
        self.process = process

    @property
    def stderr(self) -> str:
        """Head and tail of its program's standard error."""
        return self.process.stderr.text() if self.process else ""

    async def ask(self, ask: Query, look: Look) -> Answer:
        """Send the request."""
        call, limits = cast(Request, ask.message), ask.limits
        began = perf_counter()
        response = await self.service.request(
            call.method,
            call.path,
            headers=call.headers,
            body=call.body,
            seconds=limits.seconds,
            connect_seconds=limits.connect_seconds,
            most_body=limits.most_body,
        )
        if isinstance(response, Fault):
            broken = response.kind == "disconnected"
            fault = (await self._ended() if broken else None) or response
            return Answer(ask.explain(fault), perf_counter() - began)
        value = ask.read(Reply(response.body, response.status, response.headers))
        return Answer(value, response.latency)

    async def _ended(self) -> Fault | None:
        """Return the reason if the program that we have started has ended."""
        ended = await self.process.ended() if self.process else None
        return Fault("crashed", ended.detail) if ended else None

    async def close(self) -> None:
        """Close the connections; end the program if it is ours."""
        await self.service.close()
        if self.process:
            await self.process.close()


class ClassSeat:
    """A Python class in a process of its own: a view a line, an action a line."""

    shape: Transport = "inside"

    def __init__(
        self, bot: StdioBot, write: Callable[[Any], Json], read: Callable[[Json], Any]
    ) -> None:
        """Seat a class; `write` makes the document of a view, `read` an action of a document."""
        self.lines = LineSeat(bot)
        self.write = write
        self.read = read

    @property
    def stderr(self) -> str:
        """Head and tail of its standard error."""
        return self.lines.stderr

    async def ask(self, ask: Query, look: Look) -> Answer:
        """Let the class act; to all other questions it agrees."""
        if not ask.action:
            return Answer(None, 0.0)
        line = LineMessage(compact({"view": self.write(look())}))
        return await self.lines.ask(Query(line, self._read, ask.limits), look)

    def _read(self, reply: Reply) -> Any:
        try:
            document = msgspec.json.decode(reply.body)["action"]
        except (msgspec.DecodeError, ValueError, RecursionError, KeyError, TypeError) as error:
            return Fault("malformed", f"no object with the key action: {error}")
        return self.read(document)

    async def close(self) -> None:
        """End the process."""
        await self.lines.close()


class PacedSeat:
    """A seat that takes its time, for those who look on."""

    def __init__(self, seat: Seat, pace: float) -> None:
        """Let every action take `pace` seconds or more."""
        self.seat = seat
        self.pace = pace
        self.shape = seat.shape

    @property
    def stderr(self) -> str:
        """What the bot wrote."""
        return self.seat.stderr

    async def ask(self, ask: Query, look: Look) -> Answer:
        """Ask, and wait if the answer came soon; the bot's own time stays what it was."""
        clock = asyncio.get_running_loop().time
        began = clock()
        answer = await self.seat.ask(ask, look)
        if ask.action:
            await asyncio.sleep(self.pace - (clock() - began))
        return answer

    async def close(self) -> None:
        """Close the seat."""
        await self.seat.close()


class FailedSeat:
    """The seat of a bot that could not be started: each question gets the reason."""

    def __init__(self, shape: Transport, fault: Fault, program: StdioBot | None = None) -> None:
        """Keep the reason."""
        self.shape = shape
        self.fault = fault
        self.program = program

    @property
    def stderr(self) -> str:
        """What it wrote before it failed."""
        return self.program.stderr.text() if self.program else ""

    async def ask(self, ask: Query, look: Look) -> Answer:
        """Return the reason."""
        return Answer(ask.explain(self.fault), 0.0)

    async def close(self) -> None:
        """Do nothing: nothing runs."""


class SandboxedSeat:
    """A seat whose program runs in a sandbox that goes with it."""

    def __init__(self, seat: Seat, box: ExitStack) -> None:
        """Take over the sandbox."""
        self.seat = seat
        self.box = box
        self.shape = seat.shape

    @property
    def stderr(self) -> str:
        """What the program wrote."""
        return self.seat.stderr

    async def ask(self, ask: Query, look: Look) -> Answer:
        """Ask the program."""
        return await self.seat.ask(ask, look)

    async def close(self) -> None:
        """End the program, then remove its working copy."""
        try:
            await self.seat.close()
        finally:
            self.box.close()
