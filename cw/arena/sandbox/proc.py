"""What a program sees of /proc: its own processes, and nothing that changes with the machine.

Counters of the whole machine (load, open files, interrupts) would carry messages between boxes
that nothing else connects, and reveal what others do.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

PROC: Final = Path("/proc")

CONSTANT: Final = frozenset({"filesystems", "version"})
"""Files that only another kernel changes."""

FROZEN: Final = ("cpuinfo", "meminfo", "stat", "uptime")
"""Files that languages read as they start: all boxes see them as they were at our first program."""

PROCESSORS: Final = b"cpu"
"""How the lines of /proc/stat begin that languages count; below them are counters of interrupts."""


def masks(home: Path) -> Iterator[str]:
    """Give the options of bubblewrap that hide the rest; `home` is a new folder for files."""
    folder, file = home / "nothing", home / "empty"
    folder.mkdir(parents=True)
    file.touch()
    for name, text in frozen().items():
        (home / name).write_bytes(text)
        (home / name).chmod(0o444)
        yield from ("--ro-bind", str(home / name), str(PROC / name))
    for name, is_folder in masked().items():
        yield from ("--ro-bind", str(folder if is_folder else file), str(PROC / name))


@cache
def frozen() -> Mapping[str, bytes]:
    """Return the files that languages read, as they are now."""
    texts = {name: (PROC / name).read_bytes() for name in FROZEN if (PROC / name).is_file()}
    lines = texts.get("stat", b"").splitlines(keepends=True)
    return texts | {"stat": b"".join(line for line in lines if line.startswith(PROCESSORS))}


def masked() -> Mapping[str, bool]:
    """Return the names of what is hidden, and whether each is a folder.

    Links are left, which lead to the own processes of whoever reads them; so are files that only
    root may read, as no program is root.
    """
    with os.scandir(PROC) as scanned:
        return {
            item.name: item.is_dir()
            for item in scanned
            if not (item.name.isdecimal() or item.is_symlink())
            and item.name not in {*CONSTANT, *FROZEN}
            and item.stat().st_mode & 0o004
        }
