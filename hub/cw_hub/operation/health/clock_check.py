"""Whether the clock of this machine agrees with that of the database."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final

from cw_hub.operation.resources import Resources

MOST: Final = 5.0
"""Maximum difference between the clocks in seconds."""

EVERY: Final = 60.0
"""Seconds between two comparisons."""

logger = logging.getLogger(__name__)


class ClockCheck:
    """Compares the clocks on its first call, then at most once a minute."""

    def __init__(self, elapsed: Callable[[], float] = time.monotonic) -> None:
        """Compare on the first call; `elapsed` returns seconds."""
        self._elapsed = elapsed
        self._due = elapsed()
        self._is_right = True

    def is_right(self, resources: Resources) -> bool:
        """Return whether the clock can be relied on; log an error if not."""
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
    """Return by how many seconds this machine's clock is ahead of the database's."""
    database_time = resources.database.now()
    return 0.0 if database_time is None else (resources.clock() - database_time).total_seconds()
