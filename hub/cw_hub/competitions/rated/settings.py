"""The settings of a rated competition."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from cw.errors import UsageError, choices, short
from cw.games.registry import load_game, load_protocol
from cw_hub.pages.queries import whole_number

LONGEST_REST: Final = 7 * 24 * 3600.0
"""Maximum rest between two matches of a bot, in seconds."""

MOST_MATCHES: Final = 100_000_000

NONE: Final = "none"
"""The value for an unlimited number of matches."""


@dataclass(frozen=True, slots=True)
class RatedSettings:
    """The settings of a rated competition."""

    formats: tuple[int, ...]
    """Allowed numbers of players."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The game's options."""
    same_owner: bool = False
    """Whether two bots of one owner may meet."""
    rest: float = 60.0
    """Seconds between two matches of a bot."""
    warm_up: int = 0
    """Number of matches at the beginning that ignore the rest."""
    house_plays: bool = False
    """Whether house bots play each other when no other bot can play."""
    matches: int | None = None
    """The total number of matches; None: unlimited."""


def checked(game: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings parsed from text; raise UsageError if they are invalid."""
    for name in values:
        if name not in READERS:
            raise UsageError(f"a rated competition has no {short(name)}; {choices(name, READERS)}")
    return {name: READERS[name](game, value) for name, value in values.items()}


def read_formats(game: str, value: Any) -> list[int]:
    """Parse numbers of players, such as `2,4`."""
    seats = load_game(game).rules.seats
    numbers = [whole_number(part.strip(), 2) for part in str(value).split(",")]
    if any(number not in seats for number in numbers):
        raise UsageError(
            f"formats must be numbers of players from {max(2, seats.start)} to {seats.stop - 1},"
            f" such as {max(2, seats.start)}, with commas between several, not {short(value)}"
        )
    return sorted({number for number in numbers if number is not None})


def read_options(game: str, value: Any) -> dict[str, Any]:
    """Check the game's options, which its rules must accept."""
    if not isinstance(value, dict):
        raise UsageError("options must be a JSON object, such as {}")
    rules, options = load_game(game).rules, load_protocol(game).options
    of_rules = {name: option for name, option in value.items() if name not in options}
    try:
        rules.new(max(2, rules.seats.start), 1, **of_rules)
    except UsageError as error:
        raise UsageError(f"options: {error}") from None
    return value


def read_rest(_: str, value: Any) -> float:
    """Parse a number of seconds."""
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = math.nan
    if not 0 <= seconds <= LONGEST_REST:
        raise UsageError(
            f"rest must be seconds from 0 to {LONGEST_REST:.0f}, such as 60, not {short(value)}"
        )
    return seconds


def read_matches(_: str, value: Any) -> int | None:
    """Parse the total number of matches."""
    number = whole_number(str(value), 1, MOST_MATCHES)
    if number is None and value not in (None, NONE):
        raise UsageError(
            f"matches must be a whole number from 1 to {MOST_MATCHES}, or {NONE},"
            f" not {short(value)}"
        )
    return number


def read_warm_up(_: str, value: Any) -> int:
    """Parse the number of matches without rest."""
    number = whole_number(str(value), 0, MOST_MATCHES)
    if number is None:
        raise UsageError(
            f"warm_up must be a whole number from 0 to {MOST_MATCHES}, not {short(value)}"
        )
    return number


def yes_or_no(name: str) -> Callable[[str, Any], bool]:
    """Return a parser for a boolean setting."""

    def read(_: str, value: Any) -> bool:
        if value in (True, "true"):
            return True
        if value in (False, "false"):
            return False
        raise UsageError(f"{name} must be true or false, not {short(value)}")

    return read


READERS: Final[Mapping[str, Callable[[str, Any], Any]]] = {
    "formats": read_formats,
    "options": read_options,
    "same_owner": yes_or_no("same_owner"),
    "rest": read_rest,
    "warm_up": read_warm_up,
    "house_plays": yes_or_no("house_plays"),
    "matches": read_matches,
}
"""The settings and their parsers."""
