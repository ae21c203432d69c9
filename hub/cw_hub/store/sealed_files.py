"""Files that others may be able to read, encrypted in pieces with the master keys.

The scheme is that of age's payload: a key for each file, derived from a master key and a salt, and
pieces whose nonce contains their number and marks the last one. No piece can be omitted, moved or
added, and a file of any size is never entirely in memory.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from typing import IO, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from cw.errors import UsageError
from cw_hub.store.sealing import Sealer

FORMAT: Final = b"circuit-wars-sealed-1 "
"""How a sealed file begins; the id of its master key and a line feed follow."""

FIRST: Final = re.compile(FORMAT + rb"([A-Za-z0-9_-]{1,16})\n")

LONGEST: Final = 64
"""Maximum length of the first line, in bytes."""

SALT: Final = 16
PIECE: Final = 1 << 16
TAG: Final = 16
"""Sizes in bytes: the salt after the first line, a plaintext piece, and the overhead of sealing."""

DAMAGED: Final = "the file is damaged or cut short: it cannot be decrypted"


def seal_file(sealer: Sealer, source: IO[bytes], to: IO[bytes]) -> None:
    """Encrypt a file under the first master key."""
    salt = secrets.token_bytes(SALT)
    to.write(FORMAT + sealer.key_id.encode() + b"\n" + salt)
    cipher = AESGCM(sealer.key_of_file(sealer.key_id, salt))
    for nonce, piece in pieces_of(source, PIECE):
        to.write(cipher.encrypt(nonce, piece, None))


def open_file(sealer: Sealer, source: IO[bytes], to: IO[bytes]) -> None:
    """Decrypt a sealed file.

    Raises UsageError if it is damaged, truncated or not sealed, and Failure if its master key is
    missing. The output is then incomplete and must not be used.
    """
    first = FIRST.fullmatch(source.readline(LONGEST))
    if first is None:
        raise UsageError("the file is not a sealed back-up: its first line is not that of one")
    cipher = AESGCM(sealer.key_of_file(first[1].decode(), source.read(SALT)))
    try:
        for nonce, piece in pieces_of(source, PIECE + TAG):
            to.write(cipher.decrypt(nonce, piece, None))
    except (InvalidTag, ValueError):
        raise UsageError(DAMAGED) from None


def pieces_of(source: IO[bytes], size: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield each piece of a file with its nonce; an empty file has one piece."""
    number, piece = 0, source.read(size)
    while piece or not number:
        following = source.read(size)
        yield number.to_bytes(11, "big") + bytes([not following]), piece
        number, piece = number + 1, following
