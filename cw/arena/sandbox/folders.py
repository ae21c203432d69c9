"""The contents of a bot's folder that the bot is given: all but hidden files, within bounds."""

from __future__ import annotations

import io
import os
import shutil
import stat
import tarfile
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from cw.arena.sandbox.limits import MIB
from cw.errors import UnfitProgram

MOST_FILES: Final = 20_000
MOST_BYTES: Final = 256 * MIB
MOST_NESTED: Final = 64
"""Folders within each other; deeper paths soon become longer than systems take."""

ENVIRONMENT: Final = "pyvenv.cfg"
"""The file that makes a folder a virtual environment, which is used where it stands."""

NO_FOLLOW: Final[int] = getattr(os, "O_NOFOLLOW", 0)
JUNCTION: Final = 0xA0000003
"""How Windows marks a folder that stands for another one; anybody may make such, unlike links."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, folder or link of a bot's folder."""

    name: str
    """Its path within the folder."""
    path: str
    """Its path on this machine."""
    mode: int
    """Its kind and its permissions, as `stat` has them."""
    size: int
    """Bytes of a file."""

    @property
    def permissions(self) -> int:
        """Its permissions; its owner may read and change it in any case."""
        return stat.S_IMODE(self.mode) & 0o777 | (0o700 if stat.S_ISDIR(self.mode) else 0o600)


def contents(
    folder: Path, only: Sequence[Path] = (), without: Container[Path] = ()
) -> tuple[Entry, ...]:
    """Return what a bot is given of `folder`, folders before what is in them.

    Left out are hidden files and folders, virtual environments, pipes, sockets, devices, junctions
    and `without`; all but the files `only` where some are named. Raises UnfitProgram for a folder
    that cannot be read or holds too much.
    """
    try:
        return _bounded(folder, _named(folder, only) if only else _walk(folder, without))
    except OSError as error:
        raise UnfitProgram(f"{folder} cannot be read: {error}") from None


def pack(entries: Iterable[Entry], archive: Path) -> None:
    """Write entries into a tar file; raise UnfitProgram for a file that cannot be read."""
    with tarfile.open(archive, "w", format=tarfile.GNU_FORMAT) as packed:
        _each(entries, partial(_pack_one, packed))
    archive.chmod(0o644)


def copy(entries: Iterable[Entry], target: Path) -> None:
    """Write entries into the folder `target`; raise UnfitProgram for a file that cannot be read."""
    _each(entries, partial(_copy_one, target))


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


def _named(folder: Path, only: Sequence[Path]) -> Iterator[Entry]:
    """Return files by their names, and the folders that lead to them."""
    names = {file.relative_to(folder) for file in only}
    above = {parent for name in names for parent in name.parents if parent.name}
    for name in sorted(names | above):
        yield _entry(str(name), str(folder / name), (folder / name).stat())


def _walk(folder: Path, without: Container[Path]) -> Iterator[Entry]:
    """Return what is in a folder, without recursion: how deep it is, is for its owner to say."""
    # An explicit stack: a hostile folder nested a thousand deep must not exhaust ours.
    waiting = [("", str(folder), 0)]
    while waiting:
        inside, place, depth = waiting.pop()
        if depth > MOST_NESTED:
            raise UnfitProgram(f"{folder} has more than {MOST_NESTED} nested folders")
        for entry in _visible(inside, place):
            if Path(entry.path) in without:
                continue
            if stat.S_ISDIR(entry.mode):
                waiting.append((entry.name, entry.path, depth + 1))
            yield entry


def _visible(inside: str, place: str) -> Iterator[Entry]:
    with os.scandir(place) as scanned:
        for item in scanned:
            if not item.name.startswith("."):
                name = f"{inside}/{item.name}" if inside else item.name
                status = item.stat(follow_symlinks=False)
                entry = _entry(name, item.path, status)
                if _is_given(entry) and not is_junction(status):
                    yield entry


def _is_given(entry: Entry) -> bool:
    if stat.S_ISDIR(entry.mode):
        return not Path(entry.path, ENVIRONMENT).is_file()
    return stat.S_ISREG(entry.mode) or stat.S_ISLNK(entry.mode)


def is_junction(status: os.stat_result) -> bool:
    """Return whether this is the status of a junction, which only Windows has."""
    return getattr(status, "st_reparse_tag", 0) == JUNCTION


def _entry(name: str, path: str, status: os.stat_result) -> Entry:
    size = status.st_size if stat.S_ISREG(status.st_mode) else 0
    return Entry(name, path, status.st_mode, size)


def _each(entries: Iterable[Entry], work: Callable[[Entry], None]) -> None:
    for entry in entries:
        try:
            work(entry)
        except OSError as error:
            raise UnfitProgram(f"{entry.path} cannot be copied: {error}") from None


def _pack_one(packed: tarfile.TarFile, entry: Entry) -> None:
    # Owner and times of this machine stay out of the archive.
    info = tarfile.TarInfo(f"./{entry.name}")
    info.mode = entry.permissions
    if stat.S_ISDIR(entry.mode):
        info.type = tarfile.DIRTYPE
        packed.addfile(info)
    elif stat.S_ISLNK(entry.mode):
        info.type, info.linkname = tarfile.SYMTYPE, os.readlink(entry.path)  # noqa: PTH115
        packed.addfile(info)
    else:
        with _open(entry) as source:
            # Another file may have taken its place since the folder was listed.
            info.size = min(os.fstat(source.fileno()).st_size, MOST_BYTES)
            packed.addfile(info, source)


def _copy_one(target: Path, entry: Entry) -> None:
    place = target / entry.name
    if stat.S_ISDIR(entry.mode):
        place.mkdir(entry.permissions)
    elif stat.S_ISLNK(entry.mode):
        place.symlink_to(os.readlink(entry.path))  # noqa: PTH115
    else:
        with _open(entry) as source, place.open("wb") as copy:
            shutil.copyfileobj(source, copy)
        place.chmod(entry.permissions)


def _open(entry: Entry) -> io.BufferedReader:
    """Open a file that may have been replaced by a link since it was found."""
    return open(os.open(entry.path, os.O_RDONLY | NO_FOLLOW), "rb")  # noqa: PTH123
