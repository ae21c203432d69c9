"""Default names for bots: taken from what they run, numbered where equal."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import dropwhile
from pathlib import PureWindowsPath
from typing import Final
from urllib.parse import urlsplit

LONGEST_NAME: Final = 64
UNFIT: Final = re.compile(r"[^A-Za-z0-9_.-]+")
"""Characters not allowed in bot names."""

UNFIT_IN_ADDRESSES: Final = re.compile(r"[^A-Za-z0-9_.:\[\]-]+")
"""Characters not allowed in the names of web services."""

SETS_VARIABLES: Final = re.compile(r"(.*/)?env|\w+=.*", re.DOTALL)
"""Words before a program that set environment variables for it."""

PROGRAMS: Final = frozenset({".py", ".js", ".mjs", ".php", ".rb", ".sh", ".java", ".jar"})
"""Extensions of files that an interpreter runs."""


def fitting(name: str, *, address: bool = False) -> str:
    """Return a name reduced to allowed characters, at most 64 of them."""
    unfit = UNFIT_IN_ADDRESSES if address else UNFIT
    return unfit.sub("-", name)[:LONGEST_NAME].strip("-.") or "bot"


def named_after_file(path: str) -> str:
    """Return the name of a file without its folders."""
    # It accepts both kinds of slashes.
    return PureWindowsPath(path).name


def named_after_command(command: Sequence[str]) -> str:
    """Return the name of the program that a command runs: `bot.js` for `node bot.js`."""
    files = [part for part in command if PureWindowsPath(part).suffix in PROGRAMS]
    programs = dropwhile(SETS_VARIABLES.fullmatch, command)
    return named_after_file(files[0] if files else next(programs, command[0]))


def named_after_address(address: str) -> str:
    """Return the host and the port of an address."""
    return urlsplit(address).netloc


def numbered(names: Sequence[str], reserved: Collection[str] = ()) -> list[str]:
    """Return the names, numbered where several are equal or one is reserved.

    The result has no duplicates and nothing from `reserved`.

    >>> numbered(["greedy", "greedy", "bot.py"], reserved=["bot.py"])
    ['greedy-1', 'greedy-2', 'bot.py-2']
    """
    unique: list[str] = []
    for position, name in enumerate(names):
        if names.count(name) == 1 and name not in reserved:
            unique.append(name)
        else:
            used = {*reserved, *names, *unique}
            first = names[:position].count(name) + 1 + (name in reserved)
            unique.append(free_name(name, first, used))
    return unique


def free_name(name: str, number: int, used: Collection[str]) -> str:
    """Return the name with this number appended, or with the next number that is unused."""
    while (free := with_number(name, number)) in used:
        number += 1
    return free


def with_number(name: str, number: int) -> str:
    """Return a name with a number appended, cut to the maximum length of names."""
    suffix = f"-{number}"
    return f"{name[: LONGEST_NAME - len(suffix)]}{suffix}"
