"""Copying the part of a bot's folder that the bot gets: all but hidden files, within bounds."""

from __future__ import annotations

import logging
import os
import shutil
import stat
import tarfile
import time
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Final

from cw.arena.sandbox.set_limits import MIB
from cw.errors import UnfitProgram
from cw.files import OpenFolder, open_folder

MOST_FILES: Final = 20_000
MOST_BYTES: Final = 256 * MIB
MOST_NESTED: Final = 64
"""Maximum depth of folders; deeper paths soon become longer than systems accept."""

ENVIRONMENT: Final = "pyvenv.cfg"
"""The file that marks a virtual environment, which is used at its original path."""

JUNCTION: Final = 0xA0000003
"""How Windows marks a junction, a folder that redirects to another.

Unlike links, junctions can be created by any user.
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, folder or link in a bot's folder."""

    name: str
    """Its path within the folder, with slashes."""
    mode: int
    """Its type and permissions, as in `stat`."""
    size: int
    """Bytes of a file."""

    @property
    def permissions(self) -> int:
        """Its permissions; the owner may always read and change it."""
        return stat.S_IMODE(self.mode) & 0o777 | (0o700 if stat.S_ISDIR(self.mode) else 0o600)


@dataclass(frozen=True, slots=True)
class Contents:
    """The files of an open folder that a bot gets; folders come before their contents."""

    folder: OpenFolder
    entries: tuple[Entry, ...]

    def pack(self, archive: Path) -> None:
        """Write everything to a tar file; raise UnfitProgram if a file cannot be read."""
        with tarfile.open(archive, "w", format=tarfile.GNU_FORMAT) as packed:
            self._each(partial(self._pack_one, packed))
        archive.chmod(0o644)

    def copy(self, target: Path) -> None:
        """Write everything to a folder; raise UnfitProgram if a file cannot be read."""
        self._each(partial(self._copy_one, target))

    def read(self, entry: Entry, most: int) -> bytes:
        """Return a file's bytes; raise UnfitProgram for anything else, and above `most` bytes."""
        if stat.S_ISLNK(entry.mode):
            raise UnfitProgram(f"{entry.name} is a link: replace it with the file")
        try:
            with self.folder.open(entry.name) as source:
                data = source.read(most + 1)
        except OSError as error:
            raise UnfitProgram(f"{entry.name} cannot be read: {error.strerror}") from None
        if len(data) > most:
            raise UnfitProgram(f"{entry.name} is too large")
        return data

    def _each(self, work: Callable[[Entry], None]) -> None:
        for entry in self.entries:
            try:
                work(entry)
            except OSError as error:
                place = self.folder.path / entry.name
                raise UnfitProgram(f"{place} cannot be copied: {error}") from None

    def _pack_one(self, packed: tarfile.TarFile, entry: Entry) -> None:
        # Keep local owners and timestamps out of the archive.
        info = tarfile.TarInfo(f"./{entry.name}")
        info.mode = entry.permissions
        if stat.S_ISDIR(entry.mode):
            info.type = tarfile.DIRTYPE
            packed.addfile(info)
        elif stat.S_ISLNK(entry.mode):
            info.type, info.linkname = tarfile.SYMTYPE, self.folder.link(entry.name)
            packed.addfile(info)
        else:
            with self.folder.open(entry.name) as source:
                # The file may have been replaced since the folder was listed.
                info.size = min(os.fstat(source.fileno()).st_size, MOST_BYTES)
                packed.addfile(info, source)

    def _copy_one(self, target: Path, entry: Entry) -> None:
        place = target / entry.name
        if stat.S_ISDIR(entry.mode):
            place.mkdir(entry.permissions)
        elif stat.S_ISLNK(entry.mode):
            place.symlink_to(self.folder.link(entry.name))
        else:
            with self.folder.open(entry.name) as source, place.open("wb") as copy:
                shutil.copyfileobj(source, copy)
            place.chmod(entry.permissions)


NO_FILES: Final = nullcontext(Contents(OpenFolder(Path(), None), ()))
"""The contents for a bot without a folder."""


@contextmanager
def contents(
    folder: Path, only: Sequence[Path] = (), without: Container[Path] = ()
) -> Iterator[Contents]:
    """Yield the part of `folder` that a bot gets, valid until the end of the block.

    Hidden files and folders, virtual environments, pipes, sockets, devices, junctions and `without`
    are left out; if `only` is given, so is everything except those files. Links are not followed.
    Raises UnfitProgram if the folder cannot be read or contains too much.
    """
    with ExitStack() as stack:
        try:
            opened = stack.enter_context(open_folder(folder))
            items = _named(opened, folder, only) if only else _walk(opened, folder, without)
            entries = _bounded(folder, items)
        except OSError as error:
            raise UnfitProgram(f"{folder} cannot be read: {error}") from None
        yield Contents(opened, entries)


