"""The numbers of a bot to tune, as described in a TOML file."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from cw.arena.bot_settings import OWN_SETTING, SETTINGS
from cw.documents.toml import read_toml
from cw.errors import UsageError, short
from cw.league.statistics.spsa import Tunable

LARGEST: Final = 64 * 1024
"""Maximum bytes of a file."""

MOST: Final = 50
"""Most numbers tuned together."""

LARGEST_NUMBER: Final = 2**53

FIELDS: Final = ("start", "low", "high", "step")

EXAMPLE: Final = "[depth]\nstart = 4\nlow = 1\nhigh = 9\nstep = 2"
"""An example of a file."""


def read_parameters(file: Path) -> tuple[Tunable, ...]:
    """Read the numbers in a file; raise UsageError with the problem and its place."""
    tables = read_toml(file, LARGEST)
    try:
        return parameters(tables)
    except ValueError as error:
        raise UsageError(f"{file}: {error}") from None


def parameters(tables: dict[str, Any]) -> tuple[Tunable, ...]:
    """Return the numbers in the tables of a file; raise ValueError for an invalid one.

    >>> from cw.documents.toml import parse_toml
    >>> [each.whole for each in parameters(parse_toml(EXAMPLE.encode(), LARGEST))]
    [True]
    """
    if not 1 <= len(tables) <= MOST:
        raise ValueError(
            f"1 to {MOST} numbers can be tuned, each in a table like this one:\n{EXAMPLE}"
        )
    return tuple(parameter(name, table) for name, table in tables.items())


def parameter(name: str, table: Any) -> Tunable:
    """Return a number; it is whole if all its values are written without a point."""
    if not OWN_SETTING.fullmatch(name) or name in SETTINGS:
        raise ValueError(
            f"{short(name)} cannot be the name of a number: use up to 40 lower-case letters, digits"
            f" and _, a letter first, and none of {', '.join(SETTINGS)}"
        )
    if not isinstance(table, dict) or set(table) != set(FIELDS):
        raise ValueError(f"[{name}] needs {', '.join(FIELDS)}, and nothing else")
    for key in FIELDS:
        value = table[key]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"{key} of [{name}] is not a number: {short(value)}")
        if not -LARGEST_NUMBER <= value <= LARGEST_NUMBER:
            raise ValueError(f"{key} of [{name}] is too large: {short(value)}")
    start, low, high, step = (float(table[key]) for key in FIELDS)
    number = Tunable(name, start, low, high, step, is_whole(table))
    if not number.low <= number.start <= number.high:
        raise ValueError(f"start of [{name}] must be from low to high")
    if not 0 < number.step <= number.high - number.low:
        raise ValueError(f"step of [{name}] must be above 0 and at most high - low")
    return number


def is_whole(table: dict[str, Any]) -> bool:
    """Return whether a number has only whole values."""
    return all(isinstance(table[key], int) for key in FIELDS)


def as_setting(number: Tunable, value: float) -> str:
    """Return a value as a setting of the bot.

    >>> as_setting(Tunable("depth", 4, 1, 9, 2, whole=True), 7.0)
    '7'
    """
    return str(round(value)) if number.whole else f"{value:.6g}"
