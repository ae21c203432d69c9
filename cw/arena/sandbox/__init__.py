"""How the program of a bot is started: in a copy of its folder, limited and isolated."""

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
from cw.arena.sandbox.bounds import UNBOUND, Bounds
from cw.arena.sandbox.folders import NO_FILES, Contents, Entry, contents
from cw.arena.sandbox.installation import (
    find_program,
    installations,
    is_whole_program,
    passed_through,
)
from cw.arena.sandbox.leftovers import sweep_once
from cw.arena.sandbox.limits import ResourceLimits, limited, own_tasks
from cw.arena.sandbox.owners import make_temporary
from cw.arena.sandbox.removal import remove_later, remove_tree
from cw.arena.sandbox.shares import Share, open_share
from cw.arena.transports.sockets import bound_unix
from cw.errors import UnfitProgram, UsageError

Policy: TypeAlias = Literal["auto", "require", "off"]

VARIABLES_OF_WINDOWS: Final = ("SYSTEMROOT", "PATHEXT", "TEMP", "TMP")
WALLED: Final = "bubblewrap"
"""How the sentence begins that says how we are protected from a program, if it is by walls."""

FEW: Final = 64
"""Processes of a bot where nothing else keeps it from taking all of the CPU."""

BLOCK: Final = 4096
"""Bytes that are taken at once, by the smallest file too."""

BACKLOG: Final = 16
ABOVE_PIPES: Final = 10
"""The first number of a socket that is inherited: shells use those below for what they redirect."""

FORWARDER: Final = Path(__file__).parents[1] / "forwarder.py"


@dataclass(frozen=True, slots=True)
class Source:
    """What a program is given a copy of."""

    folder: Path | None = None
    """The folder it works in; None for an empty one."""
    only: tuple[Path, ...] = ()
    """The only files of the folder that it is given; none stands for all but hidden ones."""
    without: frozenset[Path] = frozenset()
    """Files and folders that it is not given."""
    of_others: bool = False
    """Whether others have written the folder: nothing of it is used but in the copy."""


@dataclass(frozen=True, slots=True)
class ProgramNeeds:
    """What a program needs beside its command."""

    settings: Mapping[str, str] = field(default_factory=dict)
    """Further variables of its environment."""
    readable: Sequence[Path] = ()
    """Further folders and files that it may read."""
    server: Path | None = None
    """The Unix socket of the server that it finds on 127.0.0.1:5000 of its own network."""
    serves: bool = False
    """Whether it serves on ports of its own network, and must be reached there."""


EMPTY: Final = Source()
PLAIN: Final = ProgramNeeds()


