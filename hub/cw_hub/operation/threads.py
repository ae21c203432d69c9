"""The vital threads of a process: it exits as soon as one of them ends."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from typing import Final

LAST_WORDS: Final = 1.0
"""Seconds in which an exiting process releases its matches: it must be gone within two."""

logger = logging.getLogger(__name__)


class Threads:
    """The vital threads of a process."""

    def __init__(self, exit_process: Callable[[int], object] = os._exit) -> None:
        """Start without threads; `exit_process` is called with the exit code."""
        self.stopping = Event()
        """Set when the process is told to stop; threads may end from then on."""
        self.ended: list[str] = []
        """The names of threads that have ended unexpectedly."""
        self.last_words: Callable[[], object] = lambda: None
        """Called before the process exits."""
        self._exit = exit_process

    def start(self, name: str, do: Callable[[], object]) -> Thread:
        """Run a function in a thread; when it returns or fails, the process exits."""

        def run() -> None:
            try:
                do()
            except BaseException:
                logger.exception("the thread %s has failed", name)
            self.end(name)

        thread = Thread(target=run, name=name, daemon=True)
        thread.start()
        return thread

    def end(self, name: str) -> None:
        """Exit, as a vital thread has ended; the supervisor restarts the process."""
        if self.stopping.is_set():
            return
        self.ended.append(name)
        logger.critical("%s has ended: this process exits; start it again", name)
        self.leave(1)

    def wait(self) -> None:
        """Wait until the process is told to stop, for example by Ctrl-C, then exit.

        Python itself would wait at exit for running jobs, however long they take.
        """
        with suppress(KeyboardInterrupt):
            self.stopping.wait()
        self.leave(0)

    def leave(self, code: int) -> None:
        """Call `last_words` within its time limit, then exit."""
        leaving = Thread(target=self.last_words, daemon=True)
        leaving.start()
        leaving.join(LAST_WORDS)
        self._exit(code)
