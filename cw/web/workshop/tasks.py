"""Background work of a page: one task at a time, which ends when it is stopped."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from cw.errors import ArenaError
from cw.web.live.loop_thread import LoopThread

logger = logging.getLogger(__name__)


class Work:
    """A slot for one task; the next one replaces it."""

    def __init__(self, loop: LoopThread) -> None:
        """Begin idle."""
        self._loop = loop
        self._task: asyncio.Task[None] | None = None
        self.trouble = ""
        """Why the task ended early, for people; "" if it did not."""

    @property
    def goes_on(self) -> bool:
        """Whether a task has begun and not ended."""
        return self._task is not None and not self._task.done()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Stop the current task, and begin another."""
        self.stop()
        self.trouble = ""
        self._loop.run(self._begin(work))

    def stop(self) -> None:
        """Stop the current task, and wait until nothing of it runs."""
        if self.goes_on:
            self._loop.run(self._end())
            self.trouble = "stopped"

    async def _over(self) -> None:
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    async def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        self._task = asyncio.create_task(self._done(work))

    async def _end(self) -> None:
        if self._task is not None:
            self._task.cancel()
        await self._over()

    async def _done(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except ArenaError as error:
            self.trouble = str(error)
        except Exception:
            logger.exception("work of a workshop")
            self.trouble = "a server error"
