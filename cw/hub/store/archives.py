"""Replays in the object store that are archive files, read in either of their formats.

An archive file is one object, of which a link leads to the arena's replay or to that in the
format of the game: its key followed by the name of a file. Both are made when they are read.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from typing import Final

from cw.errors import ProtocolError
from cw.hub.store.objects import ObjectStore, Streamed
from cw.replays.archive import LARGEST, arena_replay, own_replay

OWN_FORMAT: Final = ".json.gz"
ARENA_FORMAT: Final = ".cw.json.gz"
"""How the key of the arena's replay ends, where the game has a format of its own beside it."""

ARCHIVE: Final = ".archive.gz"
"""How the key of an archive file ends."""

LEVEL: Final = 6
"""How much gzip tries with a file that is made for one reader."""


def file_at(objects: ObjectStore, key: str) -> bytes | None:
    """Return the file that a link leads to, as gzip; None if it is gone.

    Raises StoreAway if the store cannot be reached, ProtocolError if the file cannot be made.
    """
    return read_from_archive(objects, key) if is_from_archive(key) else objects.get(key)


def is_from_archive(key: str) -> bool:
    """Return whether a link leads to a file that is made when it is read."""
    return f"{ARCHIVE}/" in key


def read_from_archive(objects: ObjectStore, key: str) -> bytes | None:
    """Return a file that is made of an archive file, as gzip; None if that is gone.

    Raises StoreAway if it cannot be reached, ProtocolError if the file cannot be made.
    """
    stored, _, name = key.rpartition("/")
    stream = objects.streamed(stored)
    if stream is None:
        return None
    data = b"".join(pieces_of(stream))
    file = arena_replay(data) if name.endswith(ARENA_FORMAT) else own_replay(data)
    return gzip.compress(file, LEVEL, mtime=0)


def pieces_of(stream: Streamed) -> Iterator[bytes]:
    """Return the pieces of an archive file; raise ProtocolError for more than one can have."""
    if stream.size > LARGEST:
        raise ProtocolError(f"the archive file is larger than {LARGEST} bytes")
    return stream.pieces
