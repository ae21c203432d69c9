"""The folder in which a server saves replays: it names them, and limits their number."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Final

from cw.errors import CapacityError, Failure
from cw.files import write_whole
from cw.replays.document import Document, encode

MOST_FILES: Final = 5000
"""Most files in the folder; further replays are refused."""

MOST_BYTES: Final = 1024 * 1024 * 1024
"""Most bytes in the folder; further replays are refused."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Saved:
    """A replay in the folder."""

    name: str
    is_new: bool
    """Whether it was not there before."""


class ReplayFolder:
    """A folder that stores replays."""

    def __init__(self, folder: Path) -> None:
        """Save replays into a folder."""
        self._folder = folder
        self._lock = Lock()

    def put(self, document: Document) -> Saved:
        """Put a replay into the folder; a duplicate is stored once.

        Raises CapacityError if there is no room, and Failure if the folder cannot be written.
        """
        name, packed = name_of(document), encode(document, packed=True)
        try:
            with self._lock:
                return Saved(name, is_new=self._write(self._folder / f"{name}.json.gz", packed))
        except (OSError, Failure) as error:
            # Visitors must not learn where the folder is.
            why = getattr(error.__cause__ or error, "strerror", None)
            raise Failure(f"the server cannot write into its folder: {why}") from None

    def keep(self, document: Document) -> str:
        """Put the replay of a finished match into the folder, and return its name.

        A full or unwritable folder does not disturb a match: it returns "" and logs the reason.
        """
        try:
            return self.put(document).name
        except (CapacityError, Failure) as error:
            logger.warning("a match of %s was not saved: %s", document["game"], error)
            return ""

    def _write(self, file: Path, packed: bytes) -> bool:
        """Write a file unless it exists; return whether it was written."""
        if file.exists():
            return False
        self._make_sure_of_room_for(len(packed))
        write_whole(file, packed)
        return True

    def _make_sure_of_room_for(self, size: int) -> None:
        with os.scandir(self._folder) as files:
            sizes = [file.stat(follow_symlinks=False).st_size for file in files]
        if len(sizes) >= MOST_FILES or sum(sizes) + size > MOST_BYTES:
            raise CapacityError(
                "this server's replay folder is full: its owner must free space first"
            )


def name_of(document: Document) -> str:
    """Return the unique name of a replay."""
    day = date.fromisoformat(document["date"][:10]).isoformat()
    return f"{document['game']}-{day}-{sha256(encode(document, packed=False)).hexdigest()[:16]}"
