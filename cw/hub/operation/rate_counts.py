"""Counts of what was done of late, shared by all processes of a site: in Redis, or in its one."""

from __future__ import annotations

from datetime import UTC, datetime
from threading import Timer
from time import monotonic
from typing import Any, Final, cast

from limits import RateLimitItem
from limits.storage import MemoryStorage, RedisStorage, Storage, storage_from_string
from limits.strategies import MovingWindowRateLimiter

PATIENCE: Final[dict[str, Any]] = {"socket_timeout": 2, "socket_connect_timeout": 2}
"""Seconds for an answer of Redis."""

SWEPT: Final = 60.0
"""Seconds between two sweeps of what this process has counted."""


class Sweep:
    """A timer of the library, which counts as running until the next sweep is due."""

    def __init__(self, timer: Timer) -> None:
        """Take what sweeps once."""
        self._timer = timer
        self._until = monotonic() + SWEPT

    def start(self) -> None:
        """Sweep soon."""
        self._timer.start()

    def is_alive(self) -> bool:
        """Return whether no other sweep shall begin."""
        return monotonic() < self._until


class OwnCounts(MemoryStorage):
    """What this process has counted; the library would sweep it after each request, in a thread."""

    STORAGE_SCHEME = ["own"]  # noqa: RUF012 - as the library has it

    @property  # type: ignore[override]
    def timer(self) -> Sweep:
        """What sweeps away counts that are over."""
        return self._sweep

    @timer.setter
    def timer(self, timer: Timer) -> None:
        self._sweep = Sweep(timer)


def give_back(storage: Storage, key: str) -> None:
    """Take the latest of what was counted under a key away; a store that is gone keeps it."""
    if isinstance(storage, MemoryStorage):
        with storage.locks[key]:
            del storage.events.get(key, [])[:1]
    elif isinstance(storage, RedisStorage):
        try:
            storage.storage.lpop(storage.prefixed_key(key))
        except storage.base_exceptions:
            return


def storage_at(broker: str) -> Storage:
    """Return where the processes that share a broker count."""
    if broker.startswith("memory:"):
        return OwnCounts()
    return cast(Storage, storage_from_string(broker, **PATIENCE))


class RateCounts:
    """How often something was done within the last minutes or hours."""

    def __init__(self, broker: str = "memory://") -> None:
        """Count in the Redis of an address, or in this process where the queue is in it too."""
        self._storage = storage_at(broker)
        self._limiter = MovingWindowRateLimiter(self._storage)

    def take(self, limit: RateLimitItem, *key: str, cost: int = 1) -> bool:
        """Count something if the limit allows it; return whether it does.

        False where the counts are away, as nobody knows then how many there were.
        """
        try:
            return self._limiter.hit(limit, *key, cost=cost)
        except self._storage.base_exceptions:
            return False

    def give_back(self, limit: RateLimitItem, *key: str, cost: int = 1) -> None:
        """Take the latest of what was counted away."""
        for _ in range(cost):
            give_back(self._storage, limit.key_for(*key))

    def left(self, limit: RateLimitItem, *key: str) -> int | None:
        """Return how often something may be done now; None where the counts are away."""
        try:
            return self._limiter.get_window_stats(limit, *key).remaining
        except self._storage.base_exceptions:
            return None

    def ends(self, limit: RateLimitItem, *key: str) -> datetime | None:
        """Return when the oldest of what was counted is over; None where the counts are away."""
        try:
            stats = self._limiter.get_window_stats(limit, *key)
        except self._storage.base_exceptions:
            return None
        return datetime.fromtimestamp(stats.reset_time, UTC)
