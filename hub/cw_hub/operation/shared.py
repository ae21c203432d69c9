"""Short-lived data shared by all processes of a site, in Redis or in memory: rates and lines."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from threading import Lock, Timer
from time import monotonic
from typing import Any, Final, Protocol, cast

from cachetools import TTLCache
from limits import RateLimitItem
from limits.storage import MemoryStorage, RedisStorage, Storage, storage_from_string
from limits.strategies import MovingWindowRateLimiter
from redis import Redis
from redis.exceptions import RedisError

LIFETIME: Final = 60
"""Seconds after its last addition until a list expires."""

MOST: Final = 32
"""Maximum number of lists that a process keeps in memory."""

PATIENCE: Final[dict[str, Any]] = {"socket_timeout": 2, "socket_connect_timeout": 2}
"""Timeouts of Redis connections, in seconds."""


class LinesAway(Exception):
    """The shared lines are unavailable."""


class PassingLines(Protocol):
    """Short-lived named lists of lines; all methods raise LinesAway if they are unavailable."""

    def add(self, name: str, line: bytes) -> int:
        """Append a line to a list; return its new length."""

    def replace(self, name: str, line: bytes) -> None:
        """Replace a list with a single line."""

    def read(self, name: str) -> Sequence[bytes]:
        """Return the lines of a list, or none if it has expired."""


class OwnLines:
    """Lists of lines in the memory of this process."""

    def __init__(self) -> None:
        """Start without any lists."""
        self._lists: TTLCache[str, tuple[bytes, ...]] = TTLCache(MOST, ttl=LIFETIME)
        self._lock = Lock()

    def add(self, name: str, line: bytes) -> int:
        """Append a line to a list; return its new length."""
        with self._lock:
            lines = self._lists[name] = (*self._lists.get(name, ()), line)
            return len(lines)

    def replace(self, name: str, line: bytes) -> None:
        """Replace a list with a single line."""
        with self._lock:
            self._lists[name] = (line,)

    def read(self, name: str) -> Sequence[bytes]:
        """Return the lines of a list, or none if it has expired."""
        with self._lock:
            return self._lists.get(name, ())


class RedisLines:
    """Lists of lines in Redis, which expires them itself."""

    def __init__(self, address: str) -> None:
        """Set the Redis URL; the connection is opened by the first call."""
        self._redis = Redis.from_url(address, **PATIENCE)

    def add(self, name: str, line: bytes) -> int:
        """Append a line to a list; return its new length."""
        return int(self._all(("rpush", key_of(name), line), ("expire", key_of(name), LIFETIME))[0])

    def replace(self, name: str, line: bytes) -> None:
        """Replace a list with a single line."""
        key = key_of(name)
        self._all(("delete", key), ("rpush", key, line), ("expire", key, LIFETIME))

    def read(self, name: str) -> Sequence[bytes]:
        """Return the lines of a list, or none if it has expired."""
        return cast(Sequence[bytes], self._all(("lrange", key_of(name), 0, -1))[0])

    def _all(self, *calls: tuple[Any, ...]) -> list[Any]:
        """Run all commands as one transaction; return their replies."""
        try:
            with self._redis.pipeline() as pipeline:
                for call, *arguments in calls:
                    getattr(pipeline, call)(*arguments)
                return list(pipeline.execute())
        except RedisError as error:
            raise LinesAway(str(error)) from error


def key_of(name: str) -> str:
    """Return the Redis key of a list."""
    return f"cw:lines:{name}"


def lines_at(broker: str) -> PassingLines:
    """Return the lists of lines shared by the processes of a broker."""
    return OwnLines() if broker.startswith("memory:") else RedisLines(broker)


SWEPT: Final = 60.0
"""Seconds between two sweeps of the in-memory counts."""


class Sweep:
    """A replacement for the library's timer that counts as alive until the next sweep is due."""

    def __init__(self, timer: Timer) -> None:
        """Wrap the timer of a single sweep."""
        self._timer = timer
        self._until = monotonic() + SWEPT

    def start(self) -> None:
        """Start the timer."""
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
    """Undo the latest count of a key; ignored if the storage is unavailable."""
    if isinstance(storage, MemoryStorage):
        with storage.locks[key]:
            del storage.events.get(key, [])[:1]
    elif isinstance(storage, RedisStorage):
        try:
            storage.storage.lpop(storage.prefixed_key(key))
        except storage.base_exceptions:
            return


def storage_at(broker: str) -> Storage:
    """Return the storage shared by all processes that use a broker."""
    if broker.startswith("memory:"):
        return OwnCounts()
    return cast(Storage, storage_from_string(broker, **PATIENCE))


class RateCounts:
    """Counts how often something was done within the last minutes or hours."""

    def __init__(self, broker: str = "memory://") -> None:
        """Count in the Redis of the broker, or in memory if the queue is in memory."""
        self._storage = storage_at(broker)
        self._limiter = MovingWindowRateLimiter(self._storage)

    def take(self, limit: RateLimitItem, *key: str, cost: int = 1) -> bool:
        """Count an action if the limit allows it; return whether it does.

        Also returns False if the counts are unavailable, since the limit cannot be checked.
        """
        try:
            return self._limiter.hit(limit, *key, cost=cost)
        except self._storage.base_exceptions:
            return False

    def give_back(self, limit: RateLimitItem, *key: str, cost: int = 1) -> None:
        """Undo the latest counts of a key."""
        for _ in range(cost):
            give_back(self._storage, limit.key_for(*key))

    def left(self, limit: RateLimitItem, *key: str) -> int | None:
        """Return how often something may still be done now; None if the counts are unavailable."""
        try:
            return self._limiter.get_window_stats(limit, *key).remaining
        except self._storage.base_exceptions:
            return None

    def ends(self, limit: RateLimitItem, *key: str) -> datetime | None:
        """Return when the oldest count expires, or None if the counts are unavailable."""
        try:
            stats = self._limiter.get_window_stats(limit, *key)
        except self._storage.base_exceptions:
            return None
        return datetime.fromtimestamp(stats.reset_time, UTC)
