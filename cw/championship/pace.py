"""An estimate of the time left, from the matches that have ended."""

from __future__ import annotations

from collections import deque
from statistics import fmean
from typing import Final

REMEMBERED: Final = 60
"""How many matches the estimate is based on: the latest."""

FEWEST: Final = 3
"""Matches needed for an estimate."""

TRIMMED: Final = 0.1
"""Share of the shortest, and of the longest, to leave out: a match that hangs is not typical."""


class Pace:
    """Records how long matches last."""

    def __init__(self) -> None:
        """Begin without any matches."""
        self._seconds: deque[float] = deque(maxlen=REMEMBERED)

    def add(self, seconds: float) -> None:
        """Record how long a match lasted."""
        self._seconds.append(seconds)

    def seconds_left(self, waiting: int, running: int, lanes: int) -> float | None:
        """Return the seconds until all matches are over, or None while too few have ended.

        `lanes` matches are played at the same time; those in flight count for half.
        """
        if len(self._seconds) < FEWEST:
            return None
        lanes = max(1, min(lanes, waiting + running))
        return trimmed_mean(self._seconds) * (waiting + running / 2) / lanes


def trimmed_mean(numbers: deque[float]) -> float:
    """Return the mean without the lowest and the highest numbers."""
    cut = round(len(numbers) * TRIMMED)
    return fmean(sorted(numbers)[cut : len(numbers) - cut])


def in_words(seconds: float) -> str:
    """Return a duration in round words, as in `about 5 min`."""
    if seconds < 50:
        return "less than a minute"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"about {minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"about {hours} h" + (f" {rest} min" if rest else "")
