"""The command line of bubblewrap: a bot sees the system's programs, its own folder, and no more."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

INSIDE: Final = Path("/bot")
"""Where a bot finds its working copy."""

SYSTEM: Final = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix")))
"""Where the system's programs are; /bin and the like are links into /usr on most systems."""

PATH: Final = "/usr/local/bin:/usr/bin:/bin"
ETC: Final = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "java*")
ETC_NETWORK: Final = ("hosts", "nsswitch.conf", "resolv.conf", "ssl")
TMP_SIZE: Final = 64 * 2**20
USERS: Final = range(2_000_000_000, 2_100_000_000)
"""Users that no system has; root gives each bot one of its own."""

PATIENCE: Final = 20.0
"""Seconds that bubblewrap may take to show that it works."""


@cache
def problem() -> str | None:
    """Run bubblewrap once and say why it cannot be used here; None if it can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed; on Debian: apt-get install bubblewrap"
    with TemporaryDirectory(prefix="cw-bot-") as folder:
        command = wrap(["true"], Path(folder), network=False)
        try:
            tried = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"bubblewrap does not work here: {error}"
    said = tried.stderr.decode(errors="replace").strip().splitlines()
    return f"bubblewrap does not work here: {said[-1:]}" if tried.returncode else None


def wrap(
    command: Sequence[str], home: Path, *, network: bool, readable: Sequence[Path] = ()
) -> list[str]:
    """Return the command that runs `command` in the folder `home / "bot"`, seen as /bot.

    It has processes, IPC, host name and, without `network`, a network of its own, in which there is
    nothing. Read-only: the system's programs, few files of /etc, and `readable`. An ordinary user
    gets a user namespace. Root would keep its powers in one, among them to ignore the limit of
    processes; so root becomes a user without a name, one for each bot, before the bot is started.
    """
    root = os.geteuid() == 0
    user = secrets.choice(USERS) if root else 65534
    folder = _prepare(home, user)
    line = [shutil.which("bwrap") or "bwrap", "--die-with-parent", "--new-session"]
    line += ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    line += ["--hostname", "bot", *([] if network else ["--unshare-net"])]
    line += [] if root else ["--unshare-user", "--uid", str(user), "--gid", str(user)]
    line += ["--proc", "/proc", "--dev", "/dev", *_tmpfs("/tmp"), *_tmpfs("/dev/shm")]  # noqa: S108
    line += [*_system(), *_etc(home, network)]
    line += [part for path in readable for part in _readable(path)]
    line += ["--bind", str(folder), str(INSIDE), "--chdir", str(INSIDE)]
    line += ["--remount-ro", "/", "--remount-ro", "/dev", "--"]
    return [*line, *(_become(user) if root else ()), *command]


def _prepare(home: Path, user: int) -> Path:
    """Write who the bot is, and give it its folder."""
    (home / "passwd").write_text(f"bot:x:{user}:{user}::{INSIDE}:/bin/false\n", encoding="ascii")
    folder = home / "bot"
    folder.mkdir(exist_ok=True)
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, user, user, follow_symlinks=False)
    return folder


def _become(user: int) -> list[str]:
    who = [f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    return ["setpriv", *who, "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "--"]


def _tmpfs(path: str) -> list[str]:
    return ["--perms", "1777", "--size", str(TMP_SIZE), "--tmpfs", path]


def _system() -> Iterator[str]:
    for path in SYSTEM:
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), str(path))
        elif path.exists():
            yield from ("--ro-bind", str(path), str(path))


def _readable(path: Path) -> Iterator[str]:
    """Show a file or folder; the folders above it are made so that every user may pass."""
    for above in reversed(path.parents[:-1]):
        yield from ("--perms", "0755", "--dir", str(above))
    yield from ("--ro-bind", str(path), str(path))


def _etc(home: Path, network: bool) -> Iterator[str]:
    yield from ("--perms", "0755", "--dir", "/etc")
    yield from ("--ro-bind", str(home / "passwd"), "/etc/passwd")
    for pattern in ETC + (ETC_NETWORK if network else ()):
        for path in Path("/etc").glob(pattern):
            yield from ("--ro-bind-try", str(path), str(path))
