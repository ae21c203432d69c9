"""The seat of a web service."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Final, cast

from cw.arena.seats import QUOTED, Answer, Look
from cw.arena.transports.http import HttpBot
from cw.arena.transports.lines import SILENT, HeadAndTail
from cw.arena.transports.stdio import StdioBot
from cw.games.rules import Fault
from cw.games.status_faults import SERVER_ERROR, plain_text
from cw.games.wire import Query, Reply, Request, Transport

MOMENT: Final = 0.5
"""Seconds to wait after a broken connection for its program to be seen ending."""


class HttpSeat:
    """A web service, and its program if we started it."""

    transport: Transport = "http"

    def __init__(self, service: HttpBot, process: StdioBot | None = None) -> None:
        """Seat a service that is ready."""
        self.service = service
        self.process = process

    @property
    def stderr(self) -> HeadAndTail:
        """Head and tail of its program's standard output and standard error."""
        return self.process.stderr if self.process else SILENT

    async def ask(self, query: Query, look: Look) -> Answer:
        """Send the request."""
        began = perf_counter()
        reply = await self.service.request(cast(Request, query.message), query.limits)
        if isinstance(reply, Fault):
            seconds = perf_counter() - began
            return Answer(query.explain(await self._with_reason(reply)), seconds)
        value = query.read(reply)
        if isinstance(value, Fault) and value.cause == SERVER_ERROR:
            value = await self._with_exception(value, reply)
        return Answer(value, reply.seconds, beginning=reply.body[:QUOTED])

    async def _with_exception(self, fault: Fault, reply: Reply) -> Fault:
        """Return a fault with the exception that the program wrote, unless the reply has one."""
        if self.process is None or plain_text(reply.body):
            return fault
        # The output is already in the pipe, as programs write it before they answer.
        await self.process.take_in()
        exception, limit = self.process.exception, self.process.limit
        return replace(fault, note=": ".join(filter(None, (fault.note, exception, limit))))

    async def _with_reason(self, fault: Fault) -> Fault:
        """Return a fault, turned into `crashed` if the program that we started has ended."""
        if self.process is None:
            return fault
        ended = await self.process.ended(MOMENT if fault.kind == "disconnected" else 0.0)
        return replace(fault, kind="crashed", detail=ended.detail, lasting=True) if ended else fault

    async def close(self) -> None:
        """Close the connections; end the program if we started it."""
        await self.service.close()
        if self.process:
            await self.process.close()
