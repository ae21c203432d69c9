"""Replays stored as archive files, read in either of their formats.

An archive file is one object. Links name the arena's replay or the one in the format of the game:
the key of the archive followed by a file name. Both are generated on reading.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from typing import Final

from cw.errors import ProtocolError
from cw.replays.archive import LARGEST, arena_replay, own_replay
from cw_hub.store.objects import ObjectStore, Streamed

OWN_FORMAT: Final = ".json.gz"
ARENA_FORMAT: Final = ".cw.json.gz"
"""Suffix of the key of the arena's replay if the game also has a format of its own."""

ARCHIVE: Final = ".archive.gz"
"""Suffix of the key of an archive file."""

LEVEL: Final = 6
"""The gzip level for a file made for one reader."""


def file_at(objects: ObjectStore, key: str) -> bytes | None:
    """Return the file behind a link, as gzip, or None if it is gone.

    Raises StoreAway if the store cannot be reached, ProtocolError if the file cannot be made.
    """
    return read_from_archive(objects, key) if is_from_archive(key) else objects.get(key)


def is_from_archive(key: str) -> bool:
    """Return whether a link names a file that is generated on reading."""
    return f"{ARCHIVE}/" in key


def read_from_archive(objects: ObjectStore, key: str) -> bytes | None:
    """Return a file generated from an archive file, as gzip, or None if the archive is gone.

    Raises StoreAway if the store cannot be reached, ProtocolError if the file cannot be made.
    """
    stored, _, name = key.rpartition("/")
    stream = objects.streamed(stored)
    if stream is None:
        return None
    data = b"".join(pieces_of(stream))
    file = arena_replay(data) if name.endswith(ARENA_FORMAT) else own_replay(data)
    return gzip.compress(file, LEVEL, mtime=0)


def pieces_of(stream: Streamed) -> Iterator[bytes]:
    """Return the pieces of an archive file; raise ProtocolError if it is too large."""
    if stream.size > LARGEST:
        raise ProtocolError(f"the archive file is larger than {LARGEST} bytes")
    return stream.pieces
