"""The files of a bot in a folder: reads and writes them one by one, and nothing outside it.

The files on disk are the draft. Saving names the content that was changed, so that another editor's
changes are never silently overwritten.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Final

from cw.errors import Failure, UsageError, short
from cw.files import write_whole
from cw.kits import BUILT

NAME: Final = re.compile(
    r"""(?!\.)                                                   # hidden files are no bot's
        (?!(?:con|prn|aux|nul|(?:com|lpt)[\d¹²³])[ ]*(?:\.|\Z))  # devices of Windows
        [^/\\:*?"<>|\x00-\x1f\x7f]{1,100}
        (?<![. ])""",
    re.IGNORECASE | re.VERBOSE,
)
"""A file name that means the same on every system: `C:x` and `nul.py` refer to something else."""

LARGEST_FILE: Final = 512 * 1024
"""Maximum bytes of an edited file."""

MOST_FILES: Final = 100
NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
BINARY: Final = getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file as it is on disk."""

    name: str
    text: str
    digest: str
    """The SHA-256 of its bytes, in hexadecimal digits."""
    returns: bool = False
    """Whether its lines end in CR LF; the text uses LF alone."""


class ChangedMeanwhile(UsageError):
    """Another program has written a file since it was read."""

    def __init__(
        self, now: TextFile | None, why: str = "another program has changed this file"
    ) -> None:
        """Store the file as it is now, or None if it is gone."""
        super().__init__(why)
        self.now = now


class BotFolder:
    """The folder of a bot."""

    def __init__(self, place: Path) -> None:
        """Open an existing folder."""
        self.place = place.resolve()
        self._lock = Lock()

    def files(self) -> list[TextFile]:
        """Return the editable files, by name, without links, folders and binaries."""
        read = (self._read_if_text(name) for name in self.names())
        return [file for file in read if file is not None]

    def names(self) -> list[str]:
        """Return the names of files that are neither links nor built, at most MOST_FILES."""
        return sorted(self._names())[:MOST_FILES]

    def _names(self) -> Iterator[str]:
        try:
            with os.scandir(self.place) as entries:
                for entry in entries:
                    is_ours = NAME.fullmatch(entry.name) and entry.name not in BUILT
                    if is_ours and entry.is_file(follow_symlinks=False):
                        yield entry.name
        except OSError as error:
            raise Failure(f"{self.place} cannot be read: {error.strerror}") from None

    def _read_if_text(self, name: str) -> TextFile | None:
        try:
            return self.read(name)
        except UsageError:
            return None

    def read(self, name: str) -> TextFile:
        """Return a file; raise UsageError if it is missing or cannot be edited."""
        data = self._bytes(name)
        try:
            text = data.decode()
        except UnicodeDecodeError:
            raise UsageError(f"{name} is not UTF-8 text: edit it elsewhere") from None
        returns = "\r\n" in text
        text = text.replace("\r\n", "\n") if returns else text
        return TextFile(name, text, sha256(data).hexdigest(), returns)

    def _bytes(self, name: str) -> bytes:
        try:
            handle = os.open(self.path(name), os.O_RDONLY | NO_LINK | BINARY)
        except OSError as error:
            raise UsageError(f"{name} cannot be read: {error.strerror}") from None
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise UsageError(f"{name} is not a plain file")
        with os.fdopen(handle, "rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            raise UsageError(f"{name} has more than {LARGEST_FILE} bytes: edit it elsewhere")
        return data

    def save(self, name: str, text: str, base: str) -> TextFile:
        """Write a file whose content had the digest `base`, "" for a new one; return its new state.

        Raises ChangedMeanwhile if its content differs, UsageError if it is not a file of the folder
        or is too large, and Failure if it cannot be written.
        """
        with self._lock:
            now = self._now(name)
            if (now.digest if now else "") != base:
                raise ChangedMeanwhile(now)
            data = self._encoded(text, now)
            self._write(name, data)
        return TextFile(name, text, sha256(data).hexdigest(), bool(now and now.returns))

    def _encoded(self, text: str, now: TextFile | None) -> bytes:
        try:
            data = (text.replace("\n", "\r\n") if now and now.returns else text).encode()
        except UnicodeEncodeError:
            raise UsageError("this is not UTF-8 text") from None
        if len(data) > LARGEST_FILE:
            raise UsageError(f"a file may have at most {LARGEST_FILE} bytes")
        return data

    def _now(self, name: str) -> TextFile | None:
        """Return a file, or None if missing; raise UsageError for anything else with its name."""
        return self.read(name) if os.path.lexists(self.path(name)) else None

    def _write(self, name: str, data: bytes) -> None:
        path = self.path(name)
        mode = stat.S_IMODE(path.lstat().st_mode) if path.exists() else None
        write_whole(path, data)
        if mode is not None:
            # A new file has replaced the old one: keep a script executable.
            path.chmod(mode)

    def path(self, name: str) -> Path:
        """Return the path of a file in the folder; raise UsageError if the name is invalid."""
        if not NAME.fullmatch(name):
            raise UsageError(f"{short(name)} is not a valid file name")
        return self.place / name
