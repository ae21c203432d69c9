"""An estimate of the time left, from the matches that have ended."""

from __future__ import annotations

from collections import deque
from statistics import fmean
from typing import Final

REMEMBERED: Final = 60
"""Matches that are judged by: the latest."""

FEWEST: Final = 3
"""Matches without which nothing is said."""

TRIMMED: Final = 0.1
"""Share of the shortest, and of the longest, that do not count: one that hangs is no rule."""


class Pace:
    """Takes note of how long matches last."""

    def __init__(self) -> None:
        """Know of no match yet."""
        self._seconds: deque[float] = deque(maxlen=REMEMBERED)

    def add(self, seconds: float) -> None:
        """Take note of a match that has ended."""
        self._seconds.append(seconds)

    def seconds_left(self, waiting: int, running: int, lanes: int) -> float | None:
        """Return the seconds until all are over, None as long as too few have ended.

        So many `lanes` are played at the same time; those being played count for half.
        """
        if len(self._seconds) < FEWEST:
            return None
        lanes = max(1, min(lanes, waiting + running))
        return trimmed_mean(self._seconds) * (waiting + running / 2) / lanes


def trimmed_mean(numbers: deque[float]) -> float:
    """Return the mean of all numbers but the lowest and the highest."""
    cut = round(len(numbers) * TRIMMED)
    return fmean(sorted(numbers)[cut : len(numbers) - cut])


def in_words(seconds: float) -> str:
    """Return a time as a person tells it, as in `about 5 min`."""
    if seconds < 50:
        return "less than a minute"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"about {minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"about {hours} h" + (f" {rest} min" if rest else "")
