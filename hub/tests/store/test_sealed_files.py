"""Files that lie elsewhere: opened whole by their key alone, or refused."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Final

import pytest

from cw.errors import Failure, UsageError
from cw_hub.store.sealing import (
    FORMAT,
    PIECE,
    SALT,
    TAG,
    Sealer,
    new_master_key,
    open_file,
    seal_file,
)

KEYS = new_master_key("k1")
FIRST: Final = len(FORMAT) + len(b"k1\n") + SALT
"""Bytes before the first piece."""


def sealed(data: bytes, keys: str = KEYS) -> bytes:
    to = io.BytesIO()
    seal_file(Sealer(keys), io.BytesIO(data), to)
    return to.getvalue()


def opened(data: bytes, keys: str = KEYS) -> bytes:
    to = io.BytesIO()
    open_file(Sealer(keys), io.BytesIO(data), to)
    return to.getvalue()


@pytest.mark.parametrize("size", [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE])
def test_a_file_of_any_size_comes_back(size: int) -> None:
    data = bytes(range(251)) * (size // 251 + 1)
    file = sealed(data[:size])
    assert opened(file) == data[:size]
    assert data[:50] not in file[FIRST:]
    assert sealed(data[:size]) != file


def test_a_key_that_is_no_longer_the_first_opens_what_it_has_sealed() -> None:
    file = sealed(b"rows")
    later = new_master_key("k2")
    assert opened(file, f"{later},{KEYS}") == b"rows"
    with pytest.raises(Failure, match="the master key k1 is missing: add it to CW_MASTER_KEYS"):
        opened(file, later)
    with pytest.raises(UsageError, match="damaged"):
        opened(file, new_master_key("k1"))


def pieces(file: bytes) -> list[bytes]:
    size = PIECE + TAG
    return [file[at : at + size] for at in range(FIRST, len(file), size)]


SPOILT: Final[dict[str, Callable[[bytes], bytes]]] = {
    "empty": lambda _: b"",
    "not sealed": lambda _: b"x" * 100,
    "cut within its salt": lambda file: file[: FIRST - 1],
    "cut before its first piece": lambda file: file[:FIRST],
    "cut between two pieces": lambda file: file[: FIRST + PIECE + TAG],
    "cut within the last": lambda file: file[:-1],
    "a bit changed": lambda file: file[:-30] + bytes([file[-30] ^ 1]) + file[-29:],
    "a bit of the salt changed": lambda file: (
        file[: FIRST - 1] + bytes([file[FIRST - 1] ^ 1]) + file[FIRST:]
    ),
    "a byte added": lambda file: file + b"x",
    "two pieces changed": lambda file: (
        file[:FIRST] + b"".join([pieces(file)[n] for n in (1, 0, 2)])
    ),
    "a piece left out": lambda file: file[:FIRST] + b"".join(pieces(file)[1:]),
}


@pytest.mark.parametrize("how", SPOILT)
def test_what_was_changed_is_refused(how: str) -> None:
    file = SPOILT[how](sealed(b"0123456789abcdef" * 10_000))
    with pytest.raises(UsageError, match=r"damaged or cut short|not a sealed backup"):
        opened(file)
