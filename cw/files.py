"""Atomic file writes, and reads of untrusted folders that never follow a link."""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePath
from secrets import token_hex
from typing import Final

from cw.errors import Failure

PAUSES: Final = (0.01, 0.05, 0.2, 0.7) if sys.platform == "win32" else ()
"""Seconds to wait between attempts to replace or remove a file."""

BY_DESCRIPTOR: Final = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
"""Whether files can be opened relative to an open folder; not supported on Windows."""

NO_FOLLOW: Final[int] = getattr(os, "O_NOFOLLOW", 0)
FOLDER: Final[int] = os.O_RDONLY | NO_FOLLOW | getattr(os, "O_DIRECTORY", 0)
# Non-blocking, as opening a pipe in place of a file would hang otherwise.
FILE: Final[int] = (
    os.O_RDONLY | NO_FOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file atomically: no reader sees part of it, not even after a power failure.

    Any number of writers may write it at the same time; the last one wins. If it cannot be written,
    raises Failure and leaves the file unchanged.
    """
    partial = path.with_name(f".{path.name[:100]}.{token_hex(8)}.partial")
    try:
        with partial.open("xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        insist(lambda: partial.replace(path))
    except OSError as error:
        raise Failure(f"{path} cannot be written, and is unchanged: {error.strerror}") from error
    finally:
        partial.unlink(missing_ok=True)


def insist(change: Callable[[], object]) -> None:
    """Replace or remove a file, on Windows with retries for a second; raise OSError if refused.

    Windows refuses while another program reads the file or scans it for viruses.
    """
    for pause in PAUSES:
        try:
            change()
        except PermissionError:
            time.sleep(pause)
        else:
            return
    change()


def make_folder(path: Path) -> None:
    """Create a folder and its parents if missing; raise Failure if that is impossible."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"the folder {path} cannot be created: {error.strerror}") from None


def leads_out(name: str) -> bool:
    """Return whether a name is not a relative path, or leaves the folder it is relative to.

    >>> [leads_out(name) for name in ("src/bot.py", "/etc/passwd", "src/../../bot.py")]
    [False, True, True]
    """
    path = PurePath(name)
    return bool(path.anchor) or ".." in path.parts or "\0" in name


def is_link(place: Path) -> bool:
    """Return whether a file or folder is a symbolic link, or a junction (only on Windows)."""
    # Links in the parent folders do not count.
    real, above = os.path.realpath(place), os.path.realpath(place.parent)
    return place.is_symlink() or os.path.normcase(real) != os.path.normcase(Path(above, place.name))


class OpenFolder:
    """An open folder whose files are resolved from its descriptor, never through a link.

    So even a concurrent change of the folder cannot replace a file that was checked by a file from
    elsewhere. Without folder descriptors, the real path of what is opened is compared instead. All
    methods raise OSError for a name that leaves the folder or passes through a link.
    """

    def __init__(self, path: Path, descriptor: int | None) -> None:
        """Wrap a folder opened by `open_folder`."""
        self.path = path
        self._descriptor = descriptor

    def scan(self, name: str = "") -> list[tuple[str, os.stat_result]]:
        """Return the names in a subfolder ("" for the folder itself), each with its stat result."""
        with self._folder(parts_of(name)) as place, os.scandir(place) as scanned:
            return [(item.name, item.stat(follow_symlinks=False)) for item in scanned]

    def status(self, name: str) -> os.stat_result:
        """Return the stat result of a file, a folder, or the link itself."""
        with self._parent(name) as (folder, last):
            return os.stat(last, dir_fd=folder, follow_symlinks=False)

    def has_file(self, name: str) -> bool:
        """Return whether a regular file has this name."""
        try:
            return stat.S_ISREG(self.status(name).st_mode)
        except (OSError, ValueError):
            return False

    def link(self, name: str) -> str:
        """Return the target of a link."""
        with self._parent(name) as (folder, last):
            return os.readlink(last, dir_fd=folder)

    def open(self, name: str) -> io.BufferedReader:
        """Open a regular file."""
        with self._parent(name) as (folder, last), ExitStack() as closed_unless_plain:
            file = os.fdopen(os.open(last, FILE, dir_fd=folder), "rb")
            closed_unless_plain.callback(file.close)
            opened = os.fstat(file.fileno())
            is_named = folder is not None or os.path.samestat(opened, Path(last).lstat())
            if not stat.S_ISREG(opened.st_mode) or not is_named:
                raise OSError(errno.EINVAL, "this is not a plain file", name)
            closed_unless_plain.pop_all()
            return file

    @contextmanager
    def _parent(self, name: str) -> Iterator[tuple[int | None, str]]:
        """Yield the arguments for `os.open`: the parent folder's descriptor, and the file name."""
        *folders, last = parts_of(name) or [os.curdir]
        with self._folder(folders) as place:
            if isinstance(place, int):
                yield place, last
            else:
                yield None, str(place / last)

    @contextmanager
    def _folder(self, folders: list[str]) -> Iterator[int | Path]:
        if self._descriptor is None:
            place = self.path.joinpath(*folders)
            if os.path.normcase(place.resolve()) != os.path.normcase(place):
                raise OSError(errno.ELOOP, "it is behind a link", str(place))
            yield place
            return
        with ExitStack() as stack:
            here = self._descriptor
            for folder in folders:
                here = os.open(folder, FOLDER, dir_fd=here)
                stack.callback(os.close, here)
            yield here


@contextmanager
def open_folder(path: Path) -> Iterator[OpenFolder]:
    """Keep a folder open until the end of the block; raise OSError if that is impossible."""
    place = path.resolve(strict=True)
    if not BY_DESCRIPTOR:
        yield OpenFolder(place, None)
        return
    descriptor = os.open(place, FOLDER)
    try:
        yield OpenFolder(place, descriptor)
    finally:
        os.close(descriptor)


def parts_of(name: str) -> list[str]:
    """Return the parts of a name within a folder; raise OSError if it leaves the folder."""
    if leads_out(name):
        raise OSError(errno.EACCES, "this path leads out of the folder", name)
    return list(PurePath(name).parts)