@dataclass(frozen=True, slots=True)
class Launch:
    """All that is needed to start a program, and a sentence on how we are protected from it."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    """The whole environment."""
    cwd: Path
    protection: str
    inherited: tuple[socket.socket, ...] = ()
    """The sockets that the program must inherit, to be closed here once it runs."""
    bounds: Bounds = UNBOUND
    tunnel: Path | None = None
    """The Unix socket through which its ports are reached; None where they are ours."""

    @property
    def pass_fds(self) -> tuple[int, ...]:
        """The numbers of what the program must inherit."""
        return tuple(inherited.fileno() for inherited in self.inherited)


@dataclass(frozen=True, slots=True)
class Sandbox:
    """Starts programs of bots with as much protection as the policy asks for.

    `auto` takes bubblewrap where it works, `require` refuses to go on without it, `off` does
    without. Limits, a clean environment and a working copy are there in any case; bounds for all
    processes of a bot together are there where this machine lets us make control groups.
    """

    policy: Policy = "auto"
    limits: ResourceLimits = field(default_factory=ResourceLimits)

    def problem(self) -> str | None:
        """Return why there is no bubblewrap, None if it is used; raise UsageError if it must be."""
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
        """Return what starts `command` in a copy of its source, which is removed at the end.

        Paths in the command to what is copied lead to the copy. The environment holds PATH, LANG,
        HOME, PYTHONUNBUFFERED, PYTHONFAULTHANDLER and the settings that it needs. With bubblewrap,
        programs that the command names by their whole paths can be run wherever they are installed.

        Raises UnfitProgram for a program that is not found and a folder that cannot be copied, and
        UsageError for a policy that cannot be kept; Failure if no temporary folder can be made.
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
    """A program with its limits, before it is isolated."""

    argv: Sequence[str]
    env: Mapping[str, str]
    home: Path
    """A folder of ours that is removed with all that is in it."""
    files: Contents
    share: Share
    limits: ResourceLimits

    def boxed(self, needs: ProgramNeeds, stack: ExitStack) -> Launch:
        """Return what starts it in bubblewrap."""
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
        protection = f"{WALLED}: files, processes and network of its own; {bounds}"
        return Launch(
            self._joined(walls), self.env, self.home, protection, inherited, self._bounds(), tunnel
        )

    def bare(self, missing: str) -> Launch:
        """Return what starts it without bubblewrap."""
        folder = self.home / "bot"
        folder.mkdir()
        self.files.copy(folder)
        # The system counts all processes of a user, so those that run already are added.
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
        """Return the bounds of the program."""
        return Bounds(self.limits, self.share)

    def _limited(self, others: int = 0) -> tuple[list[str], str]:
        """Return the command under limits, and the sentence's end about them."""
        fair = "cpu" in self.share.controllers
        most = self.limits.processes if fair else min(self.limits.processes, FEW)
        command, bounds = limited(replace(self.limits, processes=most), self.argv, others)
        return command, f"{bounds}; {self.share.describe(self.limits)}"

    def _joined(self, command: Sequence[str]) -> tuple[str, ...]:
        """Return the command as part of the bot's control groups, or else behind all others."""
        return (*self.share.joining(), *command)


def moved(argv: Sequence[str], folder: Path, entries: Sequence[Entry], inside: Path) -> list[str]:
    """Return a command in which the paths of what is copied lead to the copy."""
    copied = {folder / entry.name: inside / entry.name for entry in entries} | {folder: inside}
    return [str(copied.get(Path(part), part)) for part in argv]


def refuse_left_behind(argv: Sequence[str], folder: Path) -> None:
    """Raise UnfitProgram for a command that names a file of a folder that is not in the copy.

    A program among them would otherwise be shown where it is, with all that is installed beside it.
    """
    for part in argv:
        if Path(part).is_relative_to(folder):
            name = Path(part).relative_to(folder)
            raise UnfitProgram(
                f"the bot cannot see {str(name)!r}: hidden files, virtual environments and links"
                " are not copied"
            )


def _forwarder(server: Path | None, inherited: Sequence[socket.socket]) -> list[str]:
    """Return what opens the ways out and in before it becomes the program."""
    python = [sys.executable, "-I", "-S", str(bubblewrap.FILES_INSIDE / FORWARDER.name)]
    if server:
        return [*python, "out", str(bubblewrap.FILES_INSIDE / server.name)]
    return [*python, "in", str(inherited[0].fileno())] if inherited else []


def _listening(path: Path) -> socket.socket:
    """Listen on a Unix socket that can be inherited; its number is above those of the pipes."""
    listener = bound_unix(path)
    listener.listen(BACKLOG)
    with ExitStack() as low:
        while listener.fileno() < ABOVE_PIPES:
            listener = low.enter_context(listener).dup()
    return listener


def clean_environment(home: Path, program: str, folders: str) -> dict[str, str]:
    """Return the environment of a bot, which holds nothing of ours but where programs are."""
    env = {
        "PATH": os.pathsep.join((str(Path(program).parent), folders)),
        "LANG": "C.UTF-8",
        "HOME": str(home),
        "PYTHONUNBUFFERED": "1",
        # So that it names the line where a library, or too deep a recursion, ends it by a signal.
        "PYTHONFAULTHANDLER": "1",
    }
    if sys.platform == "win32":
        env |= {name: os.environ[name] for name in VARIABLES_OF_WINDOWS if name in os.environ}
        env["USERPROFILE"] = str(home)
        # LANG says it elsewhere: otherwise Python writes in the code page of the system.
        env["PYTHONUTF8"] = "1"
    return env
