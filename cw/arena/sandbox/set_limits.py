"""The resource limits of a bot, and the command that sets them for each of its processes."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PROC: Final = Path("/proc")
MIB: Final = 2**20
GIB: Final = 2**30


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """Limits for each process of a bot; `processes` and `whole_memory` are for all together."""

    memory: int = GIB
    """Bytes of private memory."""
    address_space: int = 16 * GIB
    """Bytes of address space, including shared memory.

    Node.js reserves 10 GiB and uses little of it.
    """
    files: int = 256
    """Open files."""
    processes: int = 256
    """Processes and threads of the whole bot."""
    cpu_seconds: int = 3600
    file_size: int = 64 * MIB
    """Maximum bytes of a file."""
    whole_memory: int = 2 * GIB
    """Bytes of memory of all processes together, including files in memory."""

    def describe(self) -> str:
        """Return a description of the limits, to end a message."""
        return (
            f"at most {size(self.memory)} of memory, {self.files} open files, "
            f"{self.processes} processes, {self.cpu_seconds} s of CPU, "
            f"files of {size(self.file_size)}"
        )


def limited(
    limits: ResourceLimits, command: Sequence[str], others: int = 0
) -> tuple[list[str], str]:
    """Return the command with its limits, and a description of the limits to end a message.

    `others` counts processes that the system adds to those of the bot. Uses `prlimit` on Linux and
    the shell's `ulimit` elsewhere on POSIX, which supports fewer limits; on Windows there are none.
    """
    program = shutil.which("prlimit")
    if sys.platform == "linux" and program is not None:
        return [program, *_prlimit_options(limits, others), "--", *command], limits.describe()
    if os.name == "posix":
        bounds = f"at most {limits.files} open files, {limits.cpu_seconds} s of CPU, "
        return by_shell(limits, command), f"{bounds}files of {size(limits.file_size)}"
    return [*command], "NO LIMITS, as this system supports none"


def by_shell(limits: ResourceLimits, command: Sequence[str]) -> list[str]:
    """Return the command with the limits that every POSIX shell can set."""
    blocks = limits.file_size // 512
    line = f"ulimit -n {limits.files}; ulimit -t {limits.cpu_seconds}; ulimit -f {blocks}"
    return ["/bin/sh", "-c", f'{line}; exec "$@"', "sh", *command]


def own_tasks() -> int:
    """Count the processes and threads of this user, as far as the system reports them."""
    if not PROC.exists():
        return 0
    return sum(_tasks(folder) for folder in PROC.iterdir() if folder.name.isdecimal())


def _tasks(process: Path) -> int:
    """Count the threads of a process; 0 if it is another user's or has just ended."""
    try:
        is_own = process.stat().st_uid == Path("/proc/self").stat().st_uid
        return len(list((process / "task").iterdir())) if is_own else 0
    except OSError:
        return 0


def _prlimit_options(limits: ResourceLimits, others: int) -> Iterator[str]:
    """Yield prlimit options; a lower limit already in force stays, as only root may raise it."""
    if sys.platform == "linux":
        import resource  # noqa: PLC0415 - Windows has none

        for name, kind, value in (
            ("data", resource.RLIMIT_DATA, limits.memory),
            ("as", resource.RLIMIT_AS, limits.address_space),
            ("nofile", resource.RLIMIT_NOFILE, limits.files),
            ("nproc", resource.RLIMIT_NPROC, limits.processes + others),
            ("cpu", resource.RLIMIT_CPU, limits.cpu_seconds),
            ("fsize", resource.RLIMIT_FSIZE, limits.file_size),
            ("core", resource.RLIMIT_CORE, 0),
        ):
            hard = resource.getrlimit(kind)[1]
            yield f"--{name}={value if hard == resource.RLIM_INFINITY else min(value, hard)}"
    yield from ()


def size(number: int) -> str:
    """Return a number of bytes as text."""
    return f"{number / GIB:g} GiB" if number >= GIB else f"{number / MIB:g} MiB"
