"""Calls with a time limit: run in a thread, and abandoned if they take too long."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import Generic, TypeVar

T = TypeVar("T")


class Begun(Generic[T]):
    """A call running in the background; it does not prevent the process from exiting."""

    def __init__(self, act: Callable[[], T], seconds: float) -> None:
        """Start the call; `result` waits for it until `seconds` from now."""
        self._future: Future[T] = Future()
        self._until = time.monotonic() + seconds
        Thread(target=self._run, args=(act,), daemon=True).start()

    def _run(self, act: Callable[[], T]) -> None:
        try:
            self._future.set_result(act())
        # Third-party code may raise anything, even SystemExit: pass it on to the caller of
        # `result`.
        except BaseException as error:
            self._future.set_exception(error)

    def result(self) -> T:
        """Return the call's result or raise its exception; raise TimeoutError at the time limit."""
        return self._future.result(max(0.0, self._until - time.monotonic()))
