"""Where programs are installed: what a program needs on disk to run."""

from __future__ import annotations

import os
import shutil
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, Literal

from cw.errors import UnfitProgram, short

SYSTEM: Final = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix")))
"""Where the system's programs are; /bin and the like are links into /usr on most systems."""

MOST_LINKS: Final = 40
"""Maximum number of links to follow, as in the kernel."""


def find_program(name: str, folder: Path) -> Path:
    """Return the path of a program, on PATH or in the folder; raise UnfitProgram if not found."""
    located = shutil.which(name) if Path(name).name == name else None
    path = Path(located) if located else folder / name
    # Unlike Path.is_file, it accepts names of any length.
    if not os.path.isfile(path):  # noqa: PTH113
        raise UnfitProgram(
            f"there is no program {short(name)}, neither on the PATH nor in {folder}"
        )
    return path.absolute()


def is_whole_program(part: str) -> bool:
    """Return whether a part of a command is the absolute path of a program."""
    return os.path.isabs(part) and os.path.isfile(part) and os.access(part, os.X_OK)  # noqa: PTH113, PTH117


def installations(programs: Iterable[Path]) -> tuple[Path, ...]:
    """Return the folders, files and links outside the system folders that programs need.

    None of them is inside another.
    """
    folders = {path for program in programs for path in installation(program)}
    inner = {path for path in folders if folders & set(path.parents)}
    return tuple(sorted(folders - inner))


def installation(program: Path) -> Iterator[Path]:
    """Yield where a program outside the system folders is installed, and the links to it.

    Links are followed one by one: a virtual environment links to the Python that it was made with,
    and may itself be behind a link.
    """
    for kind, path in _way(program):
        if kind != "left":
            yield from _outside(_prefix(path) if kind == "end" else path)


def passed_through(programs: Iterable[Path]) -> tuple[Path, ...]:
    """Return the folders outside the system folders that paths to programs enter and leave by `..`.

    The kernel must find them, though nothing in them is needed.
    """
    ways = (step for program in programs for step in _way(program))
    left = {folder for kind, place in ways if kind == "left" for folder in _outside(place)}
    return tuple(sorted(left))


def _way(program: Path) -> Iterator[tuple[Literal["link", "left", "end"], Path]]:
    """Resolve the path of a program as the kernel does.

    Yields the links on the way, the folders that are left by `..`, and the ends: of the path
    itself, and of each link that is its last component.
    """
    place, left, links = Path(program.anchor), deque(program.parts[1:]), 0
    while left:
        step = place / left.popleft()
        if step.name == "..":
            yield "left", place
            place = place.parent
            continue
        if not step.is_symlink():
            place = step
            continue
        links += 1
        if links > MOST_LINKS:
            return
        yield ("link" if left else "end"), step
        target = step.readlink()
        place = Path(target.anchor) if target.anchor else place
        left.extendleft(reversed(target.parts[1:] if target.anchor else target.parts))
    yield "end", place


def _outside(path: Path) -> Iterator[Path]:
    if not any(map(path.is_relative_to, (*SYSTEM, Path("/etc")))):
        yield path


def _prefix(program: Path) -> Path:
    """Return the folder above `bin` if it belongs to this installation; else the program alone."""
    prefix, home = program.parent.parent, Path.home()
    several = prefix in (Path("/"), home, home / ".local", *home.parents)
    is_own = program.parent.name == "bin" and (prefix / "lib").is_dir() and not several
    return prefix if is_own else program
