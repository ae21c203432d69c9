"""Programs that were sent to be run: unpacked, and compiled if they were not before."""

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
from cw.hub.players import compiling, packages
from cw.hub.players.messages import Built, Program
from cw.hub.players.packages import UnfitUpload

PYTHON: Final = "{python}"
"""Stands in the command of a program for the Python that runs this one."""


class Arrived(NamedTuple):
    """A program that was unpacked."""

    folder: Path
    bot: BotSpec | None
    """How it is run, with files named as in its zip; None if that follows from its files."""
    command: BotSpec | None
    """How it is run if it was compiled before."""
    problem: str
    """Why it cannot be run; "" if it can."""


class Room:
    """A folder with the programs that take part in a task; it is removed at the end of the block.

    `on_built` is called with each program that is compiled here.
    """

    def __init__(self, on_built: Callable[[Built], object]) -> None:
        """Create the folder."""
        self._on_built = on_built
        self._home = make_temporary("upload")
        self._arrived: dict[str, Arrived] = {}

    def __enter__(self) -> Self:
        """Begin the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the folder, later if need be."""
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
        """Return the bots of all programs by name; one that cannot be run is absent.

        Raises Failure if programs that a championship has sent cannot be isolated here.
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
    """Return the language from which the files of a folder have to be compiled; "" for none."""
    return packages.compiled_language([file.name for file in folder.iterdir()])


def refuse_without_sandbox() -> None:
    """Raise Failure if there is no bubblewrap: another machine may have it."""
    try:
        Sandbox("require").problem()
    except UsageError as error:
        raise Failure(str(error)) from None


def placed(bot: BotSpec, folder: Path) -> BotSpec:
    """Return a program that was sent, whose files are those of a folder of this machine.

    Raises UsageError for one that names a file elsewhere.
    """
    target = bot.target
    if bot.kind == "exec":
        target = shlex.join(sys.executable if part == PYTHON else part for part in bot.command)
    return replace(bot, target=target, folder=str(folder.resolve()))
