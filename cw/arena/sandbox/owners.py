"""Who owns a temporary folder or control group: its name identifies the process that made it."""

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
"""States of a process that runs no more, though it is still listed."""


class Owner(NamedTuple):
    """A process, distinguished from later ones with the same process id."""

    namespace: int
    """The namespace in which it has its number."""
    process: int
    started: int
    """When it was started, in ticks since the machine was."""


def prefix(kind: str) -> str:
    """Return what the name of a folder or group of this process begins with.

    Without /proc, as on macOS, it names no owner: what a killed process leaves there stays.
    """
    owner = owner_of(os.getpid())
    return "-".join(["cw", kind, *(f"{part:x}" for part in owner or ()), ""])


def owner_of(process: int) -> Owner | None:
    """Return a process of our namespace, None if it has ended or the system does not tell."""
    with suppress(OSError):
        fields = (PROC / str(process) / "stat").read_text().rpartition(")")[2].split()
        if fields[0] not in ENDED:
            return Owner((PROC / "self/ns/pid").stat().st_ino, process, int(fields[19]))
    return None


def is_left(name: str) -> bool:
    """Return whether a name tells an owner that has ended; of other namespaces nobody knows."""
    match = NAMED.fullmatch(name)
    here = owner_of(os.getpid())
    if match is None or here is None:
        return False
    owner = Owner(*(int(part, 16) for part in match.groups()))
    # A number alone would not do: systems reuse it, and each container counts from 1.
    return owner.namespace == here.namespace and owner_of(owner.process) != owner


def left_in(folder: Path) -> Iterator[Path]:
    """Return the folders in a folder that are ours, and whose owner has ended."""
    with suppress(OSError), os.scandir(folder) as scanned:
        for item in scanned:
            if is_left(item.name) and is_ours(item):
                yield Path(item.path)


def is_ours(item: os.DirEntry[str]) -> bool:
    """Return whether an entry is a folder, and not that of another user."""
    with suppress(OSError):
        user = item.stat(follow_symlinks=False).st_uid
        mine = sys.platform == "win32" or user == os.geteuid()
        return mine and item.is_dir(follow_symlinks=False)
    return False


def temporary_folder() -> Path:
    """Return where temporary files go; raise Failure if none can be written anywhere."""
    try:
        return Path(gettempdir())
    except OSError as error:
        raise Failure(f"temporary files cannot be written: {error}; is the disk full?") from None


def make_temporary(kind: str) -> Path:
    """Make a folder that bears our name; raise Failure if that cannot be."""
    place = temporary_folder()
    try:
        return Path(mkdtemp(prefix=prefix(kind), dir=place))
    except OSError as error:
        raise Failure(f"a folder cannot be created in {place}: {error.strerror}") from None
