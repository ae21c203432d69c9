"""Files that others may be able to read: encrypted with the master keys, piece by piece.

The scheme is that of the payload of age: a key for each file, made from a master key and a salt,
and pieces whose nonce counts them and says which one is the last. So no piece can be left out,
moved or added, and a file of any size is never in memory as a whole.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from typing import IO, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from cw.errors import UsageError
from cw.hub.store.sealing import Sealer

FORMAT: Final = b"circuit-wars-sealed-1 "
"""How such a file begins; the id of its master key follows, and a line feed."""

FIRST: Final = re.compile(FORMAT + rb"([A-Za-z0-9_-]{1,16})\n")

LONGEST: Final = 64
"""Bytes of the first line at most."""

SALT: Final = 16
PIECE: Final = 1 << 16
TAG: Final = 16
"""Bytes: the salt after the first line, a piece in clear, and what sealing adds to it."""

DAMAGED: Final = "the file is damaged or cut short: it cannot be decrypted"


def seal_file(sealer: Sealer, source: IO[bytes], to: IO[bytes]) -> None:
    """Write a file sealed under the first master key."""
    salt = secrets.token_bytes(SALT)
    to.write(FORMAT + sealer.key_id.encode() + b"\n" + salt)
    cipher = AESGCM(sealer.key_of_file(sealer.key_id, salt))
    for nonce, piece in pieces_of(source, PIECE):
        to.write(cipher.encrypt(nonce, piece, None))


def open_file(sealer: Sealer, source: IO[bytes], to: IO[bytes]) -> None:
    """Write what is sealed in a file.

    Raises UsageError for one that is damaged, cut short or not sealed, and Failure where the key
    that it names is missing. What was written before is then part of it, and not to be used.
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
    """Give each piece of a file with its nonce; a file without bytes has one."""
    number, piece = 0, source.read(size)
    while piece or not number:
        following = source.read(size)
        yield number.to_bytes(11, "big") + bytes([not following]), piece
        number, piece = number + 1, following
