"""The sandbox: starts bot programs limited and isolated, in a copy of their folder."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final, Literal, TypeAlias

from cw.arena.sandbox import bubblewrap
from cw.arena.sandbox.bubblewrap import (
    find_program,
    installations,
    is_whole_program,
    passed_through,
)
from cw.arena.sandbox.cgroups import Share, make_temporary, open_share, sweep_once
from cw.arena.sandbox.folders import NO_FILES, Contents, Entry, contents, remove_later, remove_tree
from cw.arena.sandbox.reached_limits import UNBOUND, Bounds
from cw.arena.sandbox.set_limits import ResourceLimits, limited, own_tasks
from cw.arena.transports.sockets import bound_unix
from cw.errors import UnfitProgram, UsageError

Policy: TypeAlias = Literal["auto", "require", "off"]

VARIABLES_OF_WINDOWS: Final = ("SYSTEMROOT", "PATHEXT", "TEMP", "TMP")
BUBBLEWRAP: Final = "bubblewrap"
"""Prefix of the message on a program's protection if the program is isolated."""

FEW: Final = 64
"""Maximum processes of a bot if nothing else prevents it from taking all of the CPU."""

BLOCK: Final = 4096
"""Bytes of a disk block, which even the smallest file occupies."""

BACKLOG: Final = 16
ABOVE_PIPES: Final = 10
"""Lowest descriptor for an inherited socket, as shells use the lower ones for redirections."""

FORWARDER: Final = Path(__file__).parents[1] / "forwarder.py"


@dataclass(frozen=True, slots=True)
class Source:
    """The files that a program gets a copy of."""

    folder: Path | None = None
    """Its working folder; None for an empty one."""
    only: tuple[Path, ...] = ()
    """The only files of the folder that it gets; if empty, all but hidden ones."""
    without: frozenset[Path] = frozenset()
    """Files and folders that it does not get."""
    of_others: bool = False
    """Whether the folder is untrusted: nothing in it is used outside the copy."""


@dataclass(frozen=True, slots=True)
class ProgramNeeds:
    """What a program needs in addition to its command."""

    settings: Mapping[str, str] = field(default_factory=dict)
    """Additional environment variables."""
    readable: Sequence[Path] = ()
    """Additional folders and files that it may read."""
    server: Path | None = None
    """The Unix socket of the server that it reaches at 127.0.0.1:5000 in its own network."""
    serves: bool = False
    """Whether it listens on ports of its own network, which we must reach."""


EMPTY: Final = Source()
PLAIN: Final = ProgramNeeds()


