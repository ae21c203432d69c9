"""Animations of replays, made one at a time while somebody waits for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from threading import Event, Lock, Thread
from typing import Final

import msgspec
from PIL.Image import Image

from cw.errors import Abandoned, ArenaError, CapacityError, Failure
from cw.pictures.exports import animation
from cw.replays.document import decode
from cw.server.session import Clock
from cw.web.replays.export import drawn
from cw.web.replays.replay_store import StoredFile

SPEED: Final = 8
"""Turns per second of an animation."""

PATIENCE: Final = 5.0
"""Seconds without a request after which an animation is abandoned."""

AGAIN: Final = 1.0
"""Seconds after which a waiting thread asks again."""

Key = tuple[str, str]
"""The name and the tag of a file."""


class AnimationProgress(msgspec.Struct, frozen=True):
    """The progress of an animation."""

    painted: int
    """Frames painted so far."""
    frames: int
    """All frames; 0 while unknown."""
    ready: bool


class Animations:
    """Makes animations with a few processes, and caches the last one."""

    def __init__(self, clock: Clock) -> None:
        """Begin without an animation."""
        self._clock = clock
        self._lock = Lock()
        self._making: Making | None = None

    def ask(self, file: StoredFile) -> AnimationProgress:
        """Start the animation of a replay, or return its progress.

        It is abandoned if nobody asks again. Raises CapacityError while another one is being made,
        and once the error of this one.
        """
        return self._ask(file).progress()

    def find(self, file: StoredFile) -> bytes:
        """Wait for the GIF file of a replay, and return it; raise as `ask` does."""
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
    """An animation being made by a thread."""

    def __init__(self, key: Key, file: StoredFile, clock: Clock) -> None:
        """Start the thread."""
        self.key = key
        self.asked = clock()
        """When it was last asked for."""
        self.done = Event()
        self.data = b""
        """The GIF file, b"" until it is made."""
        self.error: ArenaError | None = None
        self._file = file
        self._clock = clock
        self._painted = self._frames = 0
        Thread(target=self._make, name="animation", daemon=True).start()

    def progress(self) -> AnimationProgress:
        """Return its progress."""
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
        """Pass images on while somebody waits for them."""
        self._frames = count
        for image in images:
            if self._clock() - self.asked > PATIENCE:
                raise Abandoned("nobody waited for the animation")
            yield image
            self._painted += 1