def _bounded(folder: Path, items: Iterator[Entry]) -> tuple[Entry, ...]:
    entries, size = [], 0
    for entry in items:
        entries.append(entry)
        size += entry.size
        if len(entries) > MOST_FILES or size > MOST_BYTES:
            most = f"{MOST_FILES} files or {MOST_BYTES // MIB} MiB"
            raise UnfitProgram(
                f"{folder} contains more than {most}: give the bot a folder of its own"
            )
    return tuple(entries)


def _named(opened: OpenFolder, folder: Path, only: Sequence[Path]) -> Iterator[Entry]:
    """Yield the named files, and the folders above them."""
    names = {file.relative_to(folder) for file in only}
    above = {parent for name in names for parent in name.parents if parent.name}
    for name in sorted(names | above):
        yield _entry(name.as_posix(), opened.status(str(name)))


def _walk(opened: OpenFolder, folder: Path, without: Container[Path]) -> Iterator[Entry]:
    """Yield the contents of a folder without recursion, as its owner decides how deep it is."""
    # An explicit stack: a hostile folder nested a thousand deep must not exhaust the call stack.
    waiting = [("", 0)]
    while waiting:
        inside, depth = waiting.pop()
        if depth > MOST_NESTED:
            raise UnfitProgram(f"{folder} has more than {MOST_NESTED} nested folders")
        for entry in _visible(opened, inside):
            if folder / entry.name in without:
                continue
            if stat.S_ISDIR(entry.mode):
                waiting.append((entry.name, depth + 1))
            yield entry


def _visible(opened: OpenFolder, inside: str) -> Iterator[Entry]:
    for name, status in opened.scan(inside):
        if not name.startswith(".") and not is_junction(status):
            entry = _entry(f"{inside}/{name}" if inside else name, status)
            if _is_given(opened, entry):
                yield entry


def _is_given(opened: OpenFolder, entry: Entry) -> bool:
    if stat.S_ISDIR(entry.mode):
        return not opened.has_file(f"{entry.name}/{ENVIRONMENT}")
    return stat.S_ISREG(entry.mode) or stat.S_ISLNK(entry.mode)


def is_junction(status: os.stat_result) -> bool:
    """Return whether this is the status of a junction, which only Windows has."""
    return getattr(status, "st_reparse_tag", 0) == JUNCTION


def _entry(name: str, status: os.stat_result) -> Entry:
    size = status.st_size if stat.S_ISREG(status.st_mode) else 0
    return Entry(name, status.st_mode, size)


PATIENCE: Final = 120.0
"""Time limit in seconds for removing a folder; what is left then stays in place."""

LOG: Final = logging.getLogger(__name__)


def remove_later(remove: Callable[[], object]) -> None:
    """Call `remove` in its own thread; Python waits for it before it exits.

    Never raises: what cannot be removed is logged and left.
    """
    Thread(target=_remove, args=(remove,)).start()


def remove_tree(folder: Path, patience: float = PATIENCE) -> None:
    """Remove a folder and everything in it; raise OSError if something cannot be removed.

    Nested folders are moved to the top before they are emptied. This keeps paths short and avoids
    recursion, however deep the nesting. Raises TimeoutError after `patience` seconds.
    """
    until = time.monotonic() + patience
    waiting, moved = [folder], 0
    while waiting:
        place = waiting.pop()
        place.chmod(stat.S_IRWXU)
        with os.scandir(place) as scanned:
            for item in scanned:
                if time.monotonic() > until:
                    raise TimeoutError(f"{folder} is not removed within {patience:g} s")
                if is_folder(item):
                    moved += 1
                    # Paths that bots nest deeper than the system's limit can be emptied only from
                    # the top.
                    waiting.append(_moved(Path(item), folder.with_name(f"{folder.name}.{moved}")))
                else:
                    Path(item).unlink()
        place.rmdir()


def is_folder(item: os.DirEntry[str]) -> bool:
    """Return whether an entry is a real folder: targets of links and junctions are not ours."""
    return item.is_dir(follow_symlinks=False) and not is_junction(item.stat(follow_symlinks=False))


def _remove(remove: Callable[[], object]) -> None:
    try:
        remove()
    except OSError as error:
        LOG.warning("files of a bot could not be removed: %s", error)


def _moved(place: Path, target: Path) -> Path:
    place.chmod(stat.S_IRWXU)
    return place.rename(target)
