"""A cache of values for pages, valid as long as their keys."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from datetime import datetime
from threading import Lock
from typing import Generic, TypeVar

from cachetools import LRUCache

T = TypeVar("T")


class Remembered(Generic[T]):
    """The most recently used values, keyed by all that they depend on; shared by all threads."""

    def __init__(self, most: int, size: Callable[[T], int] = lambda _: 1) -> None:
        """Create an empty cache; `most` bounds the sum of the sizes of its values."""
        self._lock = Lock()
        self._size = size
        self._values: LRUCache[Hashable, T] = LRUCache(most, size)

    def find(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value of a key, made if missing; two concurrent threads may both make it."""
        with self._lock:
            if key in self._values:
                return self._values[key]
        value = make()
        with self._lock:
            if self._size(value) <= self._values.maxsize:
                self._values[key] = value
        return value


def minute(now: datetime) -> int:
    """Return a minute's number; in a key, it keeps texts like `5 minutes ago` valid."""
    return int(now.timestamp()) // 60
