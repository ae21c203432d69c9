"""Short-lived lists of lines, written by one process and read by others: in Redis or in memory."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any, Final, Protocol, cast

from cachetools import TTLCache
from redis import Redis
from redis.exceptions import RedisError

LIFETIME: Final = 60
"""Seconds after its last addition until a list expires."""

MOST: Final = 32
"""Maximum number of lists that a process keeps in memory."""

PATIENCE: Final[dict[str, Any]] = {"socket_timeout": 2, "socket_connect_timeout": 2}
"""Seconds to wait for Redis."""


class LinesAway(Exception):
    """The lines cannot be reached now."""


class PassingLines(Protocol):
    """Named lists of lines; every method raises LinesAway if they cannot be reached."""

    def add(self, name: str, line: bytes) -> int:
        """Append a line to a list; return its new length."""

    def replace(self, name: str, line: bytes) -> None:
        """Replace a list with a single line."""

    def read(self, name: str) -> Sequence[bytes]:
        """Return the lines of a list, or none if it has expired."""


class OwnLines:
    """Lines in the memory of this process."""

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
    """Lines in Redis, which expires them itself."""

    def __init__(self, address: str) -> None:
        """Set the Redis address; the connection is opened by the first call."""
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
    """Return the lines shared by the processes of a broker."""
    return OwnLines() if broker.startswith("memory:") else RedisLines(broker)
