"""Where back-ups are stored, on the site and elsewhere, and how to open one to restore it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final

from cw.errors import UsageError, short
from cw_hub.operation.backup import backups
from cw_hub.store.objects import ObjectStore
from cw_hub.store.sealed_files import open_file
from cw_hub.store.sealing import Sealer

ADDRESS: Final = re.compile(rf"(?:(.*)/)?({backups.KEY.pattern})", re.S)
"""The address of a back-up: its store, and its key there."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A back-up in a store."""

    place: str
    """`s3://bucket/prefix`, or a folder."""
    key: str
    at: datetime
    bytes: int = 0

    @property
    def is_sealed(self) -> bool:
        """Whether it is sealed, so that only a holder of a master key can have made it."""
        return self.key.endswith(backups.SEALED)

    def __str__(self) -> str:
        """Return its address, as the restore command takes it."""
        return f"{self.place}/{self.key}"


def stored_in(place: str) -> list[Stored]:
    """Return the back-ups of a store, newest first; raise StoreAway if it cannot be reached."""
    sizes = store_at(place).sizes(backups.PREFIX)
    objects = ((backups.time_of(key), key, size) for key, size in sizes.items())
    stored = [Stored(place, key, at, size) for at, key, size in objects if at]
    return sorted(stored, key=lambda one: one.at, reverse=True)


def store_at(place: str) -> ObjectStore:
    """Open a store for reading; raise UsageError if the folder does not exist."""
    if not place.startswith("s3://") and not Path(place).is_dir():
        raise UsageError(f"{short(place)} cannot be read: there is no such folder")
    return ObjectStore(place)


def find(text: str, own: str) -> Stored | Path:
    """Resolve the name of a back-up: its address, a store (its newest), or a file.

    In any store but the site's `own`, the newest sealed one: anybody who can write there could add
    a forged back-up, but could not seal it. Raises UsageError if the store has none, and StoreAway
    if it cannot be reached.
    """
    address = ADDRESS.fullmatch(text)
    if address and (at := backups.time_of(address[2])):
        return Stored(address[1] or ".", address[2], at)
    if not text.startswith("s3://") and not Path(text).is_dir():
        return Path(text)
    stored = stored_in(text.rstrip("/"))
    trusted = stored if is_same(text, own) else [one for one in stored if one.is_sealed]
    if not trusted:
        unsealed = (
            f"; {stored[0]} is not sealed: give its address if you trust it" if stored else ""
        )
        raise UsageError(f"there is no back-up in {short(text)}{unsealed}")
    return trusted[0]


def is_same(place: str, other: str) -> bool:
    """Return whether two texts name the same store."""
    if place.startswith("s3://") or other.startswith("s3://"):
        return place.rstrip("/") == other.rstrip("/")
    return Path(place).resolve() == Path(other).resolve()


@contextmanager
def opened(source: Stored | Path, sealer: Callable[[], Sealer]) -> Iterator[IO[bytes]]:
    """Yield a back-up as a file, unsealed if necessary; `sealer` is called only then.

    Raises UsageError if the back-up is missing or damaged.
    """
    if isinstance(source, Stored):
        with TemporaryFile() as file:
            fetch(source, file, sealer)
            file.seek(0)
            yield file
        return
    try:
        with source.open("rb") as file:
            yield file
    except OSError as error:
        raise UsageError(f"{source} cannot be read: {error.strerror}") from None


def fetch(source: Stored, to: IO[bytes], sealer: Callable[[], Sealer]) -> None:
    """Write a back-up from a store into a file, unsealed."""
    if not source.is_sealed:
        copy_object(store_at(source.place), source.key, to)
        return
    with TemporaryFile() as sealed:
        copy_object(store_at(source.place), source.key, sealed)
        sealed.seek(0)
        open_file(sealer(), sealed, to)


def copy_object(store: ObjectStore, key: str, to: IO[bytes]) -> None:
    """Write an object into a file; raise UsageError if it does not exist."""
    streamed = store.streamed(key)
    if streamed is None:
        raise UsageError(f"there is no back-up {short(key)} in this store")
    for piece in streamed.pieces:
        to.write(piece)
