"""The seats of programs that answer lines with lines."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, cast

import msgspec

from cw.arena.seats import Answer, Look
from cw.arena.transports.stdio import StdioBot
from cw.games.rules import Fault, Json
from cw.games.wire import Ignore, LineMessage, Query, Reply, Transport, compact

SEVERITY: Final = ("crashed", "disconnected", "oversize", "malformed", "startup", "timeout")


class LineSeat:
    """A program that answers lines with lines."""

    transport: Transport = "lines"

    def __init__(self, bot: StdioBot) -> None:
        """Seat a program that runs."""
        self.bot = bot
        self.owed = 0
        """Answers to earlier questions that may still come, where lines are not numbered."""

    @property
    def stderr(self) -> str:
        """Head and tail of its standard error."""
        return self.bot.stderr.text()

    async def ask(self, query: Query, look: Look) -> Answer:
        """Send the line, and read lines until one is an answer or the time is up."""
        message, limits = cast(LineMessage, query.message), query.limits
        clock = asyncio.get_running_loop().time
        began = clock()
        fault = await self.bot.send(message.text, limits.seconds)
        if fault is not None:
            return Answer(query.explain(fault), clock() - began)
        deadline = clock() + limits.seconds + limits.grace
        worst: Fault | None = None
        self.owed += 1
        while True:
            answer = await self.bot.receive(max(0.0, deadline - clock()))
            if isinstance(answer, Fault):
                if answer.kind != "oversize" or self.bot.gone or clock() > deadline:
                    fault = more_severe(worst, answer) if worst else answer
                    return Answer(query.explain(fault), clock() - began)
                worst = more_severe(worst, answer) if worst else answer
                continue
            if not message.numbered:
                self.owed -= 1
                if self.owed:
                    continue
            value = query.read(Reply(answer.line))
            if not isinstance(value, Ignore):
                self.owed = 0
                return Answer(value, answer.seconds)
            worst = more_severe(worst, value.fault) if worst else value.fault

    async def close(self) -> None:
        """End the program and all that it has started."""
        await self.bot.close()


def more_severe(one: Fault, other: Fault) -> Fault:
    """Return the fault that counts of two; the first of equal ones."""
    return min(one, other, key=lambda fault: SEVERITY.index(fault.kind))


class ClassSeat:
    """A Python class in a process of its own: a view a line, an action a line."""

    transport: Transport = "in-process"

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

    async def ask(self, query: Query, look: Look) -> Answer:
        """Let the class act; to all other questions it agrees."""
        if not query.action:
            return Answer(None, 0.0)
        line = LineMessage(compact({"view": self.write(look())}))
        return await self.lines.ask(Query(line, self._read, query.limits), look)

    def _read(self, reply: Reply) -> Any:
        try:
            document = msgspec.json.decode(reply.body)["action"]
        except (msgspec.DecodeError, ValueError, RecursionError, KeyError, TypeError) as error:
            return Fault("malformed", f"no object with the key action: {error}")
        return self.read(document)

    async def close(self) -> None:
        """End the process."""
        await self.lines.close()
