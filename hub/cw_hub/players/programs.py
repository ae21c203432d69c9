"""Received programs: unpacked, and compiled if necessary."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, Self

from msgspec.structs import replace

from cw.arena.bots import BotSpec
from cw.arena.sandbox import Sandbox
from cw.arena.sandbox.owners import make_temporary
from cw.arena.sandbox.removal import remove_later, remove_tree
from cw.errors import Failure, UsageError
from cw_hub.players import compiling, packages
from cw_hub.players.messages import Built, Program
from cw_hub.players.packages import UnfitUpload

PYTHON: Final = "{python}"
"""Placeholder, in the command of a program, for the Python that runs this process."""


class Arrived(NamedTuple):
    """An unpacked program."""

    folder: Path
    bot: BotSpec | None
    """How it is run, with files named as in its zip; None to derive it from its files."""
    command: BotSpec | None
    """How it is run, if it was compiled before."""
    problem: str
    """Why it cannot be run, or ""."""


class Room:
    """A folder with the programs that take part in a task, removed at the end of the block.

    `on_built` is called with each program compiled here.
    """

    def __init__(self, on_built: Callable[[Built], object]) -> None:
        """Create the folder."""
        self._on_built = on_built
        self._home = make_temporary("upload")
        self._arrived: dict[str, Arrived] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the folder, later if necessary."""
        remove_later(partial(remove_tree, self._home))

    def folder(self, name: str) -> Path:
        """Return the folder of a program that was added."""
        return self._arrived[name].folder

    def add(self, program: Program) -> None:
        """Unpack a program into a folder of its own."""
        folder = self._home / str(len(self._arrived))
        folder.mkdir()
        command, problem = None, ""
        try:
            if program.source:
                packages.unpack(program.source, folder, program.bounds)
            language = language_in(folder)
            if program.built is not None and language:
                command = compiling.place_built(folder, language, program.built)
        except UnfitUpload as error:
            problem = str(error)
        self._arrived[program.name] = Arrived(folder, program.bot, command, problem)

    def bots(self, game: str) -> dict[str, BotSpec]:
        """Return the bots of all programs by name; those that cannot be run are absent.

        Raises Failure if programs sent by a championship cannot be sandboxed here.
        """
        return {name: self.bot(name, game) for name in self._arrived}

    def has(self, name: str) -> bool:
        """Return whether a program was added."""
        return name in self._arrived

    def bot(self, name: str, game: str) -> BotSpec:
        """Return the bot of one program, as `bots` does."""
        arrived = self._arrived[name]
        if arrived.bot is not None:
            refuse_without_sandbox()
            return placed(arrived.bot, arrived.folder)
        if arrived.problem:
            return BotSpec(name, "absent", arrived.problem)
        try:
            bot = arrived.command or self._runnable(name, arrived.folder, game)
        except UnfitUpload as error:
            return BotSpec(name, "absent", str(error))
        return replace(bot, name=name, settings={**bot.settings, "username": name})

    def _runnable(self, name: str, folder: Path, game: str) -> BotSpec:
        language = language_in(folder)
        if not language:
            return packages.program_in(folder, game)
        build = compiling.compiled(folder, language)
        bot = compiling.place_built(folder, language, build.data)
        self._on_built(Built(name, build.data, build.warnings))
        return bot


def language_in(folder: Path) -> str:
    """Return the language that a folder has to be compiled from; "" if it runs as it is."""
    return packages.compiled_language([file.name for file in folder.iterdir()])


def refuse_without_sandbox() -> None:
    """Raise Failure if bubblewrap is missing here, as another machine may have it."""
    try:
        Sandbox("require").problem()
    except UsageError as error:
        raise Failure(str(error)) from None


def placed(bot: BotSpec, folder: Path) -> BotSpec:
    """Return a received program with the files in a folder of this machine.

    Raises UsageError if it names a file elsewhere.
    """
    target = bot.target
    if bot.kind == "exec":
        target = shlex.join(sys.executable if part == PYTHON else part for part in bot.command)
    return replace(bot, target=target, folder=str(folder.resolve()))
