"""Thumbnails for the list of replays."""

from __future__ import annotations

import subprocess
import sys
from collections import OrderedDict
from threading import Lock, Thread
from typing import Final, NamedTuple

import msgspec

from cw.errors import CapacityError
from cw.games.rules import Json
from cw.replays.document import Document, parse, unpacked
from cw.web.replays.last_picture import painted
from cw.web.replays.replay_store import StoredFile
from cw.web.replays.replay_summary import LARGEST_LISTED, decoded

CAPACITY: Final = 300
"""Most cached pictures, of a few kilobytes each."""

LARGEST_PLAYED: Final = 3 * 1024 * 1024
"""Most bytes of a replay, unpacked, that is decoded in full at once."""

MOST_DUE: Final = 48
"""Most large replays waiting for pictures: a page of the list, dark and light."""

LONGEST: Final = 60.0
"""Time limit for painting one of them, in seconds."""

PAINTER: Final = (sys.executable, "-m", "cw.web.replays.last_picture")

PATIENCE: Final = 5.0
"""Seconds that a request waits for other pictures."""


Key = tuple[str, str, bool]
"""The name and the tag of a file, and whether the page is dark."""


class Beginning(msgspec.Struct, frozen=True):
    """What the picture of the start is drawn from."""

    game: str
    players: list[dict[str, Json]]
    frame: Json


class Thumbnail(NamedTuple):
    """A small picture of a replay, as a PNG file."""

    data: bytes
    lasting: bool
    """Whether it is final, not that of the start while the end is still being painted."""


class Thumbnails:
    """Paints the last turn of replays, one at a time, and caches the latest pictures.

    A background process handles large replays; until it is done, their start is shown.
    """

    def __init__(self, patience: float = PATIENCE) -> None:
        """Begin with an empty cache."""
        self._patience = patience
        self._pictures: OrderedDict[Key, Thumbnail] = OrderedDict()
        self._painting = Lock()
        self._due: OrderedDict[Key, StoredFile] = OrderedDict()
        """Large replays whose end is to be painted; the first is being painted."""

    def find(self, file: StoredFile, *, dark: bool) -> Thumbnail:
        """Return the picture of a replay, for a light or a dark page.

        Raises CapacityError if other pictures take too long, and ProtocolError or UsageError if the
        replay cannot be drawn.
        """
        if not self._painting.acquire(timeout=self._patience):
            raise CapacityError("the server is drawing other pictures: try again")
        try:
            return self._find(file, dark)
        finally:
            self._painting.release()

    def _find(self, file: StoredFile, dark: bool) -> Thumbnail:
        key = file.name, file.tag, dark
        thumbnail = self._pictures.get(key)
        if thumbnail is None:
            plain = unpacked(file.path.read_bytes(), LARGEST_LISTED)
            small = len(plain) <= LARGEST_PLAYED
            thumbnail = Thumbnail(painted(parse(plain) if small else beginning(plain), dark), small)
            self._keep(key, thumbnail)
        if not thumbnail.lasting:
            self._ask(key, file)
        self._pictures.move_to_end(key)
        return thumbnail

    def _keep(self, key: Key, picture: Thumbnail) -> None:
        self._pictures[key] = picture
        if len(self._pictures) > CAPACITY:
            self._pictures.popitem(last=False)

    def _ask(self, key: Key, file: StoredFile) -> None:
        """Queue the end of a large replay for painting; if the queue is full, a later call does."""
        if key not in self._due and len(self._due) < MOST_DUE:
            self._due[key] = file
            if len(self._due) == 1:
                args = key, file
                Thread(target=self._paint_due, args=args, name="thumbnails", daemon=True).start()

    def _paint_due(self, key: Key, file: StoredFile) -> None:
        """Paint the end of a large replay, then of those queued meanwhile."""
        due: tuple[Key, StoredFile] | None = key, file
        while due is not None:
            key, file = due
            picture = last_picture(file, dark=key[2])
            with self._painting:
                self._settle(key, picture)
                del self._due[key]
                due = next(iter(self._due.items()), None)

    def _settle(self, key: Key, picture: bytes) -> None:
        """Store the picture of a large replay; if painting failed, keep that of its start."""
        if picture:
            self._keep(key, Thumbnail(picture, lasting=True))
        elif key in self._pictures:
            self._pictures[key] = self._pictures[key]._replace(lasting=True)


def last_picture(file: StoredFile, *, dark: bool) -> bytes:
    """Return the picture of a large replay's last turn, b"" if it cannot be painted."""
    try:
        done = subprocess.run(
            [*PAINTER, "dark" if dark else "light"],
            input=file.path.read_bytes(),
            capture_output=True,
            timeout=LONGEST,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return b""
    return done.stdout if done.returncode == 0 else b""


def beginning(plain: bytes) -> Document:
    """Return a replay without its turns, which are not parsed."""
    head = decoded(plain, Beginning)
    return msgspec.structs.asdict(head) | {"turns": [], "result": {}}
