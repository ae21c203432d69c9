"""The seat of a person who plays on a page: the match waits for them."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from cw.arena.seats import Answer, Look
from cw.arena.transports.lines import SILENT
from cw.errors import Abandoned, OutOfTurn
from cw.games.wire import Query, Transport

PATIENCE: Final = 30 * 60.0
"""Seconds without an action until a person counts as gone (hexagon.md, "A human against a bot")."""


class HumanSeat:
    """The seat of a person; used only in the event loop of its match."""

    transport: Transport = "human"
    stderr = SILENT

    def __init__(self, patience: float = PATIENCE) -> None:
        """Create the seat; nobody has been asked yet."""
        self.patience = patience
        self.resigned = asyncio.Event()
        """Set when the person resigns, whoever is to move."""
        self._asked: asyncio.Future[Any] | None = None

    @property
    def is_asked(self) -> bool:
        """Whether the match is waiting for this person."""
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
        """Submit the action that is awaited; raise OutOfTurn if none is."""
        if self._asked is None or self._asked.done():
            raise OutOfTurn("it is not your turn")
        self._asked.set_result(action)

    async def close(self) -> None:
        """Do nothing, as nothing was started."""
