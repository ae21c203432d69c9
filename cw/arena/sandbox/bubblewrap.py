"""The command line of bubblewrap: a bot sees system programs, its own folder, and nothing else."""

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
"""Where a bot sees its working copy."""

FILES_INSIDE: Final = Path("/run/given")
"""Where it sees the additional files we provide, by name."""

ARCHIVE: Final = "bot.tar"
PATH: Final = "/usr/local/bin:/usr/bin:/bin"
ETC: Final = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "java*")
WRITTEN: Final = ("passwd", "hosts", "nsswitch.conf")
SCRATCH: Final = 64 * MIB
"""Bytes that a bot may write to each of its folder (beyond the working copy), /tmp and /dev/shm."""

USERS: Final = range(2_000_000_000, 2_100_000_000)
"""User ids that no system uses; as root, we give each bot one of its own."""

NEEDED: Final = ("bwrap", "tar", "setpriv")
PATIENCE: Final = 20.0
"""Seconds allowed for bubblewrap to show that it works."""

FILTER: Final = "seccomp.bpf"
OUTSIDE: Final = """
[ -z "$1" ] || exec 7<"$1"
shift
exec 8<&0 9>&1 </dev/null >/dev/null
exec "$@"
"""
"""Opens the system call filter, and hides the pipes from bubblewrap.

Otherwise bubblewrap would hold them open as long as the bot runs, so nobody would notice when the
bot closes them.
"""

WITHIN: Final = f"""
exec <&8 >&9 8<&- 9>&-
[ ! -e {FILES_INSIDE}/{ARCHIVE} ] || tar -xpf {FILES_INSIDE}/{ARCHIVE} || exit 70
exec "$@"
"""
"""Restores the pipes, and unpacks the working copy."""


@dataclass(frozen=True, slots=True)
class Box:
    """What a bot finds in its box."""

    home: Path
    """An empty folder of ours for files made for the bot."""
    readable: Sequence[Path] = ()
    """Folders, files and links that it sees in their original places."""
    files: Sequence[Path] = ()
    """Files that it sees in FILES_INSIDE, by name."""
    size: int = 0
    """Bytes of its working copy."""
    passed: Sequence[Path] = ()
    """Folders that exist, empty unless something else is mounted in them."""


@cache
def problem() -> str | None:
    """Run bubblewrap once; return why it cannot be used here, or None if it works.

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

    The box has its own processes, IPC, host name and network, which is empty. Read-only: the
    system's programs, a few files of /etc, and what the box lists; what the bot writes is in
    memory, and bounded. An ordinary user gets a user namespace. Root would keep its powers in one,
    among them to ignore the limit of processes; so root switches to an unnamed user, one for each
    bot, before the bot starts.
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
    # Read-only comes last: the mounts before it still create their mount points.
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
    """Return whether we are the superuser; Windows has none."""
    return sys.platform != "win32" and os.geteuid() == 0


def _filtered(home: Path) -> list[str]:
    """Return the file of the system call filter ("" for none), and the bubblewrap command with it.

    Applying the filter is the last thing bubblewrap does before it starts a program.
    """
    program = shutil.which("bwrap") or "bwrap"
    code = seccomp_filter()
    if code is None:
        return ["", program]
    (home / FILTER).write_bytes(code)
    return [str(home / FILTER), program, "--seccomp", "7"]


@cache
def _own_users() -> tuple[str, ...]:
    """Return the options for a user namespace, with nesting disabled where that works.

    bubblewrap supports this since version 0.8, and some containers do not allow it. The system call
    filter prevents nested namespaces too.
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
    """Write the bot's user and its host name to files for /etc."""
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
    """Mount a file, folder or link; parent folders are made accessible to every user."""
    yield from _folders(place.parent)
    yield from _bound(path, place)


def _folders(place: Path) -> Iterator[str]:
    """Make a folder and its parents, accessible to every user."""
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
