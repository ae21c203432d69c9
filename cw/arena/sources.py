"""Which files a program gets a copy of: those in its folder that belong to no other bot."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from cw.arena.bot_folders import has_file
from cw.arena.bots import BotSpec
from cw.arena.sandbox import Source
from cw.arena.sandbox.owners import temporary_folder

ROOT: Final = Path(__file__).resolve().parents[2]
"""The root of the package: a checkout, or Python's folder of installed packages."""


def source_of(bot: BotSpec, others: Sequence[BotSpec] = ()) -> Source:
    """Return what a bot's program gets: its folder, except what belongs to the `others`.

    That is the files that their commands name, and their folders if they are inside it. Some
    folders belong to no bot: if its folder is, or contains, the home folder, the temporary folder
    or this package, a bot gets only the files that its command names.
    """
    folder = program_folder(bot)
    if folder is None:
        return Source()
    files = tuple(named_files(bot, folder))
    nobodys = (Path.home(), temporary_folder(), ROOT)
    if any(place.resolve().is_relative_to(folder) for place in nobodys):
        return Source(folder, only=files, of_others=bool(bot.folder))
    foreign = {path for other in others for path in _belongings(other, folder)}
    return Source(folder, without=frozenset(foreign - set(files)), of_others=bool(bot.folder))


def _belongings(bot: BotSpec, folder: Path) -> Iterator[Path]:
    """Yield what belongs to another bot within a folder."""
    other = program_folder(bot)
    if other is not None and other != folder and other.is_relative_to(folder):
        yield other
    yield from named_files(bot, folder)


def program_folder(bot: BotSpec) -> Path | None:
    """Return the folder of a bot's program; None if it is not a program, or names no file.

    An untrusted program's folder is the one that was uploaded with it. Otherwise it is the folder
    of the first file that the command names. Programs on the search path and in virtual
    environments do not count; those in any folder `bin`, and the command itself, only if there is
    nothing else.
    """
    if bot.folder:
        return Path(bot.folder)
    named_paths = map(Path, named(bot))
    files = [file for file in named_paths if not on_search_path(file) and not is_installed(file)]
    programs = [file for file in files if file.absolute().parent.name != "bin"] or files
    return programs[0].resolve().parent if programs else None


def named(bot: BotSpec) -> list[str]:
    """Return the files that a bot names, the program of its command last."""
    if bot.folder:
        folder = Path(bot.folder)
        return [str(folder / part) for part in bot.files_or_words if has_file(folder, part)]
    if bot.kind == "python":
        return bot.files_or_words
    program, *arguments = bot.files_or_words or [""]
    # Unlike Path.is_file, it accepts arguments of any length.
    return [part for part in (*arguments, program) if os.path.isfile(part)]  # noqa: PTH113


def named_files(bot: BotSpec, folder: Path) -> Iterator[Path]:
    """Yield the absolute paths of the files in a folder that a bot names."""
    for file in map(Path, named(bot)):
        if file.resolve().is_relative_to(folder):
            yield file.resolve()


def is_installed(file: Path) -> bool:
    """Return whether a file is in our own Python installation or any virtual environment."""
    prefix = file.absolute().parent.parent
    return prefix in map(Path, (sys.prefix, sys.base_prefix)) or (prefix / "pyvenv.cfg").is_file()


def on_search_path(file: Path) -> bool:
    """Return whether a file is a program in a folder of PATH."""
    folders = [Path(folder).resolve() for folder in os.get_exec_path()]
    return os.access(file, os.X_OK) and file.parent.resolve() in folders


def anchored(part: str, source: Source) -> str:
    """Return the absolute path of a file in the bot's folder that a part of its command names.

    Untrusted bots name files relative to their folder, users relative to our working directory. The
    bot runs in a copy of its folder, where the relative path would mean something else.
    """
    if source.folder is None:
        return part
    if source.of_others:
        return str(source.folder / part) if has_file(source.folder, part) else part
    # Unlike Path.is_file, it accepts arguments of any length.
    if Path(part).name == part or not os.path.isfile(part):  # noqa: PTH113
        return part
    file = Path(part).resolve()
    return str(file) if file.is_relative_to(source.folder) else part
