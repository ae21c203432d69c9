"""How a program of a bot is started: in a copy of its folder, under limits, behind walls."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal, TypeAlias

from cw.arena.sandbox import bubblewrap
from cw.arena.sandbox.limits import MIB, ResourceLimits, limited, own_tasks
from cw.errors import UsageError

Policy: TypeAlias = Literal["auto", "require", "off"]

MOST_FILES: Final = 20_000
MOST_BYTES: Final = 256 * MIB
KEPT_OF_WINDOWS: Final = ("SYSTEMROOT", "PATHEXT", "TEMP", "TMP")


@dataclass(frozen=True, slots=True)
class Launch:
    """All that is needed to start a program, and a sentence on how we are protected from it."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    """The whole environment."""
    cwd: Path
    protection: str
    folder: Path
    """The working copy as we see it."""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """Starts programs of bots with as much protection as the policy asks for.

    `auto` takes bubblewrap where it works, `require` refuses to go on without it, `off` does
    without. Limits, a clean environment and a working copy are there in any case. Memory, CPU time
    and file size are bounded for each process, not for all of a bot together, and there is no bound
    on the number of its files.
    """

    policy: Policy = "auto"
    limits: ResourceLimits = field(default_factory=ResourceLimits)

    @contextmanager
    def prepare(
        self,
        command: Sequence[str],
        folder: Path | None = None,
        *,
        settings: Mapping[str, str] | None = None,
        network: bool = False,
        readable: Sequence[Path] = (),
    ) -> Iterator[Launch]:
        """Return what starts `command` in a copy of `folder`, which is removed at the end.

        Paths in the command that lie in the folder lead to the copy. `settings` are added to the
        environment, which else holds PATH, LANG, HOME and PYTHONUNBUFFERED. `network` leaves the
        bot the network of this machine: a bot that serves on a port cannot be reached without.
        `readable` are further folders that it may read, beside where the programs are installed
        that the command names by their whole paths.

        Raises UsageError for a program that is not found, a folder too large to copy, and a policy
        that cannot be kept.
        """
        missing = self._missing()
        with TemporaryDirectory(prefix="cw-bot-", ignore_cleanup_errors=True) as home:
            copy = Path(home, "bot")
            copy_folder(folder, copy)
            source = (folder or copy).absolute()
            program = find_program(command[0], source)
            inside = copy if missing else bubblewrap.INSIDE
            argv = [_moved(part, source, inside) for part in (program, *command[1:])]
            folders = os.environ.get("PATH", os.defpath) if missing else bubblewrap.PATH
            env = clean_environment(inside, program, folders) | dict(settings or {})
            if missing:
                yield self._bare(argv, env, copy, missing)
            else:
                programs = map(Path, (program, *filter(is_whole_program, command[1:])))
                seen = [path for each in programs for path in installation(each, source)]
                inner, limits = limited(self.limits, argv)
                outer = bubblewrap.wrap(
                    inner, Path(home), network=network, readable=[*seen, *readable]
                )
                said = f"bubblewrap: files and processes of its own, {_network(network)}; {limits}"
                yield Launch(tuple(outer), env, copy, said, copy)

    def _missing(self) -> str | None:
        """Say why there is no bubblewrap; None if it is used. Raise UsageError if it has to be."""
        if self.policy == "off":
            return "the sandbox is switched off"
        problem = bubblewrap.problem()
        if problem and self.policy == "require":
            raise UsageError(f"no bot is started without a sandbox: {problem}")
        return problem

    def _bare(self, argv: list[str], env: dict[str, str], copy: Path, missing: str) -> Launch:
        """Return the launch without bubblewrap.

        The system counts all processes of this user, so those that run already are added.
        """
        command, limits = limited(self.limits, argv, own_tasks())
        root = os.name == "posix" and os.geteuid() == 0
        free = "; AS ROOT it is not held to its number of processes" if root else ""
        said = f"LIMITS ONLY, it can read your files and use your network ({missing}); {limits}"
        return Launch(tuple(command), env, copy, f"{said}{free}", copy)


def copy_folder(folder: Path | None, copy: Path) -> None:
    """Copy files, folders and links; raise UsageError if they are too many. None copies nothing."""
    copy.mkdir()
    if folder is None:
        return
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder")
    files = size = 0
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        files += len(folders) + len(names)
        size += sum(os.lstat(os.path.join(place, name)).st_size for name in names)  # noqa: PTH118
        if files > MOST_FILES or size > MOST_BYTES:
            most = f"{MOST_FILES} files or {MOST_BYTES // MIB} MiB"
            raise UsageError(f"{folder} holds more than {most}: give the bot a folder of its own")
    shutil.copytree(folder, copy, symlinks=True, dirs_exist_ok=True, ignore=_uncopied)


def _uncopied(place: str, names: list[str]) -> list[str]:
    """Name what is no file, folder or link: pipes and sockets."""
    found = (Path(place, name) for name in names)
    return [
        path.name
        for path in found
        if path.name == ".git" or not (path.is_symlink() or path.is_file() or path.is_dir())
    ]


def find_program(name: str, folder: Path) -> str:
    """Return the path of a program, on PATH or in the folder; raise UsageError if there is none."""
    found = shutil.which(name) if Path(name).name == name else None
    path = Path(found) if found else folder / name
    if not path.is_file():
        raise UsageError(f"there is no program {name!r}, neither on the PATH nor in {folder}")
    return str(path.absolute())


def is_whole_program(part: str) -> bool:
    """Return whether a part of a command is the whole path of a program."""
    return os.path.isabs(part) and os.path.isfile(part) and os.access(part, os.X_OK)  # noqa: PTH113, PTH117


def installation(program: Path, folder: Path) -> Iterator[Path]:
    """Name what a program outside of the system needs of the disk: where it is installed.

    Follows links one by one, as a virtual environment is one to the Python that it was made with.
    """
    known = (*bubblewrap.SYSTEM, Path("/etc"), folder)
    while True:
        if not any(map(program.is_relative_to, known)):
            yield _prefix(program)
        if not program.is_symlink():
            return
        program = Path(os.path.normpath(program.parent / program.readlink()))


def _prefix(program: Path) -> Path:
    """Return the folder above `bin`, if it is one program's; else the program alone."""
    prefix, home = program.parent.parent, Path.home()
    shared = prefix in (Path("/"), home, home / ".local", *home.parents)
    own = program.parent.name == "bin" and (prefix / "lib").is_dir() and not shared
    return prefix if own else program


def clean_environment(home: Path, program: str, folders: str) -> dict[str, str]:
    """Return the environment of a bot, which holds nothing of ours but where programs are."""
    env = {
        "PATH": os.pathsep.join((str(Path(program).parent), folders)),
        "LANG": "C.UTF-8",
        "HOME": str(home),
        "PYTHONUNBUFFERED": "1",
    }
    if sys.platform == "win32":
        env |= {name: os.environ[name] for name in KEPT_OF_WINDOWS if name in os.environ}
        env["USERPROFILE"] = str(home)
    return env


def _moved(part: str, source: Path, inside: Path) -> str:
    """Lead a path in the bot's folder to the working copy."""
    path = Path(part)
    if path.is_absolute() and path.is_relative_to(source):
        return str(inside / path.relative_to(source))
    return part


def _network(network: bool) -> str:
    return "but THE NETWORK OF THIS MACHINE" if network else "no network"
