"""The seat of a web service."""

from __future__ import annotations

from time import perf_counter
from typing import cast

from cw.arena.seats import Answer, Look
from cw.arena.transports.http import HttpBot
from cw.arena.transports.stdio import StdioBot
from cw.games.rules import Fault
from cw.games.wire import Query, Request, Transport


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
            return Answer(query.explain(self._ended() or reply), perf_counter() - began)
        return Answer(query.read(reply), reply.seconds)

    def _ended(self) -> Fault | None:
        """Return the reason if the program that we have started has ended."""
        gone = self.process.gone if self.process else None
        return Fault("crashed", gone.detail) if gone else None

    async def close(self) -> None:
        """Close the connections; end the program if it is ours."""
        await self.service.close()
        if self.process:
            await self.process.close()
