"""The processes of this machine, as the system lists them in /proc."""

from __future__ import annotations

from pathlib import Path

import pytest

NEEDS_PROC = pytest.mark.skipif(
    not Path("/proc").is_dir(), reason="needs the list of processes in /proc"
)


def descendants(process: int) -> list[int]:
    """Return the processes that a process has started, each before those that it has started."""
    children = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == process:
            child = int(stat.parent.name)
            children += [child, *descendants(child)]
    return children


def is_running(process: int) -> bool:
    """Return whether there is a process of this number that is more than a zombie."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def forget_peak(process: int) -> None:
    """Let the most memory that a process has needed begin anew."""
    Path(f"/proc/{process}/clear_refs").write_text("5")


def peak_memory(process: int) -> int:
    """Return the most memory that a process has needed at once, in bytes."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
