"""Killing processes with everything they started, and describing how they ended."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path, PureWindowsPath
from typing import Any, Final

MARK: Final = "BOT_PROCESS"
"""Environment variable that identifies the processes of one bot."""

TICKS: Final = 100
"""Clock ticks per second in which Linux reports times to programs, on every machine."""

PROC: Final = Path("/proc")
NOWHERE: Final = subprocess.DEVNULL
KILL: Final[int] = getattr(signal, "SIGKILL", signal.SIGTERM)
"""The signal that no program can catch; Windows has none."""

if sys.platform == "win32":
    OWN_GROUP: Final[Mapping[str, Any]] = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
else:
    OWN_GROUP: Final[Mapping[str, Any]] = {"start_new_session": True}
"""Options that start a program in its own group: Ctrl-C in our terminal does not reach it."""

MOST_ROUNDS: Final = 200
YOUNG: Final = 1.0
"""Seconds after its start in which a process may still be loading its program."""

LOOK: Final = 0.002
"""Seconds between two checks of a process that may still be loading its program."""

SIGNALS: Final[Mapping[str, str]] = {
    "SIGKILL": "killed, perhaps because it used too much memory",
    "SIGSEGV": "segmentation fault",
    "SIGXCPU": "out of processor time",
    "SIGXFSZ": "it wrote a file that is too large",
    "SIGABRT": "aborted",
}
"""Descriptions of the signals that end programs."""


def new_mark() -> str:
    """Generate the mark of one bot."""
    return secrets.token_hex(16)


def kill_group(leader: int, number: int) -> None:
    """Send a signal to a process group, ignoring a group that no longer exists.

    Windows has no process groups: there, the leader is killed with everything it started, if it is
    still running.
    """
    if sys.platform == "win32":
        killer = tree_killer(leader, os.environ["SYSTEMROOT"])
        subprocess.run(killer, stdin=NOWHERE, stdout=NOWHERE, stderr=NOWHERE, check=False)
    else:
        try:
            os.killpg(leader, number)
        except (ProcessLookupError, PermissionError):
            return


def tree_killer(process: int, system: str) -> tuple[str, ...]:
    r"""Return the Windows command that kills a process and everything it started.

    `system` is the Windows folder. The absolute path prevents a program of the same name in our
    working directory from being run.

    >>> tree_killer(7, r"C:\Windows")[0]
    'C:\\Windows\\System32\\taskkill.exe'
    """
    program = PureWindowsPath(system, "System32", "taskkill.exe")
    return (str(program), "/F", "/T", "/PID", str(process))


def kill_marked(mark: str) -> None:
    """Kill every process that carries the mark, until none is left.

    This finds daemons that left their process group. It needs /proc (Linux), and cannot find a
    process that started another program with a fresh environment: only a pid namespace (bubblewrap)
    contains that one.
    """
    for _ in range(MOST_ROUNDS):
        processes = list(marked(mark))
        if not processes:
            return
        for process in processes:
            _kill(process, mark)


def marked(mark: str) -> Iterator[int]:
    """Yield the ids of the processes that carry the mark; none without /proc."""
    if PROC.is_dir():
        for folder in PROC.iterdir():
            if folder.name.isdecimal() and _bears(int(folder.name), mark):
                yield int(folder.name)


def _bears(process: int, mark: str) -> bool:
    try:
        environment = _environment(PROC / str(process))
    except OSError:
        return False
    return f"{MARK}={mark}".encode() in environment.split(b"\0")


def _environment(process: Path) -> bytes:
    """Read the environment of a process; during exec it is empty for a moment."""
    while not (content := (process / "environ").read_bytes()) and _is_young(process):
        time.sleep(LOOK)
    return content


def _is_young(process: Path) -> bool:
    """Return whether a process has just been started; zombies and kernel threads have not."""
    if (process / "statm").read_bytes().startswith(b"0 "):
        return False
    # Field 22 of `man 5 proc`; the name in parentheses before it may contain spaces.
    started = int((process / "stat").read_text().rpartition(")")[2].split()[19])
    return _since_boot() - started / TICKS < YOUNG


def _since_boot() -> float:
    """Return the seconds since this host booted."""
    return float((PROC / "uptime").read_text().split()[0])


def _kill(process: int, mark: str) -> None:
    """Kill a process, unless its id has been reused since it was found."""
    if sys.platform == "linux":
        try:
            # A pidfd refers to the process itself; its id may have been reused in the meantime.
            handle = os.pidfd_open(process)
        except OSError:
            return
        try:
            if _bears(process, mark):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
        except OSError:
            return
        finally:
            os.close(handle)


def describe_exit(code: int) -> str:
    """Describe how a program ended, from its return code.

    A negative code is a signal number. Shells and bubblewrap report a signal as 128 + its number.

    >>> describe_exit(3), describe_exit(139)
    ('the program exited early (exit code 3)', 'segmentation fault (exit code 139)')
    """
    name = _signal_name(-code) or _signal_name(code - 128)
    how = "the program exited early" if name is None else SIGNALS.get(name, f"ended by {name}")
    return f"{how} ({f'signal {name}' if code < 0 and name else f'exit code {code}'})"


def _signal_name(number: int) -> str | None:
    try:
        return signal.Signals(number).name
    except ValueError:
        return None
