"""The small pictures of the list of replays."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Final

import msgspec

from cw.errors import CapacityError
from cw.games.rules import Json
from cw.pictures.exports import thumbnail
from cw.pictures.raster import png
from cw.replays.document import Document, parse, unpacked
from cw.web.export import drawn
from cw.web.replay_store import StoredFile
from cw.web.replay_summary import LARGEST_LISTED, decoded

MOST_KEPT: Final = 300
"""Pictures that are remembered; one has some kilobytes."""

LARGEST_PLAYED: Final = 3 * 1024 * 1024
"""Bytes of a replay, unpacked, up to which all its turns are followed."""

PATIENCE: Final = 5.0
"""Seconds that a picture waits for the others."""


Key = tuple[str, str, bool]
"""The name and the tag of a file, and whether the page is dark."""


class Beginning(msgspec.Struct, frozen=True):
    """What the picture of the start is made of."""

    game: str
    players: list[dict[str, Json]]
    frame: Json


class Thumbnails:
    """Paints replays, one at a time, and remembers the latest pictures.

    A picture shows the last turn; of a large replay, the start.
    """

    def __init__(self, patience: float = PATIENCE) -> None:
        """Have no picture yet."""
        self._patience = patience
        self._pictures: OrderedDict[Key, bytes] = OrderedDict()
        self._painting = Lock()

    def find(self, file: StoredFile, *, dark: bool) -> bytes:
        """Return the PNG file of a replay, for a light or a dark page.

        Raises CapacityError if others take too long, ProtocolError and UsageError for a replay that
        cannot be drawn.
        """
        if not self._painting.acquire(timeout=self._patience):
            raise CapacityError("other pictures are being painted: try again")
        try:
            return self._find(file, dark)
        finally:
            self._painting.release()

    def _find(self, file: StoredFile, dark: bool) -> bytes:
        key = file.name, file.tag, dark
        if key not in self._pictures:
            self._pictures[key] = painted(file.path.read_bytes(), dark)
        self._pictures.move_to_end(key)
        if len(self._pictures) > MOST_KEPT:
            self._pictures.popitem(last=False)
        return self._pictures[key]


def painted(data: bytes, dark: bool) -> bytes:
    """Return the picture of a replay's file."""
    plain = unpacked(data, LARGEST_LISTED)
    document = parse(plain) if len(plain) <= LARGEST_PLAYED else beginning(plain)
    return png(thumbnail(drawn(document), dark=dark))


def beginning(plain: bytes) -> Document:
    """Return a replay without its turns, which are not taken apart."""
    head = decoded(plain, Beginning)
    return msgspec.structs.asdict(head) | {"turns": [], "result": {}}
