"""Encryption of stored secrets and files with AES-256-GCM under the master keys.

A sealed secret is bound to its row.
"""

from __future__ import annotations

import re
import secrets
from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Final, NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from cw.errors import Failure, UsageError, short

NONCE: Final = 12
"""Number of random bytes before each ciphertext."""

KEY: Final = re.compile(r"([A-Za-z0-9_-]{1,16}):([A-Za-z0-9+/]{43}=)")


class Sealed(NamedTuple):
    """An encrypted secret as stored."""

    key_id: str
    data: bytes
    """12 random bytes, the ciphertext and the tag."""


class Sealer:
    """Encrypts secrets with the first master key, and decrypts those sealed with any of them."""

    def __init__(self, text: str) -> None:
        """Parse the keys, `id:base64` separated by commas; raise ValueError if invalid."""
        self._bytes = read_keys(text)
        self._keys = {name: AESGCM(key) for name, key in self._bytes.items()}
        self.key_ids = tuple(self._keys)
        self.key_id = self.key_ids[0]

    def seal(self, secret: bytes, row: str) -> Sealed:
        """Encrypt a secret for a row; it cannot be decrypted for any other."""
        nonce = secrets.token_bytes(NONCE)
        # The row is associated data: a ciphertext copied into another row cannot be opened.
        sealed = self._keys[self.key_id].encrypt(nonce, secret, row.encode())
        return Sealed(self.key_id, nonce + sealed)

    def open(self, sealed: Sealed, row: str) -> bytes:
        """Decrypt a secret; raise Failure if its key is missing or it belongs to another row."""
        self._demand(sealed.key_id)
        nonce, data = sealed.data[:NONCE], sealed.data[NONCE:]
        try:
            return self._keys[sealed.key_id].decrypt(nonce, data, row.encode())
        except (InvalidTag, ValueError):
            raise Failure(
                f"the secret of {row} cannot be decrypted: it was encrypted for another row or key"
            ) from None

    def key_of_file(self, key_id: str, salt: bytes) -> bytes:
        """Return the 32-byte key of a file, derived from a master key and a salt.

        Raises Failure if that master key is missing.
        """
        self._demand(key_id)
        return HKDF(SHA256(), 32, salt, b"circuit-wars file").derive(self._bytes[key_id])

    def _demand(self, key_id: str) -> None:
        if key_id not in self._keys:
            raise Failure(f"the master key {key_id} is missing: add it to CW_MASTER_KEYS")


def read_keys(text: str) -> dict[str, bytes]:
    """Parse `id:base64,id:base64`, 32 bytes each; raise ValueError with the expected format."""
    try:
        matches = [KEY.fullmatch(part.strip()) for part in text.split(",")]
        keys = {match[1]: b64decode(match[2], validate=True) for match in matches if match}
    except Error:
        keys = {}
    if not keys or len(keys) < len(text.split(",")):
        raise ValueError("id:base64 of 32 bytes, several separated by commas")
    return keys


def new_master_key(name: str = "k1") -> str:
    """Return a new master key, formatted as in settings; raise UsageError if `name` is invalid."""
    key = f"{name}:{b64encode(secrets.token_bytes(32)).decode()}"
    if not KEY.fullmatch(key):
        raise UsageError(
            f"the id of a key has 1 to 16 of A-Z, a-z, 0-9, _ and -, not {short(name)}"
        )
    return key


def new_secret_key() -> str:
    """Return a new secret key for signing."""
    return secrets.token_hex(32)


def stored_key(path: Path, new: Callable[[], str]) -> str:
    """Return the key in a file that only its owner may read; create it if it is missing.

    Concurrent callers return the same key. Raises Failure if the file cannot be read.
    """
    partial = path.with_name(f".{path.name}.{secrets.token_hex(8)}.partial")
    try:
        if not path.exists():
            # The mode is set at creation: between a write and a `chmod`, others could read the key.
            partial.touch(mode=0o600, exist_ok=False)
            partial.write_text(f"{new()}\n", encoding="ascii")
            link_unless_there(partial, path)
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"the key {path} cannot be read: {error}") from None
    finally:
        partial.unlink(missing_ok=True)


def link_unless_there(partial: Path, path: Path) -> None:
    """Publish a complete file under its name, unless another process was faster."""
    try:
        # A hard link fails if the name exists, so of two processes starting concurrently, one wins.
        path.hardlink_to(partial)
    except FileExistsError:
        return


FORMAT: Final = b"circuit-wars-sealed-1 "
"""The start of a sealed file, followed by the id of its master key and a line feed."""

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
        raise UsageError("the file is not a sealed backup: it has another first line")
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
