"""Images of replays, rendered in the background: thumbnails for lists, and animated GIFs."""

from __future__ import annotations

import subprocess
import sys
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from threading import Event, Lock, Thread
from typing import Final, NamedTuple

import msgspec
from PIL.Image import Image

from cw.errors import Abandoned, ArenaError, CapacityError, Failure
from cw.games.rules import Json
from cw.pictures.exports import animation
from cw.replays.document import Document, decode, parse, unpacked
from cw.server.session import Clock
from cw.web.last_picture import painted
from cw.web.replay_export import drawn
from cw.web.replay_store import LARGEST_LISTED, StoredFile, decoded

SPEED: Final = 8
"""Turns per second of an animation."""

PATIENCE: Final = 5.0
"""Seconds without a request after which an animation is abandoned."""

AGAIN: Final = 1.0
"""Seconds after which a waiting thread renews its request."""

Key = tuple[str, str]
"""The name and the tag of a file."""


class AnimationProgress(msgspec.Struct, frozen=True):
    """The progress of an animation."""

    painted: int
    """Number of frames painted so far."""
    frames: int
    """Total number of frames; 0 while unknown."""
    ready: bool


class Animations:
    """Makes one animation at a time, and caches the last one."""

    def __init__(self, clock: Clock) -> None:
        """Start without an animation."""
        self._clock = clock
        self._lock = Lock()
        self._making: Making | None = None

    def ask(self, file: StoredFile) -> AnimationProgress:
        """Start the animation of a replay, or return its progress.

        It is abandoned if no one asks for it again. Raises CapacityError while another one is being
        made, and raises this animation's own error once.
        """
        return self._ask(file).progress()

    def find(self, file: StoredFile) -> bytes:
        """Wait for a replay's GIF file, and return it; raise errors as `ask` does."""
        making = self._ask(file)
        while not making.done.wait(AGAIN):
            making = self._ask(file)
        return making.data or self._ask(file).data

    def _ask(self, file: StoredFile) -> Making:
        key = file.name, file.tag
        with self._lock:
            making = self._making
            if making is None or (making.key != key and making.done.is_set()):
                making = self._making = Making(key, file, self._clock)
            if making.key != key:
                raise CapacityError("another animation is being made: try again in a few seconds")
            making.asked = self._clock()
            if making.error is not None:
                self._making = None
                raise making.error
        return making


class Making:
    """An animation being made in a thread; later its GIF file, or the error that stopped it."""

    def __init__(self, key: Key, file: StoredFile, clock: Clock) -> None:
        """Start the thread."""
        self.key = key
        self.asked = clock()
        """The time of the latest request for it."""
        self.done = Event()
        self.data = b""
        """The GIF file; b"" until it is finished."""
        self.error: ArenaError | None = None
        self._file = file
        self._clock = clock
        self._painted = self._frames = 0
        Thread(target=self._make, name="animation", daemon=True).start()

    def progress(self) -> AnimationProgress:
        """Return the progress so far."""
        return AnimationProgress(self._painted, self._frames, bool(self.data))

    def _make(self) -> None:
        try:
            replay = drawn(decode(self._file.path.read_bytes()))
            self.data = animation(replay, (0, -1), SPEED, self._watched).data
        except ArenaError as error:
            self.error = error
        except OSError as error:
            self.error = Failure(f"the replay cannot be read: {error.strerror}")
        finally:
            self.done.set()

    def _watched(self, images: Iterable[Image], count: int) -> Iterator[Image]:
        """Pass images on as long as a client is waiting for them."""
        self._frames = count
        for image in images:
            if self._clock() - self.asked > PATIENCE:
                raise Abandoned("nobody waited for the animation")
            yield image
            self._painted += 1


CAPACITY: Final = 300
"""Maximum number of cached images, of a few kilobytes each."""

LARGEST_PLAYED: Final = 3 * 1024 * 1024
"""Maximum unpacked size, in bytes, of a replay that is decoded in full during a request."""

MOST_DUE: Final = 48
"""Maximum number of large replays waiting for images: a page of the list, dark and light."""

LONGEST: Final = 60.0
"""Time limit for painting one of these images, in seconds."""

PAINTER: Final = (sys.executable, "-m", "cw.web.last_picture")


ThumbnailKey = tuple[str, str, bool]
"""The name and the tag of a file, and whether the page is dark."""


class Beginning(msgspec.Struct, frozen=True):
    """The parts of a replay needed to draw its start."""

    game: str
    players: list[dict[str, Json]]
    frame: Json


class Thumbnail(NamedTuple):
    """A small image of a replay, as a PNG file."""

    data: bytes
    lasting: bool
    """Whether it is final, not an image of the start while that of the end is being painted."""


class Thumbnails:
    """Paints the last turn of replays, one at a time, and caches the latest images.

    Large replays are painted by a background process; until it is done, their start is shown.
    """

    def __init__(self, patience: float = PATIENCE) -> None:
        """Start with an empty cache."""
        self._patience = patience
        self._pictures: OrderedDict[ThumbnailKey, Thumbnail] = OrderedDict()
        self._painting = Lock()
        self._due: OrderedDict[ThumbnailKey, StoredFile] = OrderedDict()
        """Large replays whose last turn is to be painted; the first one is being painted."""

    def find(self, file: StoredFile, *, dark: bool) -> Thumbnail:
        """Return the thumbnail of a replay, for a light or a dark page.

        Raises CapacityError if other images take too long, and ProtocolError or UsageError if the
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

    def _keep(self, key: ThumbnailKey, picture: Thumbnail) -> None:
        self._pictures[key] = picture
        if len(self._pictures) > CAPACITY:
            self._pictures.popitem(last=False)

    def _ask(self, key: ThumbnailKey, file: StoredFile) -> None:
        """Queue the last turn of a large replay for painting; if the queue is full, do nothing.

        A later call for the same replay tries again.
        """
        if key not in self._due and len(self._due) < MOST_DUE:
            self._due[key] = file
            if len(self._due) == 1:
                args = key, file
                Thread(target=self._paint_due, args=args, name="thumbnails", daemon=True).start()

    def _paint_due(self, key: ThumbnailKey, file: StoredFile) -> None:
        """Paint the last turn of a large replay, then of those queued in the meantime."""
        due: tuple[ThumbnailKey, StoredFile] | None = key, file
        while due is not None:
            key, file = due
            picture = last_picture(file, dark=key[2])
            with self._painting:
                self._settle(key, picture)
                del self._due[key]
                due = next(iter(self._due.items()), None)

    def _settle(self, key: ThumbnailKey, picture: bytes) -> None:
        """Store the image of a large replay; if painting failed, keep the image of its start."""
        if picture:
            self._keep(key, Thumbnail(picture, lasting=True))
        elif key in self._pictures:
            self._pictures[key] = self._pictures[key]._replace(lasting=True)


def last_picture(file: StoredFile, *, dark: bool) -> bytes:
    """Return the image of a large replay's last turn, b"" if it cannot be painted."""
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
    """Return a replay without its turns, which are not decoded."""
    head = decoded(plain, Beginning)
    return msgspec.structs.asdict(head) | {"turns": [], "result": {}}
