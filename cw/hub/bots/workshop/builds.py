"""The drafts that this process has had compiled: those that were used last."""

from __future__ import annotations

from threading import Lock
from typing import Final

from cachetools import LRUCache

MOST_BYTES: Final = 64 * 1024 * 1024
"""Bytes of programs that a process keeps: a hundred of usual ones, two of the largest."""


class Programs:
    """Compiled programs by language and sources."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        """Keep so many bytes at most."""
        self._lock = Lock()
        self._programs = LRUCache[tuple[str, str], bytes](most, getsizeof=len)

    def find(self, language: str, digest: str) -> bytes | None:
        """Return the program compiled from sources with a digest, None if it is not here."""
        with self._lock:
            return self._programs.get((language, digest))

    def keep(self, language: str, digest: str, program: bytes) -> None:
        """Keep a program; those that were not used for the longest time make room."""
        with self._lock:
            if len(program) <= self._programs.maxsize:
                self._programs[language, digest] = program


PROGRAMS: Final = Programs()
"""Those of this process."""
