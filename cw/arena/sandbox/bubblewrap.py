"""Command lines of bubblewrap: a bot sees system programs and its own folder, nothing else."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

from cw.arena.sandbox.cgroups import make_temporary
from cw.arena.sandbox.folders import remove_tree
from cw.arena.sandbox.set_limits import MIB
from cw.arena.sandbox.syscalls import seccomp_filter
from cw.errors import UnfitProgram, short

PROC: Final = Path("/proc")

CONSTANT: Final = frozenset({"filesystems", "version"})
"""Files in /proc that change only with the kernel."""

FROZEN: Final = ("cpuinfo", "meminfo", "stat", "uptime")
"""Files in /proc that language runtimes read at startup: frozen when our first program starts."""

PROCESSORS: Final = b"cpu"
"""Prefix of the lines of /proc/stat that runtimes count; the lines below count interrupts."""


def masks(home: Path) -> Iterator[str]:
    """Yield bubblewrap options that hide the rest of /proc; `home` is a new folder for files."""
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
    """Return the names to hide in /proc, and whether each is a folder.

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


SYSTEM: Final = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix")))
"""Folders of system programs; /bin and the like are links into /usr on most systems."""

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


INSIDE: Final = Path("/bot")
"""Where a bot sees its working copy."""

FILES_INSIDE: Final = Path("/run/given")
"""Where a bot sees the additional files we provide, by name."""

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
"""Time limit in seconds for the check that bubblewrap works."""

FILTER: Final = "seccomp.bpf"
OUTSIDE: Final = """
[ -z "$1" ] || exec 7<"$1"
shift
exec 8<&0 9>&1 </dev/null >/dev/null
exec "$@"
"""
"""Opens the system call filter, and hides the pipes from bubblewrap.

Otherwise bubblewrap would hold them open as long as the bot runs, and we would not notice when the
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
    """What a bot sees inside its box."""

    home: Path
    """An empty folder that we own, for files created for the bot."""
    readable: Sequence[Path] = ()
    """Folders, files and links that it sees at their original paths."""
    files: Sequence[Path] = ()
    """Files that it sees in FILES_INSIDE, by name."""
    size: int = 0
    """Bytes of its working copy."""
    passed: Sequence[Path] = ()
    """Folders that exist, empty unless something else is mounted in them."""


@cache
def problem() -> str | None:
    """Run bubblewrap once; return why it cannot be used here, or None if it works.

    Raises Failure if no temporary folder can be created.
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
    system's programs, a few files of /etc, and what the box lists; what the bot writes is in memory
    and bounded. An ordinary user gets a user namespace. In one, root would keep its privileges,
    such as ignoring the limit on processes; so root switches to an unnamed user, one for each bot,
    before the bot starts.
    """
    # Why root becomes another user: docs/sandbox.md, "Limits of the limits".
    root = is_root()
    user = secrets.choice(USERS) if root else 65534
    _write_etc(box.home, user)
    line = ["/bin/sh", "-c", OUTSIDE, "sh", *_filtered(box.home), "--die-with-parent"]
    line += ["--new-session", "--unshare-pid", "--unshare-ipc"]
    line += ["--unshare-uts", "--unshare-net", "--unshare-cgroup-try", "--hostname", "bot"]
    line += [] if root else [*_own_users(), "--uid", str(user), "--gid", str(user)]
    line += ["--proc", "/proc", *masks(box.home / "proc")]
    # The number of terminals is limited for the whole host, and no program needs one.
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
    """Return the system call filter's file ("" for none), and the bubblewrap command with it.

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
    """Write the bot's user and host name to files for /etc."""
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
    """Create a folder and its parents, accessible to every user."""
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
