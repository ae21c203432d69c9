"""A cache of compiled drafts in this process; the least recently used go first."""

from __future__ import annotations

from threading import Lock
from typing import Final

from cachetools import LRUCache

MOST_BYTES: Final = 64 * 1024 * 1024
"""Maximum bytes of cached programs: a hundred typical ones, two of the largest."""


class Programs:
    """Compiled programs by language and sources."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        """Set the maximum number of bytes."""
        self._lock = Lock()
        self._programs = LRUCache[tuple[str, str], bytes](most, getsizeof=len)

    def find(self, language: str, digest: str) -> bytes | None:
        """Return the program compiled from sources with a digest, or None if it is not cached."""
        with self._lock:
            return self._programs.get((language, digest))

    def keep(self, language: str, digest: str, program: bytes) -> None:
        """Cache a program; the least recently used ones make room."""
        with self._lock:
            if len(program) <= self._programs.maxsize:
                self._programs[language, digest] = program


PROGRAMS: Final = Programs()
