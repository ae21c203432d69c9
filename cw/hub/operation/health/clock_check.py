"""Whether the clock of this machine agrees with that of the database."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final

from cw.hub.operation.resources import Resources

MOST: Final = 5.0
"""Seconds that a clock may be off."""

EVERY: Final = 60.0
"""Seconds between two comparisons."""

logger = logging.getLogger(__name__)


class ClockCheck:
    """Compares the clocks at its first question, and each minute."""

    def __init__(self, elapsed: Callable[[], float] = time.monotonic) -> None:
        """Compare nothing yet; `elapsed` tells seconds."""
        self._elapsed = elapsed
        self._due = elapsed()
        self._is_right = True

    def is_right(self, resources: Resources) -> bool:
        """Return whether the clock may be gone by; says so in the log where it may not."""
        if self._elapsed() >= self._due:
            off = seconds_off(resources)
            self._is_right = abs(off) <= MOST
            self._due = self._elapsed() + EVERY
            if not self._is_right:
                logger.error(
                    "the clock of this machine is %.0f s off the database's:"
                    " nothing is played and nothing ticks here until it is corrected",
                    off,
                )
        return self._is_right


def seconds_off(resources: Resources) -> float:
    """Return by how much the clock of this machine is before the database's."""
    database_time = resources.database.now()
    return 0.0 if database_time is None else (resources.clock() - database_time).total_seconds()
