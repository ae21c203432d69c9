"""Hashes of passwords."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Lock

import pytest
from argon2 import PasswordHasher
from argon2.profiles import CHEAPEST

from cw_hub.accounts.service import MOST_AT_ONCE, Passwords

CHEAP = PasswordHasher.from_parameters(CHEAPEST)


@pytest.fixture
def passwords() -> Passwords:
    return Passwords(CHEAP)


@pytest.mark.parametrize("password", ["123456", "pässwörd", "a\0b", " " * 128])
def test_a_hash_fits_its_password_alone(passwords: Passwords, password: str) -> None:
    hashed = passwords.hash(password)
    assert hashed.startswith("$argon2id$")
    assert passwords.fits(password, hashed)
    assert not passwords.fits(f"{password} ", hashed)


@pytest.mark.parametrize("hashed", [None, "", "no hash"])
def test_nothing_fits_what_is_no_hash(passwords: Passwords, hashed: str | None) -> None:
    assert not passwords.fits("", hashed)


def test_a_hash_of_another_cost_is_dated(passwords: Passwords) -> None:
    hashed = passwords.hash("123456")
    assert not passwords.is_dated(hashed)
    assert Passwords().is_dated(hashed)


def test_only_a_few_are_made_at_once() -> None:
    class Watched(PasswordHasher):
        running = most = 0
        lock = Lock()

        def hash(self, password: str | bytes, *, salt: bytes | None = None) -> str:
            with self.lock:
                Watched.running += 1
                Watched.most = max(Watched.most, Watched.running)
            hashed = CHEAP.hash(password, salt=salt)
            with self.lock:
                Watched.running -= 1
            return hashed

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(Passwords(Watched()).hash, ["123456"] * 200))
    assert Watched.most <= MOST_AT_ONCE
