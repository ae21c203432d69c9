"""Passwords: hashed with Argon2id, a few at a time, and never within a transaction."""

from __future__ import annotations

from threading import BoundedSemaphore
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

MOST_AT_ONCE: Final = 4
"""Each hash takes 64 MiB and a core while it is computed."""


class Passwords:
    """Computes and verifies hashes; shared by all threads of a process."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        """Set the cost of hashes; by default that of argon2-cffi."""
        self._hasher = hasher or PasswordHasher()
        self._room = BoundedSemaphore(MOST_AT_ONCE)

    def hash(self, password: str) -> str:
        """Return a hash of a password, with its salt and cost."""
        with self._room:
            return self._hasher.hash(password)

    def fits(self, password: str, hashed: str | None) -> bool:
        """Return whether a password matches a hash; none matches an account without one."""
        if hashed is None:
            return False
        try:
            with self._room:
                return self._hasher.verify(hashed, password)
        except (VerificationError, InvalidHashError):
            return False

    def is_dated(self, hashed: str) -> bool:
        """Return whether a hash was made at another cost than new ones."""
        return self._hasher.check_needs_rehash(hashed)
