"""The seat of a web service."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Final, cast

from cw.arena.seats import QUOTED, Answer, Look
from cw.arena.transports.http import HttpBot
from cw.arena.transports.stdio import StdioBot
from cw.games.rules import Fault
from cw.games.wire import Query, Request, Transport

MOMENT: Final = 0.5
"""Seconds after a broken connection in which the end of its program may show."""


class HttpSeat:
    """A web service, and its program if we have started it."""

    transport: Transport = "http"

    def __init__(self, service: HttpBot, process: StdioBot | None = None) -> None:
        """Seat a service that is ready."""
        self.service = service
        self.process = process

    @property
    def stderr(self) -> str:
        """Head and tail of its program's standard error."""
        return self.process.stderr.text() if self.process else ""

    async def ask(self, query: Query, look: Look) -> Answer:
        """Send the request."""
        began = perf_counter()
        reply = await self.service.request(cast(Request, query.message), query.limits)
        if isinstance(reply, Fault):
            seconds = perf_counter() - began
            return Answer(query.explain(await self._with_reason(reply)), seconds)
        return Answer(query.read(reply), reply.seconds, said=reply.body[:QUOTED])

    async def _with_reason(self, fault: Fault) -> Fault:
        """Return a fault, as `crashed` if the program that we have started has ended."""
        if self.process is None:
            return fault
        ended = await self.process.ended(MOMENT if fault.kind == "disconnected" else 0.0)
        return replace(fault, kind="crashed", detail=ended.detail, lasting=True) if ended else fault

    async def close(self) -> None:
        """Close the connections; end the program if it is ours."""
        await self.service.close()
        if self.process:
            await self.process.close()
