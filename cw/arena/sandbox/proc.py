"""What a program sees of /proc: its own processes, and nothing that changes with the machine.

Counters of the whole machine (load, open files, interrupts) would carry messages between boxes that
nothing else connects, and reveal what others do.
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
"""Files that language runtimes read at start: frozen as they were at our first program."""

PROCESSORS: Final = b"cpu"
"""Prefix of the lines of /proc/stat that runtimes count; the lines below count interrupts."""


def masks(home: Path) -> Iterator[str]:
    """Yield the bubblewrap options that hide the rest; `home` is a new folder for files."""
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
    """Return the current contents of the files that runtimes read."""
    texts = {name: (PROC / name).read_bytes() for name in FROZEN if (PROC / name).is_file()}
    lines = texts.get("stat", b"").splitlines(keepends=True)
    return texts | {"stat": b"".join(line for line in lines if line.startswith(PROCESSORS))}


def masked() -> Mapping[str, bool]:
    """Return the names of what is hidden, and whether each is a folder.

    Links stay visible, as they lead to the reader's own processes; so do files that only root may
    read, as no program is root.
    """
    with os.scandir(PROC) as scanned:
        return {
            item.name: item.is_dir()
            for item in scanned
            if not (item.name.isdecimal() or item.is_symlink())
            and item.name not in {*CONSTANT, *FROZEN}
            and item.stat().st_mode & 0o004
        }
