"""The log of a process on a terminal: counts routine events in one line, prints warnings."""

from __future__ import annotations

import logging
import shutil
from collections import Counter
from typing import Final, TextIO

CLEARED: Final = "\r\x1b[2K"
"""Moves to the beginning of the line and clears it."""


class StatusLine(logging.StreamHandler[TextIO]):
    """Writes warnings as lines, and below them a status line with counts.

    An event is counted if its attribute `counted` names a counter.
    """

    def __init__(self, stream: TextIO) -> None:
        """Write to a terminal."""
        super().__init__(stream)
        self._counts = Counter[str]()

    def emit(self, record: logging.LogRecord) -> None:
        """Count an event, or write its line; the counts stay the last line."""
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
