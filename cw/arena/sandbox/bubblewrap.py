"""The command line of bubblewrap: a bot sees the system's programs, its own folder, and no more."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from cw.arena.sandbox import proc
from cw.arena.sandbox.installation import SYSTEM
from cw.arena.sandbox.limits import MIB
from cw.arena.sandbox.owners import make_temporary
from cw.arena.sandbox.removal import remove_tree
from cw.arena.sandbox.syscalls import seccomp_filter

INSIDE: Final = Path("/bot")
"""Where a bot finds its working copy."""

FILES_INSIDE: Final = Path("/run/given")
"""Where it finds what we give it beside: a file under a name."""

ARCHIVE: Final = "bot.tar"
PATH: Final = "/usr/local/bin:/usr/bin:/bin"
ETC: Final = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "java*")
WRITTEN: Final = ("passwd", "hosts", "nsswitch.conf")
SCRATCH: Final = 64 * MIB
"""Bytes that a bot may write: beside its working copy, in /tmp, and in /dev/shm."""

USERS: Final = range(2_000_000_000, 2_100_000_000)
"""Users that no system has; root gives each bot one of its own."""

NEEDED: Final = ("bwrap", "tar", "setpriv")
PATIENCE: Final = 20.0
"""Seconds that bubblewrap may take to show that it works."""

FILTER: Final = "seccomp.bpf"
OUTSIDE: Final = """
[ -z "$1" ] || exec 7<"$1"
shift
exec 8<&0 9>&1 </dev/null >/dev/null
exec "$@"
"""
"""Opens the filter of system calls, and hides the pipes from bubblewrap.