@dataclass(frozen=True, slots=True)
class Launch:
    """Everything needed to start a program, and a message on how we are protected from it."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    """The whole environment."""
    cwd: Path
    protection: str
    inherited: tuple[socket.socket, ...] = ()
    """The sockets that the program inherits; close our copies once it is running."""
    bounds: Bounds = UNBOUND
    tunnel: Path | None = None
    """The Unix socket through which its ports are reached; None if they are on our network."""

    @property
    def pass_fds(self) -> tuple[int, ...]:
        """The file descriptors that the program inherits."""
        return tuple(inherited.fileno() for inherited in self.inherited)


@dataclass(frozen=True, slots=True)
class Sandbox:
    """Starts bot programs with as much protection as the policy requires.

    `auto` uses bubblewrap where it works, `require` refuses to run without it, `off` never uses it.
    Limits, a clean environment and a working copy apply in any case; bounds for all processes of a
    bot together apply where the host lets us create control groups.
    """

    policy: Policy = "auto"
    limits: ResourceLimits = field(default_factory=ResourceLimits)

    def problem(self) -> str | None:
        """Return why bubblewrap is not used, or None if it is; raise UsageError if required."""
        if self.policy == "off":
            return "the sandbox is switched off"
        problem = bubblewrap.problem()
        if problem and self.policy == "require":
            raise UsageError(f"no bot is started without a sandbox: {problem}")
        return problem

    @contextmanager
    def prepare(
        self, command: Sequence[str], source: Source = EMPTY, needs: ProgramNeeds = PLAIN
    ) -> Iterator[Launch]:
        """Yield the launch of `command` in a copy of its source, which is removed afterwards.

        Paths in the command to copied files are mapped to the copy. The environment holds PATH,
        LANG, HOME, PYTHONUNBUFFERED, PYTHONFAULTHANDLER and the settings that it needs. With
        bubblewrap, programs that the command names by absolute path can be run wherever they are
        installed.

        Raises UnfitProgram if a program is not found or a folder cannot be copied, UsageError for a
        policy that cannot be enforced, and Failure if no temporary folder can be created.
        """
        missing = self.problem()
        sweep_once()
        place = (source.folder or Path.cwd()).absolute()
        program = find_program(command[0], place)
        folder = contents(place, source.only, source.without) if source.folder else NO_FILES
        with ExitStack() as stack:
            home = make_temporary("bot")
            stack.callback(remove_later, partial(remove_tree, home))
            share = open_share(self.limits)
            stack.callback(remove_later, share.remove)
            inside = home / "bot" if missing else bubblewrap.INSIDE
            with folder as files:
                argv = moved([str(program), *command[1:]], place, files.entries, inside)
                if source.of_others:
                    refuse_left_behind(argv, place)
                folders = os.environ.get("PATH", os.defpath) if missing else bubblewrap.PATH
                env = clean_environment(inside, argv[0], folders) | dict(needs.settings)
                preparation = _Preparation(argv, env, home, files, share, self.limits)
                launch = preparation.bare(missing) if missing else preparation.boxed(needs, stack)
            yield launch


@dataclass(frozen=True, slots=True)
class _Preparation:
    """A program with its limits, before isolation."""

    argv: Sequence[str]
    env: Mapping[str, str]
    home: Path
    """A folder that we own and remove with everything in it."""
    files: Contents
    share: Share
    limits: ResourceLimits

    def boxed(self, needs: ProgramNeeds, stack: ExitStack) -> Launch:
        """Return the launch in bubblewrap."""
        archive = self.home / bubblewrap.ARCHIVE
        self.files.pack(archive)
        tunnel = self.home / "tunnel" if needs.serves else None
        inherited = (stack.enter_context(_listening(tunnel)),) if tunnel else ()
        limited_command, bounds = self._limited()
        command = [*_forwarder(needs.server, inherited), *limited_command]
        programs = [Path(part) for part in command if is_whole_program(part)]
        files = [archive, FORWARDER, *([needs.server] if needs.server else [])]
        size = sum(-(-entry.size // BLOCK) * BLOCK for entry in self.files.entries)
        readable = [*installations(programs), *needs.readable]
        passed = passed_through([*programs, Path(sys.executable)])
        walls = bubblewrap.wrap(command, bubblewrap.Box(self.home, readable, files, size, passed))
        protection = f"{BUBBLEWRAP}: files, processes and network of its own; {bounds}"
        return Launch(
            self._joined(walls), self.env, self.home, protection, inherited, self._bounds(), tunnel
        )

    def bare(self, missing: str) -> Launch:
        """Return the launch without bubblewrap."""
        folder = self.home / "bot"
        folder.mkdir()
        self.files.copy(folder)
        # The system counts all processes of a user, so those already running are added.
        command, bounds = self._limited(own_tasks())
        walls = f"LIMITS ONLY, it can read your files and use your network ({missing})"
        unheld = bubblewrap.is_root() and "pids" not in self.share.controllers
        free = "; AS ROOT its number of processes is not limited" if unheld else ""
        return Launch(
            self._joined(command),
            self.env,
            folder,
            f"{walls}; {bounds}{free}",
            bounds=self._bounds(),
        )

    def _bounds(self) -> Bounds:
        return Bounds(self.limits, self.share)

    def _limited(self, others: int = 0) -> tuple[list[str], str]:
        """Return the command with its limits, and the part of the message about them."""
        fair = "cpu" in self.share.controllers
        most = self.limits.processes if fair else min(self.limits.processes, FEW)
        command, bounds = limited(replace(self.limits, processes=most), self.argv, others)
        return command, f"{bounds}; {self.share.describe(self.limits)}"

    def _joined(self, command: Sequence[str]) -> tuple[str, ...]:
        """Return the command, run in the bot's control groups or else at lower CPU priority."""
        return (*self.share.joining(), *command)


def moved(argv: Sequence[str], folder: Path, entries: Sequence[Entry], inside: Path) -> list[str]:
    """Return a command with the paths of copied files mapped to the copy."""
    copied = {folder / entry.name: inside / entry.name for entry in entries} | {folder: inside}
    return [str(copied.get(Path(part), part)) for part in argv]


def refuse_left_behind(argv: Sequence[str], folder: Path) -> None:
    """Raise UnfitProgram if a command names a file of the folder that was not copied.

    A program among them would otherwise be visible at its original path, with everything installed
    next to it.
    """
    for part in argv:
        if Path(part).is_relative_to(folder):
            name = Path(part).relative_to(folder)
            raise UnfitProgram(
                f"the bot cannot see {str(name)!r}: hidden files, virtual environments and links"
                " are not copied"
            )


def _forwarder(server: Path | None, inherited: Sequence[socket.socket]) -> list[str]:
    """Return the prefix that runs the forwarder, which then execs the program."""
    python = [sys.executable, "-I", "-S", str(bubblewrap.FILES_INSIDE / FORWARDER.name)]
    if server:
        return [*python, "out", str(bubblewrap.FILES_INSIDE / server.name)]
    return [*python, "in", str(inherited[0].fileno())] if inherited else []


def _listening(path: Path) -> socket.socket:
    """Listen on an inheritable Unix socket, with a descriptor above those of the pipes."""
    listener = bound_unix(path)
    listener.listen(BACKLOG)
    with ExitStack() as low:
        while listener.fileno() < ABOVE_PIPES:
            listener = low.enter_context(listener).dup()
    return listener


def clean_environment(home: Path, program: str, folders: str) -> dict[str, str]:
    """Return a bot's environment; from ours it takes only what is needed to find programs."""
    env = {
        "PATH": os.pathsep.join((str(Path(program).parent), folders)),
        "LANG": "C.UTF-8",
        "HOME": str(home),
        "PYTHONUNBUFFERED": "1",
        # Makes Python print the line at which a library, or too deep a recursion, causes a signal.
        "PYTHONFAULTHANDLER": "1",
    }
    if sys.platform == "win32":
        env |= {name: os.environ[name] for name in VARIABLES_OF_WINDOWS if name in os.environ}
        env["USERPROFILE"] = str(home)
        # On other systems LANG has this effect; without it Python writes in the system's code page.
        env["PYTHONUTF8"] = "1"
    return env
