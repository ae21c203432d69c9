"""The output of a player: lines written by a separate thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from threading import Thread
from typing import BinaryIO

from cw_hub.players.messages import HEARTBEAT, Alive, Message


class Outbox:
    """Writes messages in order, with heartbeats between them during a task.

    Nothing that plays waits for the hub to read: its bots would answer late.
    """

    def __init__(self, target: BinaryIO) -> None:
        """Start the thread."""
        self._target = target
        self._lines = SimpleQueue[bytes | None]()
        self._beats = False
        self._thread = Thread(target=self._write, name="output", daemon=True)
        self._thread.start()

    def put(self, message: Message) -> None:
        """Send a message."""
        self.put_line(message.line())

    def put_line(self, line: bytes) -> None:
        """Send the line of a message."""
        self._lines.put(line)

    @contextmanager
    def beating(self, beats: bool = True) -> Iterator[None]:
        """Send heartbeats while the block runs; with False none, as the block sends its own."""
        before, self._beats = self._beats, beats
        try:
            yield
        finally:
            self._beats = before

    def close(self) -> None:
        """Write all pending lines, and stop the thread."""
        self._lines.put(None)
        self._thread.join()

    def _write(self) -> None:
        try:
            while (line := self._next()) is not None:
                self._target.write(line)
                self._target.flush()
        except OSError:
            # The hub is gone; the end of the input shows that as well.
            return

    def _next(self) -> bytes | None:
        while True:
            try:
                return self._lines.get(timeout=HEARTBEAT)
            except Empty:
                if self._beats:
                    return Alive().line()
