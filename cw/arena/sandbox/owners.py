"""Names of temporary folders and control groups, which identify the process that made them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import Final, NamedTuple

from cw.errors import Failure

PROC: Final = Path("/proc")
NAMED: Final = re.compile(r"cw-[a-z]+-([0-9a-f]{1,16})-([0-9a-f]{1,16})-([0-9a-f]{1,16})-[\w.]+")
ENDED: Final = ("Z", "X")
"""States of processes that no longer run, though they are still listed."""


class Owner(NamedTuple):
    """A process, distinguished from later ones with the same process id."""

    namespace: int
    """The pid namespace of its process id."""
    process: int
    started: int
    """Its start time, in ticks since boot."""


def prefix(kind: str) -> str:
    """Return the prefix for names of folders and groups made by this process.

    Without /proc, as on macOS, it names no owner: what a killed process leaves there stays.
    """
    owner = owner_of(os.getpid())
    return "-".join(["cw", kind, *(f"{part:x}" for part in owner or ()), ""])


def owner_of(process: int) -> Owner | None:
    """Return a process of our namespace; None if it has ended or the system does not tell."""
    with suppress(OSError):
        fields = (PROC / str(process) / "stat").read_text().rpartition(")")[2].split()
        if fields[0] not in ENDED:
            return Owner((PROC / "self/ns/pid").stat().st_ino, process, int(fields[19]))
    return None


def is_left(name: str) -> bool:
    """Return whether a name's owner has ended; unknown, so False, for other pid namespaces."""
    match = NAMED.fullmatch(name)
    here = owner_of(os.getpid())
    if match is None or here is None:
        return False
    owner = Owner(*(int(part, 16) for part in match.groups()))
    # The process id alone would not do: ids are reused, and each container counts from 1.
    return owner.namespace == here.namespace and owner_of(owner.process) != owner


def left_in(folder: Path) -> Iterator[Path]:
    """Yield our folders within a folder whose owner has ended."""
    with suppress(OSError), os.scandir(folder) as scanned:
        for item in scanned:
            if is_left(item.name) and is_ours(item):
                yield Path(item.path)


def is_ours(item: os.DirEntry[str]) -> bool:
    """Return whether an entry is a folder that belongs to our user."""
    with suppress(OSError):
        user = item.stat(follow_symlinks=False).st_uid
        mine = sys.platform == "win32" or user == os.geteuid()
        return mine and item.is_dir(follow_symlinks=False)
    return False


def temporary_folder() -> Path:
    """Return the folder for temporary files; raise Failure if none is writable."""
    try:
        return Path(gettempdir())
    except OSError as error:
        raise Failure(f"temporary files cannot be written: {error}; is the disk full?") from None


def make_temporary(kind: str) -> Path:
    """Make a temporary folder named after this process; raise Failure if impossible."""
    place = temporary_folder()
    try:
        return Path(mkdtemp(prefix=prefix(kind), dir=place))
    except OSError as error:
        raise Failure(f"a folder cannot be created in {place}: {error.strerror}") from None
