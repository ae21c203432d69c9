"""Seats of programs that reply to each line with a line."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from cw.arena.seats import QUOTED, Answer, Look, StrayLines
from cw.arena.transports.lines import EXCERPT, HeadAndTail
from cw.arena.transports.stdio import StdioBot
from cw.errors import ProtocolError
from cw.games.rules import Fault, Json
from cw.games.wire import Ignore, LineMessage, Query, Reply, Transport, compact, read_json

SEVERITY: Final = ("crashed", "disconnected", "oversize", "malformed", "startup", "timeout")


class LineSeat:
    """A program that replies to each line with a line."""

    transport: Transport = "lines"

    def __init__(self, bot: StdioBot) -> None:
        """Seat a running program."""
        self.bot = bot
        self.owed = 0
        """Answers to earlier questions that may still arrive, if lines are not numbered."""
        self._late: tuple[int, Fault] | None = None
        """How many bytes had arrived when it was last late, and the fault reported then."""

    @property
    def stderr(self) -> HeadAndTail:
        """Head and tail of its standard error."""
        return self.bot.stderr

    async def ask(self, query: Query, look: Look) -> Answer:
        """Send the line, and read lines until one is an answer or time runs out."""
        message, limits = cast(LineMessage, query.message), query.limits
        clock = asyncio.get_running_loop().time
        began = clock()
        fault = await self.bot.send(message.text, limits.seconds)
        if fault is not None:
            return Answer(query.explain(self._told(fault)), clock() - began)
        deadline = clock() + limits.seconds + limits.grace
        worst: Fault | None = None
        stray: list[str] = []
        self.owed += 1
        while True:
            answer = await self.bot.receive(max(0.0, deadline - clock()))
            if isinstance(answer, Fault):
                worst = more_severe(worst, answer)
                if answer.kind != "oversize" or self.bot.gone or clock() > deadline:
                    return Answer(query.explain(self._told(worst)), clock() - began)
                stray.append(answer.detail)
                continue
            if not message.numbered:
                self.owed -= 1
                if self.owed:
                    continue
            value = query.read(Reply(answer.line))
            if not isinstance(value, Ignore):
                self.owed = 0
                return Answer(value, answer.seconds, lines_of(stray), answer.line[:QUOTED])
            worst = more_severe(worst, value.fault)
            if value.fault.kind != "timeout":
                stray.append(repr(answer.line[:EXCERPT].decode(errors="replace")))

    def _told(self, fault: Fault) -> Fault:
        """Return a fault, marked as lasting if the program cannot answer any more.

        If it has written nothing since it was late, repeat the earlier fault: whether it failed to
        read the line or to answer it, it is still busy with what made it late.
        """
        if fault.kind == "timeout":
            if self._late is None or self._late[0] != self.bot.received:
                self._late = (self.bot.received, fault)
            fault = self._late[1]
        return replace(fault, lasting=self.bot.gone is not None)

    async def close(self) -> None:
        """End the program and everything that it started."""
        await self.bot.close()


def more_severe(worst: Fault | None, other: Fault) -> Fault:
    """Return the more severe of two faults; the first if equal."""
    faults = (worst, other) if worst else (other,)
    return min(faults, key=lambda fault: SEVERITY.index(fault.kind))


def lines_of(stray: Sequence[str]) -> StrayLines | None:
    """Return the stray lines before an answer, or None."""
    return StrayLines(len(stray), stray[0]) if stray else None


class ClassSeat:
    """A Python class or function in its own process: a view per line in, an action per line out."""

    transport: Transport = "in-process"

    def __init__(
        self,
        bot: StdioBot,
        configuration: Mapping[str, Json],
        write: Callable[[Any], Json],
        read: Callable[[Json], Any],
    ) -> None:
        """Seat a class; `write` encodes a view as JSON, `read` decodes an action.

        `configuration` is passed to functions with the view, along with the time for the action.
        """
        self.lines = LineSeat(bot)
        self.configuration = configuration
        self.write = write
        self.read = read

    @property
    def stderr(self) -> HeadAndTail:
        """Head and tail of its standard error."""
        return self.lines.stderr

    async def ask(self, query: Query, look: Look) -> Answer:
        """Ask it for an action; accept all other queries."""
        if not query.action:
            return Answer(None, 0.0)
        configuration = {**self.configuration, "actTimeout": query.limits.seconds}
        question = {"view": self.write(look()), "configuration": configuration}
        line = LineMessage(compact(question))
        return await self.lines.ask(
            Query(
                line,
                lambda reply: self._read(query, reply),
                query.limits,
                explain=lambda fault: query.explain(raised(fault)),
            ),
            look,
        )

    def _read(self, query: Query, reply: Reply) -> Any:
        """Return the action in a line, or the game's substitute for a missing one."""
        try:
            value = self.read(read_json(reply.body)["action"])
        except (ProtocolError, KeyError, TypeError) as error:
            value = Fault("malformed", f"no object with the key action: {error}", "unreadable")
        return query.explain(value) if isinstance(value, Fault) else value

    async def close(self) -> None:
        """End the process."""
        await self.lines.close()


def raised(fault: Fault) -> Fault:
    """Return the fault of a class; if its process ended, it raised an exception."""
    return replace(fault, cause="exception") if fault.lasting else fault