It would keep them open for as long as the bot runs, so that nobody saw the bot close them.
"""

WITHIN: Final = f"""
exec <&8 >&9 8<&- 9>&-
[ ! -e {FILES_INSIDE}/{ARCHIVE} ] || tar -xpf {FILES_INSIDE}/{ARCHIVE} || exit 70
exec "$@"
"""
"""Takes the pipes up again, and unpacks the working copy."""


@dataclass(frozen=True, slots=True)
class Box:
    """What a bot is put into."""

    home: Path
    """An empty folder of ours, in which files for the bot may be made."""
    readable: Sequence[Path] = ()
    """Folders, files and links that it sees where they are."""
    files: Sequence[Path] = ()
    """Files that it sees in FILES_INSIDE, by their names."""
    size: int = 0
    """Bytes of its working copy."""
    passed: Sequence[Path] = ()
    """Folders that are there, and empty unless something else is shown in them."""


@cache
def problem() -> str | None:
    """Run bubblewrap once and say why it cannot be used here; None if it can.

    Raises Failure if no temporary folder can be made.
    """
    for program in NEEDED:
        if shutil.which(program) is None:
            name = "bubblewrap" if program == "bwrap" else program
            return f"{name} is not installed: on Debian, apt-get install bubblewrap tar util-linux"
    if not os.access(os.devnull, os.R_OK | os.W_OK):
        return f"this user may not read and write {os.devnull}; chmod 666 {os.devnull}"
    folder = make_temporary("bot")
    try:
        command = wrap(["true"], Box(folder))
        tried = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not work here: {error}"
    finally:
        remove_tree(folder)
    if not tried.returncode:
        return None
    lines = tried.stderr.decode(errors="replace").strip().splitlines()
    last = lines[-1] if lines else f"it ends with exit code {tried.returncode}"
    return f"bubblewrap does not work here: {last}"


def wrap(command: Sequence[str], box: Box) -> list[str]:
    """Return the command that runs `command` in a box, in the folder /bot.

    It has processes, IPC, host name and a network of its own, in which there is nothing. Read-only:
    the system's programs, few files of /etc, and what the box says; what the bot writes is in
    memory, and bounded. An ordinary user gets a user namespace. Root would keep its powers in one,
    among them to ignore the limit of processes; so root becomes a user without a name, one for each
    bot, before the bot is started.
    """
    # Why root becomes another user: docs/sandbox.md, "Limits of the limits".
    root = is_root()
    user = secrets.choice(USERS) if root else 65534
    _write_etc(box.home, user)
    line = ["/bin/sh", "-c", OUTSIDE, "sh", *_filtered(box.home), "--die-with-parent"]
    line += ["--new-session", "--unshare-pid", "--unshare-ipc"]
    line += ["--unshare-uts", "--unshare-net", "--unshare-cgroup-try", "--hostname", "bot"]
    line += [] if root else [*_own_users(), "--uid", str(user), "--gid", str(user)]
    line += ["--proc", "/proc", *proc.masks(box.home / "proc")]
    # Terminals are counted for the whole machine, and no program needs one.
    line += ["--dev", "/dev", "--tmpfs", "/dev/pts", *_system(), *_etc(box.home)]
    line += [*_memory("/tmp"), *_memory("/dev/shm"), *_memory(str(INSIDE), box.size)]  # noqa: S108
    line += [part for path in box.passed for part in _folders(path)]
    line += [part for path in box.readable for part in _mounts(path, path)]
    line += [part for path in box.files for part in _mounts(path, FILES_INSIDE / path.name)]
    # Read-only last: the mounts before it still create their mount points.
    line += [
        "--remount-ro",
        "/",
        "--remount-ro",
        "/dev",
        "--remount-ro",
        "/dev/pts",
        "--chdir",
        str(INSIDE),
        "--",
    ]
    line += _become(user) if root else []
    return [*line, "/bin/sh", "-c", WITHIN, "sh", *command]


def is_root() -> bool:
    """Return whether we are the user that may do everything; there is none on Windows."""
    return sys.platform != "win32" and os.geteuid() == 0


def _filtered(home: Path) -> list[str]:
    """Return the file of the filter of system calls, "" without one, and bubblewrap that takes it.

    The last that bubblewrap does before it starts a program is to let the kernel apply the filter.
    """
    program = shutil.which("bwrap") or "bwrap"
    code = seccomp_filter()
    if code is None:
        return ["", program]
    (home / FILTER).write_bytes(code)
    return [str(home / FILTER), program, "--seccomp", "7"]


@cache
def _own_users() -> tuple[str, ...]:
    """Return the options for a user namespace, in which no other can be made where that works.

    bubblewrap knows how since version 0.8, and some containers do not let it. The filter of system
    calls keeps programs from making any, too.
    """
    closed = ("--unshare-user", "--disable-userns")
    bwrap = shutil.which("bwrap") or "bwrap"
    try:
        tried = subprocess.run(
            [bwrap, *closed, "--ro-bind", "/", "/", "true"],
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return closed[:1]
    return closed if tried.returncode == 0 else closed[:1]


def _write_etc(home: Path, user: int) -> None:
    """Write down who the bot is, and what it may call its own machine."""
    for name, text in (
        ("passwd", f"bot:x:{user}:{user}::{INSIDE}:/bin/false\n"),
        ("hosts", "127.0.0.1 localhost bot\n::1 localhost\n"),
        ("nsswitch.conf", "passwd: files\nhosts: files\n"),
    ):
        (home / name).write_text(text, encoding="ascii")


def _become(user: int) -> list[str]:
    who = [f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    return ["setpriv", *who, "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "--"]


def _memory(path: str, filled: int = 0) -> list[str]:
    return ["--perms", "1777", "--size", str(filled + SCRATCH), "--tmpfs", path]


def _system() -> Iterator[str]:
    for path in SYSTEM:
        if path.is_symlink() or path.exists():
            yield from _bound(path, path)


def _mounts(path: Path, place: Path) -> Iterator[str]:
    """Show a file, folder or link; the folders above it are made so that every user may pass."""
    yield from _folders(place.parent)
    yield from _bound(path, place)


def _folders(place: Path) -> Iterator[str]:
    """Make a folder and those above it, so that every user may pass."""
    for folder in reversed([place, *place.parents][:-1]):
        yield from ("--perms", "0755", "--dir", str(folder))


def _bound(path: Path, place: Path) -> tuple[str, str, str]:
    if path.is_symlink():
        return ("--symlink", str(path.readlink()), str(place))
    return ("--ro-bind", str(path), str(place))


def _etc(home: Path) -> Iterator[str]:
    yield from ("--perms", "0755", "--dir", "/etc")
    for name in WRITTEN:
        yield from ("--ro-bind", str(home / name), f"/etc/{name}")
    for pattern in ETC:
        for path in Path("/etc").glob(pattern):
            yield from ("--ro-bind-try", str(path), str(path))
