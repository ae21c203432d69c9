"""The seat of a built-in strategy."""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import Any

from cw.arena.seats import Answer, Look
from cw.arena.transports.lines import SILENT
from cw.games.rules import Fault, Strategy
from cw.games.wire import Query, Transport


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
