"""Replays that viewers leave on the server: checked, named by us, and put into its folder."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Final

import msgspec

from cw.errors import CapacityError, Failure, ProtocolError
from cw.files import write_whole
from cw.games.registry import game_entries
from cw.replays.document import Document, digest, encode, parse, unpacked
from cw.web.replay_store import MOST_FILES
from cw.web.replay_summary import summary_of

LARGEST_UNPACKED: Final = 16 * 1024 * 1024
"""Bytes of a replay that is taken in, unpacked; most have a tenth of it."""

MOST_PARTS: Final = 1_500_000
"""Signs in it that begin a value: a million empty lists are few bytes, and take long to read."""

MOST_BYTES: Final = 1024 * 1024 * 1024
"""Bytes of all files of the folder up to which more are taken in."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A replay that is in the folder."""

    name: str
    is_new: bool
    """Whether it was not there before."""


class Uploads:
    """Takes replays in, one at a time: to read a large one takes memory and time."""

    def __init__(self, folder: Path) -> None:
        """Take the folder of the shelf."""
        self._folder = folder
        self._lock = Lock()

    def save(self, data: bytes) -> Saved:
        """Put the replay of a file, packed or not, into the folder.

        Raises ProtocolError for what is no replay, CapacityError if there is no room for it or
        another one is just being taken in, as a thread that waited here could serve no game, and
        Failure if the folder cannot be written.
        """
        if not self._lock.acquire(blocking=False):
            raise CapacityError("another replay is just being taken in: try again")
        try:
            return self._put(checked(data))
        except (OSError, Failure) as error:
            # Where the folder is, is nothing for those who upload.
            why = getattr(error.__cause__ or error, "strerror", None)
            raise Failure(f"the server cannot write into its folder: {why}") from None
        finally:
            self._lock.release()

    def _put(self, document: Document) -> Saved:
        name = name_of(document)
        file = self._folder / f"{name}.json.gz"
        if file.exists():
            return Saved(name, is_new=False)
        packed = encode(document, packed=True)
        self._make_sure_of_room_for(len(packed))
        write_whole(file, packed)
        return Saved(name, is_new=True)

    def _make_sure_of_room_for(self, size: int) -> None:
        sizes = [file.lstat().st_size for file in self._folder.iterdir()]
        if len(sizes) >= MOST_FILES or sum(sizes) + size > MOST_BYTES:
            raise CapacityError(
                "the folder of this server is full: its owner has to clear it first"
            )


def checked(data: bytes) -> Document:
    """Read a replay that can be listed and drawn, and whose hash fits it.

    Raises ProtocolError for anything else. The rules are not played again: that may take long.
    """
    plain = unpacked(data, LARGEST_UNPACKED)
    if sum(map(plain.count, (b"[", b"{", b","))) > MOST_PARTS:
        raise ProtocolError("the replay has too many values to be taken in here")
    document = parse(plain)
    if document["game"] not in game_entries():
        raise ProtocolError(f"this server has no game {document['game'][:64]!r}")
    try:
        summary_of(encode(document, packed=False))
        fits = digest(document) == document["hash"]
        date.fromisoformat(document["date"][:10])
    # What can be read can be too deep, or a number too long, to be written.
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError) as error:
        raise ProtocolError(f"the replay cannot be listed: {error}") from None
    if not fits:
        raise ProtocolError("the hash of the replay does not fit what was played")
    return document


def name_of(document: Document) -> str:
    """Name a replay: another one has another name."""
    day = date.fromisoformat(document["date"][:10]).isoformat()
    return f"{document['game']}-{day}-{sha256(encode(document, packed=False)).hexdigest()[:16]}"
