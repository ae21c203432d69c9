"""Calls that may take too long: run in a thread, and waited for up to a time limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import Generic, TypeVar

T = TypeVar("T")


class Begun(Generic[T]):
    """A call that goes on in the background; nothing waits for it when the process ends."""

    def __init__(self, act: Callable[[], T], seconds: float) -> None:
        """Begin; whoever asks within the next `seconds` waits until they are over."""
        self._future: Future[T] = Future()
        self._until = time.monotonic() + seconds
        Thread(target=self._run, args=(act,), daemon=True).start()

    def _run(self, act: Callable[[], T]) -> None:
        try:
            self._future.set_result(act())
        # Code of others may raise whatever there is, SystemExit too: it is for whoever asks.
        except BaseException as error:
            self._future.set_exception(error)

    def result(self) -> T:
        """Return what came of it, or raise what it raised; TimeoutError if it is not done yet."""
        return self._future.result(max(0.0, self._until - time.monotonic()))
