"""Lines that one process adds to and others read for a while: in Redis, or in this process."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any, Final, Protocol, cast

from cachetools import TTLCache
from redis import Redis
from redis.exceptions import RedisError

LIFETIME: Final = 60
"""Seconds after which a list to which nothing was added is gone."""

MOST: Final = 32
"""Lists that a process keeps by itself."""

PATIENCE: Final[dict[str, Any]] = {"socket_timeout": 2, "socket_connect_timeout": 2}
"""Seconds for an answer of Redis."""


class LinesAway(Exception):
    """The lines cannot be reached now."""


class PassingLines(Protocol):
    """Lists of lines by name; each of these calls raises LinesAway where they cannot be reached."""

    def add(self, name: str, line: bytes) -> int:
        """Add a line to a list; return how many it has now."""

    def replace(self, name: str, line: bytes) -> None:
        """Begin a list anew with a line."""

    def read(self, name: str) -> Sequence[bytes]:
        """Return the lines of a list; none of one that is gone."""


class OwnLines:
    """Lines in the memory of this process."""

    def __init__(self) -> None:
        """Begin empty."""
        self._lists: TTLCache[str, tuple[bytes, ...]] = TTLCache(MOST, ttl=LIFETIME)
        self._lock = Lock()

    def add(self, name: str, line: bytes) -> int:
        """Add a line to a list; return how many it has now."""
        with self._lock:
            lines = self._lists[name] = (*self._lists.get(name, ()), line)
            return len(lines)

    def replace(self, name: str, line: bytes) -> None:
        """Begin a list anew with a line."""
        with self._lock:
            self._lists[name] = (line,)

    def read(self, name: str) -> Sequence[bytes]:
        """Return the lines of a list; none of one that is gone."""
        with self._lock:
            return self._lists.get(name, ())


class RedisLines:
    """Lines in Redis, which forgets them by itself."""

    def __init__(self, address: str) -> None:
        """Use the Redis of an address; it is reached with the first call."""
        self._redis = Redis.from_url(address, **PATIENCE)

    def add(self, name: str, line: bytes) -> int:
        """Add a line to a list; return how many it has now."""
        return int(self._all(("rpush", key_of(name), line), ("expire", key_of(name), LIFETIME))[0])

    def replace(self, name: str, line: bytes) -> None:
        """Begin a list anew with a line."""
        key = key_of(name)
        self._all(("delete", key), ("rpush", key, line), ("expire", key, LIFETIME))

    def read(self, name: str) -> Sequence[bytes]:
        """Return the lines of a list; none of one that is gone."""
        return cast(Sequence[bytes], self._all(("lrange", key_of(name), 0, -1))[0])

    def _all(self, *calls: tuple[Any, ...]) -> list[Any]:
        """Do all calls as one; return what they answer."""
        try:
            with self._redis.pipeline() as pipeline:
                for call, *arguments in calls:
                    getattr(pipeline, call)(*arguments)
                return list(pipeline.execute())
        except RedisError as error:
            raise LinesAway(str(error)) from error


def key_of(name: str) -> str:
    """Return the key in Redis of a list."""
    return f"cw:lines:{name}"


def lines_at(broker: str) -> PassingLines:
    """Return the lines that the processes which share a broker pass on."""
    return OwnLines() if broker.startswith("memory:") else RedisLines(broker)
