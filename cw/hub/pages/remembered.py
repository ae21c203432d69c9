"""What was read or made for a page, to be shown again as long as it holds."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from datetime import datetime
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Remembered(Generic[T]):
    """The values that were used last, by all that they depend on; shared by all threads."""

    def __init__(self, most: int) -> None:
        """Remember none; later at most so many."""
        self._most = most
        self._lock = Lock()
        self._kept: OrderedDict[Hashable, T] = OrderedDict()

    def find(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what a key stands for, which is made once; by two at once, by both alike."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        found = make()
        with self._lock:
            self._kept[key] = found
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return found


def minute(now: datetime) -> int:
    """Return the number of a minute: as a part of a key it lets words like `5 minutes ago` hold."""
    return int(now.timestamp()) // 60
