"""Where back-ups are stored, here and elsewhere, and how one is read to be restored."""

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
from cw.hub.operation.backup import backups
from cw.hub.store.objects import ObjectStore
from cw.hub.store.sealed_files import open_file
from cw.hub.store.sealing import Sealer

ADDRESS: Final = re.compile(rf"(?:(.*)/)?({backups.KEY.pattern})", re.S)
"""The address of a back-up: of its store, and its key there."""


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
        """Whether nobody could have made it without a master key."""
        return self.key.endswith(backups.SEALED)

    def __str__(self) -> str:
        """Return its address, by which it is restored."""
        return f"{self.place}/{self.key}"


def stored_in(place: str) -> list[Stored]:
    """Return the back-ups of a store, the newest first; raise StoreAway for one that is away."""
    sizes = store_at(place).sizes(backups.PREFIX)
    objects = ((backups.time_of(key), key, size) for key, size in sizes.items())
    stored = [Stored(place, key, at, size) for at, key, size in objects if at]
    return sorted(stored, key=lambda one: one.at, reverse=True)


def store_at(place: str) -> ObjectStore:
    """Open a store to read; raise UsageError for a folder that is not there."""
    if not place.startswith("s3://") and not Path(place).is_dir():
        raise UsageError(f"{short(place)} cannot be read: there is no such folder")
    return ObjectStore(place)


def find(text: str, own: str) -> Stored | Path:
    """Return what a back-up is that somebody names: its address, a store (its newest), or a file.

    Of any store but the site's `own`, the newest sealed one: whoever can write there could put a
    forged one beside them, but not seal it. Raises UsageError for a store that has none, and
    StoreAway for one that is away.
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
    """Return whether two texts name one store."""
    if place.startswith("s3://") or other.startswith("s3://"):
        return place.rstrip("/") == other.rstrip("/")
    return Path(place).resolve() == Path(other).resolve()


@contextmanager
def opened(source: Stored | Path, sealer: Callable[[], Sealer]) -> Iterator[IO[bytes]]:
    """Give a back-up as a file, opened if it is sealed; `sealer` is asked for only then.

    Raises UsageError for one that is not there or damaged.
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
    """Write a back-up of a store into a file, in clear."""
    if not source.is_sealed:
        copy_object(store_at(source.place), source.key, to)
        return
    with TemporaryFile() as sealed:
        copy_object(store_at(source.place), source.key, sealed)
        sealed.seek(0)
        open_file(sealer(), sealed, to)


def copy_object(store: ObjectStore, key: str, to: IO[bytes]) -> None:
    """Write an object into a file; raise UsageError if there is none."""
    streamed = store.streamed(key)
    if streamed is None:
        raise UsageError(f"there is no back-up {short(key)} in this store")
    for piece in streamed.pieces:
        to.write(piece)
