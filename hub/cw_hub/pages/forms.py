"""Helpers for form fields and texts: names chosen by users, ordinals, and time zones.

Names are shown to others, so a name must look like what it is: all of it is visible, in the order
in which it is written, and no two different names look the same because of invisible characters.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from cw.errors import UsageError

INVISIBLE: Final = re.compile(
    "["
    "\u034f"  # joins letters, invisible
    "\u115f\u1160\u3164\uffa0"  # fillers for missing letters of Hangul
    "\u17b4\u17b5"  # unwritten vowels of Khmer
    "\u180b-\u180f"  # select forms of Mongolian letters
    "\u2800"  # Braille without a dot
    "\ufe00-\ufe0f\U000e0100-\U000e01ef"  # select forms of the preceding character
    "]"
)
"""Invisible characters that Unicode classifies as letters, marks or symbols.

Not listed are characters that Python considers unprintable: controls, changes of the writing
direction, zero-width, unassigned and private characters.
"""

MOST_OF_ONE: Final = 20
"""NFKC expands a character to at most 18, so a much longer text need not be normalised."""

LONGEST_SLUG: Final = 32
SLUG: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")

EMPTY: Final = "a name is missing"
NOT_VISIBLE: Final = "the name contains invisible characters"


def as_shown(text: str) -> str:
    """Return a name as pages show it: in NFKC, with single spaces.

    >>> as_shown(" Ａda   Lovelace ")
    'Ada Lovelace'
    """
    return " ".join(unicodedata.normalize("NFKC", text).split())


def is_visible(name: str) -> bool:
    """Return whether a name consists only of visible characters and spaces.

    >>> is_visible("Ada Lovelace"), is_visible("Ada\\u202e"), is_visible("A\\u200bda")
    (True, False, False)
    """
    return name.isprintable() and INVISIBLE.search(name) is None


def clean_name(text: str, longest: int) -> str:
    """Return a name as pages show it; raise UsageError if it is empty, too long or not visible."""
    if len(text) > MOST_OF_ONE * longest:
        raise UsageError(f"longer than {longest} characters")
    name = as_shown(text)
    if not name:
        raise UsageError(EMPTY)
    if not is_visible(name):
        raise UsageError(NOT_VISIBLE)
    if len(name) > longest:
        raise UsageError(f"longer than {longest} characters")
    return name


def is_slug(text: str) -> bool:
    """Return whether a text is a valid slug."""
    return len(text) <= LONGEST_SLUG and SLUG.fullmatch(text) is not None


def natural_order(name: str) -> list[tuple[bool, int, str]]:
    """Return the sort key for natural order: `team 2` before `team 10`.

    >>> sorted(["team 10", "Team 2", "alpha"], key=natural_order)
    ['alpha', 'Team 2', 'team 10']
    """
    parts = re.split("([0-9]+)", unicodedata.normalize("NFKC", name.casefold()))
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]


def ordinal(number: int) -> str:
    """Return a number as an ordinal.

    >>> [ordinal(number) for number in (1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 111)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '22nd', '23rd', '111th']
    """
    is_teen = number % 100 in (11, 12, 13)
    return f"{number}{'th' if is_teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


UNKNOWN_ZONE: Final = "Please choose a time zone, such as Europe/Athens"


@lru_cache(maxsize=1)
def zone_names() -> tuple[str, ...]:
    """Return the names of the geographical time zones, sorted, and UTC."""
    return (*sorted(name for name in available_timezones() if "/" in name[1:]), "UTC")


def zone_named(name: str) -> tzinfo | None:
    """Return a time zone, or None if the name is unknown."""
    if name in ("", "UTC"):
        return UTC
    return ZoneInfo(name) if name in zone_names() else None


def moment_in(text: str, zone: str) -> datetime | None:
    """Parse an entered time, such as `2027-01-31T18:00`, to UTC; None if it is malformed.

    It is interpreted in the zone unless it has an offset of its own. A time skipped by a clock
    change is read as if the clocks had not been set forward yet; of an ambiguous time, the first is
    taken.
    """
    try:
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=zone_named(zone) or UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
