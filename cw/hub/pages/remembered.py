"""Values that were read or made for a page, remembered as long as they hold."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from datetime import datetime
from threading import Lock
from typing import Generic, TypeVar

from cachetools import LRUCache

T = TypeVar("T")


class Remembered(Generic[T]):
    """The values that were used last, by all that they depend on; shared by all threads."""

    def __init__(self, most: int, size: Callable[[T], int] = lambda _: 1) -> None:
        """Begin empty; the sizes of what is remembered add up to at most so much."""
        self._lock = Lock()
        self._size = size
        self._values: LRUCache[Hashable, T] = LRUCache(most, size)

    def find(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value of a key, made if need be; two threads at once may both make it."""
        with self._lock:
            if key in self._values:
                return self._values[key]
        value = make()
        with self._lock:
            if self._size(value) <= self._values.maxsize:
                self._values[key] = value
        return value


def minute(now: datetime) -> int:
    """Return the number of a minute: as a part of a key it lets words like `5 minutes ago` hold."""
    return int(now.timestamp()) // 60
