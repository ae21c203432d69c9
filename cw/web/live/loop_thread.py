"""An event loop in a separate thread, for the threads of a server."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from queue import Queue
from threading import Thread
from typing import Any, Final, TypeVar

PATIENCE: Final = 10.0
"""Seconds for the loop to answer."""

T = TypeVar("T")


class LoopThread:
    """A thread with an event loop, in which all matches of a server are played."""

    def __init__(self) -> None:
        """Start the thread, and wait until its loop runs."""
        self._loops: Queue[asyncio.AbstractEventLoop] = Queue()
        self._ended = asyncio.Event()
        self._thread = Thread(target=asyncio.run, args=[self._live()], name="matches", daemon=True)
        self._thread.start()
        self._loop = self._loops.get()

    async def _live(self) -> None:
        self._loops.put(asyncio.get_running_loop())
        await self._ended.wait()

    def run(self, work: Coroutine[Any, Any, T], patience: float | None = PATIENCE) -> T:
        """Run a coroutine in the thread, and return its result.

        `patience` limits the wait, in seconds; None for no limit.
        """
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(patience)

    def close(self) -> None:
        """Cancel all remaining work, and wait until the thread has ended."""
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()
