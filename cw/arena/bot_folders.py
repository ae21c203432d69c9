"""Bot programs on disk: finding them, their interpreters, and the paths a command may name."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path, PurePath
from typing import Final

from cw.errors import UsageError, short
from cw.files import leads_out, open_folder
from cw.kits import how_to_build

CLIENT: Final = "game_ai.py"
"""File name of a Circuit Wars client program."""

BOT: Final = "bot"

INTERPRETERS: Final[Mapping[str, Sequence[str]]] = {
    ".py": (sys.executable,),
    ".js": ("node",),
    ".mjs": ("node",),
    # Without a php.ini, as in the sandbox, PHP prints errors to standard output, which is for
    # replies.
    ".php": ("php", "-d", "display_errors=stderr"),
    ".rb": ("ruby",),
    ".sh": ("bash",),
    ".java": ("java",),
}
"""The interpreter for each file extension."""

FORMS: Final = (
    " bot is builtin:NAME, python:PATH[:NAME], exec:COMMAND, the path of a program, or http://..."
)


def program_in(folder: Path, game: str, otherwise: str = "") -> Path:
    """Return the program in a bot's folder; raise UsageError unless there is exactly one.

    `otherwise` is appended to the message: how else the bot can be specified.
    """
    is_client = game == "circuit-wars"
    if is_client and (folder / CLIENT).is_file():
        return (folder / CLIENT).absolute()
    stems = (BOT, Path(CLIENT).stem) if is_client else (BOT,)
    programs = sorted(file for file in folder.iterdir() if file.is_file() and file.stem in stems)
    if len(programs) != 1:
        wanted = f"{CLIENT}, bot.py, bot.js, ..." if is_client else "bot.py, bot.js, ..."
        names = ", ".join(file.name for file in programs)
        problem = f"several programs ({names}): keep one" if names else f"no program: add {wanted}"
        raise UsageError(f"{folder} has {problem}{otherwise}")
    return programs[0].absolute()


def program(path: Path, builtins: Collection[str] = ()) -> list[str]:
    """Return the command that runs a program; raise UsageError if the path is not a program."""
    # Unlike Path.is_file, os.path.isfile accepts paths of any length.
    if not os.path.isfile(path):  # noqa: PTH113
        raise UsageError(f"there is no file {str(path)!r}; {hint(str(path), builtins)}{FORMS}")
    if advice := how_to_build(path):
        raise UsageError(f"{path} is source code: {advice}")
    interpreter = INTERPRETERS.get(path.suffix)
    if interpreter is None:
        if not os.access(path, os.X_OK):
            endings = ", ".join(INTERPRETERS)
            raise UsageError(
                f"{str(path)!r} cannot be executed and does not end in {endings};"
                " say how to run it: exec:COMMAND"
            )
        return [str(path.resolve())]
    if shutil.which(interpreter[0]) is None:
        raise UsageError(f"{path} needs {interpreter[0]}, which is not installed")
    return [*interpreter, str(path.resolve())]


def hint(spec: str, builtins: Collection[str]) -> str:
    """Return the start of FORMS ("a" or "A"), after a hint if a built-in has a similar name."""
    name = re.split("[:/]", spec)[-1].lower()
    near = [] if "." in name else get_close_matches(name, builtins, 1)
    return f"did you mean builtin:{near[0]}? A" if near else "a"


def program_of_others(folder: Path, name: str) -> list[str]:
    """Return the command that runs a file of an untrusted folder.

    Raises UsageError unless it is a runnable regular file of that folder.
    """
    refuse_outside([name])
    refuse_missing(folder, name)
    return [*program(folder / name)[:-1], name]


def refuse_outside(parts: Iterable[str]) -> None:
    """Raise UsageError if a part of a command points outside the bot's folder.

    Installed programs may be named by absolute path. Only the text is examined, so the error cannot
    reveal which files exist elsewhere.
    """
    for part in parts:
        if leads_out(part) and not is_installed_path(part):
            raise UsageError(
                f"the command names {short(part)}, which is outside the folder: use paths inside"
                " it, such as bot.py"
            )


def refuse_links(folder: Path, parts: Iterable[str]) -> None:
    """Raise UsageError if a part of a command names a file in a folder through a symbolic link."""
    for part in parts:
        if not leads_out(part) and is_behind_link(folder, part):
            raise UsageError(f"{short(part)} is behind a link: replace the link with a copy")


def is_behind_link(folder: Path, name: str) -> bool:
    """Return whether a name in a folder is a symbolic link or lies behind one."""
    place = str(folder)
    for part in PurePath(name).parts:
        place = os.path.join(place, part)  # noqa: PTH118
        # Unlike the methods of Path, these functions accept names of any length.
        if os.path.islink(place):  # noqa: PTH114
            return True
        # Stop early: a name may have thousands of parts.
        if not os.path.isdir(place):  # noqa: PTH112
            return False
    return False


def refuse_missing(folder: Path, name: str) -> None:
    """Raise UsageError unless a folder has a regular file of this name."""
    refuse_links(folder, [name])
    if not has_file(folder, name):
        raise UsageError(f"there is no file {short(name)}")


def is_installed_path(part: str) -> bool:
    """Return whether a part of a command is our Python, or the absolute path of a file on PATH.

    >>> is_installed_path("/etc/passwd")
    False
    """
    path = PurePath(part)
    if not path.is_absolute() or ".." in path.parts or "\0" in part:
        return False
    return part == sys.executable or os.path.dirname(part) in os.get_exec_path()  # noqa: PTH120


def has_file(folder: Path, name: str) -> bool:
    """Return whether a folder has a regular file of this name."""
    try:
        with open_folder(folder) as opened:
            return opened.has_file(name)
    except OSError:
        return False
