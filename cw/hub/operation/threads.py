"""The threads without which a process is of no use: it ends with the first of them that ends."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from typing import Final

LAST_WORDS: Final = 1.0
"""Seconds in which a process that ends gives back what it plays: it is to be gone within two."""

logger = logging.getLogger(__name__)


class Threads:
    """The vital threads of a process."""

    def __init__(self, exit_process: Callable[[int], object] = os._exit) -> None:
        """Begin without any; `exit_process` is given the exit code."""
        self.stopping = Event()
        """Set when the process is told to end: then threads may."""
        self.ended: list[str] = []
        """The names of those that have ended by themselves."""
        self.last_words: Callable[[], object] = lambda: None
        """What is done before the process ends."""
        self._exit = exit_process

    def start(self, name: str, do: Callable[[], object]) -> Thread:
        """Do something in a thread; where it comes to an end, so does the process."""

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
        """End the process, as something vital has ended: what watches over it starts it anew."""
        if self.stopping.is_set():
            return
        self.ended.append(name)
        logger.critical("%s has ended: this process exits; start it again", name)
        self.leave(1)

    def wait(self) -> None:
        """Wait until the process is told to end, as by Ctrl-C, and end it.

        At its end Python itself would wait for the jobs that are being done, however long they
        take.
        """
        with suppress(KeyboardInterrupt):
            self.stopping.wait()
        self.leave(0)

    def leave(self, code: int) -> None:
        """Say the last words, within their time, and end the process."""
        leaving = Thread(target=self.last_words, daemon=True)
        leaving.start()
        leaving.join(LAST_WORDS)
        self._exit(code)
