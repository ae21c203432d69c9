"""The log of a process on a terminal: what goes well is counted in one line, the rest is told."""

from __future__ import annotations

import logging
import shutil
from collections import Counter
from typing import Final, TextIO

CLEARED: Final = "\r\x1b[2K"
"""Goes to the beginning of the line, and empties it."""


class StatusLine(logging.StreamHandler[TextIO]):
    """Writes warnings as lines, and below them how often each counted event has happened.

    An event is counted that says in `counted` what it is one of.
    """

    def __init__(self, stream: TextIO) -> None:
        """Write to a terminal."""
        super().__init__(stream)
        self._counts = Counter[str]()

    def emit(self, record: logging.LogRecord) -> None:
        """Count an event, or write its line; the count stays the last line."""
        counted = getattr(record, "counted", None)
        if counted is not None:
            self._counts[counted] += 1
        if record.levelno >= logging.WARNING:
            self.stream.write(CLEARED)
            super().emit(record)
        self._draw()

    def _draw(self) -> None:
        line = "  ".join(f"{name}: {number:,}" for name, number in sorted(self._counts.items()))
        width = shutil.get_terminal_size().columns
        self.stream.write(f"{CLEARED}{line[: width - 1]}")
        self.flush()
