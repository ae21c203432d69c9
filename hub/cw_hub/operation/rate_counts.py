"""Recent usage counts shared by all processes of a site: in Redis, or in memory for one process."""

from __future__ import annotations

from datetime import UTC, datetime
from threading import Timer
from time import monotonic
from typing import Any, Final, cast

from limits import RateLimitItem
from limits.storage import MemoryStorage, RedisStorage, Storage, storage_from_string
from limits.strategies import MovingWindowRateLimiter

PATIENCE: Final[dict[str, Any]] = {"socket_timeout": 2, "socket_connect_timeout": 2}
"""Seconds to wait for Redis."""

SWEPT: Final = 60.0
"""Seconds between two sweeps of the in-memory counts."""


class Sweep:
    """A replacement for the library's timer that counts as alive until the next sweep is due."""

    def __init__(self, timer: Timer) -> None:
        """Wrap the timer of one sweep."""
        self._timer = timer
        self._until = monotonic() + SWEPT

    def start(self) -> None:
        """Start the sweep."""
        self._timer.start()

    def is_alive(self) -> bool:
        """Return whether the next sweep is not due yet."""
        return monotonic() < self._until


class OwnCounts(MemoryStorage):
    """In-memory counts; the library would start a thread to sweep them after each request."""

    STORAGE_SCHEME = ["own"]  # noqa: RUF012 - as the library has it

    @property  # type: ignore[override]
    def timer(self) -> Sweep:
        """The timer that sweeps expired counts."""
        return self._sweep

    @timer.setter
    def timer(self, timer: Timer) -> None:
        self._sweep = Sweep(timer)


def give_back(storage: Storage, key: str) -> None:
    """Undo the latest count of a key; ignored if the store is away."""
    if isinstance(storage, MemoryStorage):
        with storage.locks[key]:
            del storage.events.get(key, [])[:1]
    elif isinstance(storage, RedisStorage):
        try:
            storage.storage.lpop(storage.prefixed_key(key))
        except storage.base_exceptions:
            return


def storage_at(broker: str) -> Storage:
    """Return the storage shared by the processes of a broker."""
    if broker.startswith("memory:"):
        return OwnCounts()
    return cast(Storage, storage_from_string(broker, **PATIENCE))


class RateCounts:
    """How often something was done within the last minutes or hours."""

    def __init__(self, broker: str = "memory://") -> None:
        """Count in the Redis of the broker, or in memory if the queue is in memory."""
        self._storage = storage_at(broker)
        self._limiter = MovingWindowRateLimiter(self._storage)

    def take(self, limit: RateLimitItem, *key: str, cost: int = 1) -> bool:
        """Count something if the limit allows it; return whether it does.

        Returns False if the counts are away, as they are then unknown.
        """
        try:
            return self._limiter.hit(limit, *key, cost=cost)
        except self._storage.base_exceptions:
            return False

    def give_back(self, limit: RateLimitItem, *key: str, cost: int = 1) -> None:
        """Undo the latest counts."""
        for _ in range(cost):
            give_back(self._storage, limit.key_for(*key))

    def left(self, limit: RateLimitItem, *key: str) -> int | None:
        """Return how often something may still be done now, or None if the counts are away."""
        try:
            return self._limiter.get_window_stats(limit, *key).remaining
        except self._storage.base_exceptions:
            return None

    def ends(self, limit: RateLimitItem, *key: str) -> datetime | None:
        """Return when the oldest count expires, or None if the counts are away."""
        try:
            stats = self._limiter.get_window_stats(limit, *key)
        except self._storage.base_exceptions:
            return None
        return datetime.fromtimestamp(stats.reset_time, UTC)
