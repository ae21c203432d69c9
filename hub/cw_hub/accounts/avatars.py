"""Avatars and competition images, of which only a small re-encoded copy is stored."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from threading import Lock
from typing import Final

from sqlalchemy import select, union

from cw.errors import CapacityError, UsageError
from cw_hub.accounts.picture_reader import MOST_BYTES, Shape
from cw_hub.store.database import Session
from cw_hub.store.models import Competition, User

READER: Final = (sys.executable, "-m", "cw_hub.accounts.picture_reader")

LONGEST: Final = 20.0
"""Timeout of the process that reads one image, in seconds."""

MOST_AT_ONCE: Final = 3
"""Maximum number of owners with a pending image: one is being read, the others wait."""

BUSY: Final = "Other pictures are being read right now. Please try again soon."
BUSY_WITH_YOURS: Final = "Your last picture is still being read. Please try again soon."


class Pictures:
    """Reads images, one at a time; shared by all threads of a process."""

    def __init__(self) -> None:
        """Start with no pending images."""
        self._reading = Lock()
        self._places = Lock()
        self._owners: set[str] = set()

    def read(self, owner: str, data: bytes, shape: Shape = "square") -> bytes:
        """Convert an uploaded image to a WebP of a shape, without metadata.

        Raises UsageError if it is not an image, or has more than 5 MiB or 4 megapixels. Raises
        CapacityError if an image of this owner, or too many of others, are being read.
        """
        with self._place(owner), self._reading:
            return read_apart(data, shape)

    @contextmanager
    def _place(self, owner: str) -> Iterator[None]:
        with self._places:
            if owner in self._owners:
                raise CapacityError(BUSY_WITH_YOURS)
            if len(self._owners) >= MOST_AT_ONCE:
                raise CapacityError(BUSY)
            self._owners.add(owner)
        try:
            yield
        finally:
            with self._places:
                self._owners.remove(owner)


def read_apart(data: bytes, shape: Shape) -> bytes:
    """Convert an image in a separate process; raise UsageError if it is invalid."""
    if len(data) > MOST_BYTES:
        raise UsageError(f"a picture may have at most {MOST_BYTES} bytes")
    try:
        done = subprocess.run(
            (*READER, shape),
            input=data,
            capture_output=True,
            timeout=LONGEST,
            check=False,
            env=without_settings(),
        )
    except subprocess.TimeoutExpired:
        raise UsageError(f"this picture could not be read within {LONGEST:g} s") from None
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace")[-200:].strip()
        raise UsageError(f"this picture cannot be read: {words}")
    return done.stdout


def without_settings() -> dict[str, str]:
    """Return the environment without the settings of the hub and its store: keys and passwords."""
    return {
        name: value for name, value in os.environ.items() if not name.startswith(("CW_", "AWS_"))
    }


def digest_of(picture: bytes) -> str:
    """Return the name of an image: its SHA-256."""
    return sha256(picture).hexdigest()


def key_of(digest: str) -> str:
    """Return the key under which an image is stored."""
    return f"avatars/{digest}.webp"


def unused_pictures(session: Session, keys: Iterable[str]) -> list[str]:
    """Return the images among these keys that are no longer used."""
    columns = (User.avatar, Competition.picture)
    digests = union(*(select(column).where(column.is_not(None)) for column in columns))
    used = {key_of(digest) for digest in session.scalars(digests) if digest is not None}
    return [key for key in keys if key not in used]
