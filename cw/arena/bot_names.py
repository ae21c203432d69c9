"""Names for bots that were given none: named after what they are, numbered where equal."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import dropwhile
from pathlib import PureWindowsPath
from typing import Final
from urllib.parse import urlsplit

LONGEST_NAME: Final = 64
UNFIT: Final = re.compile(r"[^A-Za-z0-9_.-]+")
"""Signs that names of bots do not hold."""

UNFIT_IN_ADDRESSES: Final = re.compile(r"[^A-Za-z0-9_.:\[\]-]+")
"""Signs that names of web services do not hold."""

SETS_VARIABLES: Final = re.compile(r"(.*/)?env|\w+=.*", re.DOTALL)
"""What stands before a program to give it variables of the environment."""

PROGRAMS: Final = frozenset({".py", ".js", ".mjs", ".php", ".rb", ".sh", ".java", ".jar"})
"""Endings of files that other programs run."""


def fitting(name: str, *, address: bool = False) -> str:
    """Return a name with only the characters that names may have, at most 64 of them."""
    unfit = UNFIT_IN_ADDRESSES if address else UNFIT
    return unfit.sub("-", name)[:LONGEST_NAME].strip("-.") or "bot"


def named_after_file(path: str) -> str:
    """Return the name of a file without its folders."""
    # It takes both kinds of slashes.
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
    """Return the names, with a number behind those that several bear or that are reserved.

    No two of the result are equal, and none is among `reserved`.

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
    """Return the name with this number behind it, or the next one that nobody uses."""
    while (free := with_number(name, number)) in used:
        number += 1
    return free


def with_number(name: str, number: int) -> str:
    """Return a name with a number behind it, no longer than names may be."""
    suffix = f"-{number}"
    return f"{name[: LONGEST_NAME - len(suffix)]}{suffix}"
