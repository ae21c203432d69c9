"""How the time of reading grows with what is read."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import TypeVar

T = TypeVar("T")

KIB = 1024

MOST = 6.0
"""How much longer four times as much may take."""

QUICK = 0.02
"""Seconds: what takes less may grow as it likes."""


def seconds(work: Callable[[T], object], data: T) -> float:
    """Return the processor time of some work."""
    began = process_time()
    work(data)
    return process_time() - began


def growth(work: Callable[[T], object], small: T, large: T) -> float:
    """Return how much longer the large one takes: the best of five, or the first that will do."""
    best = float("inf")
    for _ in range(5):
        # Each pair is measured at once: a machine that gets busy slows both.
        took = seconds(work, large)
        best = min(best, took / seconds(work, small)) if took > QUICK else 0
        if best <= MOST:
            break
    return best


def repeated(part: str, length: int) -> str:
    """Return a part so often that it has about a length."""
    return part * (length // len(part))
