"""Pictures of the last turn of matches: each painted once, by a process, and remembered."""

from __future__ import annotations

import subprocess
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from threading import Lock, Thread
from typing import Final, TypeAlias

from cw.hub.store.objects import StoreAway
from cw.web.replays.thumbnails import PAINTER

CAPACITY: Final = 300
"""Pictures that are remembered, of some ten kilobytes each."""

LARGEST: Final = 512 * 1024
"""Most bytes of a picture."""

LONGEST: Final = 30.0
"""Seconds that a picture may take; one that takes longer is given up."""

PATIENCE: Final = 4.0
"""Seconds that a request waits for its picture, which is remembered for the next one."""

Painting: TypeAlias = Callable[[bytes], bytes]
"""Returns the picture of a replay as a PNG file, b"" if it cannot be painted in time."""


def painted(replay: bytes) -> bytes:
    """Return the picture of a replay with who played and who won; b"" if it took too long."""
    try:
        done = subprocess.run(
            [*PAINTER, "card"], input=replay, capture_output=True, timeout=LONGEST, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return b""
    return done.stdout if done.returncode == 0 and len(done.stdout) <= LARGEST else b""


class Cards:
    """Paints one picture at a time, and remembers the latest, also those that cannot be painted."""

    def __init__(self, paint: Painting = painted, patience: float = PATIENCE) -> None:
        """Have no picture yet; a request waits so many seconds for one."""
        self._paint = paint
        self._patience = patience
        self._pictures: OrderedDict[str, bytes] = OrderedDict()
        self._painting = Lock()

    def find(self, key: str, read: Callable[[], bytes | None]) -> bytes | None:
        """Return the picture of a replay by its key; `read` returns its bytes, packed.

        b"" if it cannot be painted; None if it is not painted yet, or another one is being painted.
        """
        if key not in self._pictures and self._painting.acquire(blocking=False):
            thread = Thread(target=self._paint_one, args=(key, read), name="card", daemon=True)
            thread.start()
            thread.join(self._patience)
        return self._pictures.get(key)

    def _paint_one(self, key: str, read: Callable[[], bytes | None]) -> None:
        try:
            # Whoever asks next finds out whether the store is there again.
            with suppress(StoreAway):
                self._keep(key, self._paint(read() or b""))
        finally:
            self._painting.release()

    def _keep(self, key: str, picture: bytes) -> None:
        self._pictures[key] = picture
        if len(self._pictures) > CAPACITY:
            self._pictures.popitem(last=False)
