"""Numbers and months in addresses and forms, bounded before parsing."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from werkzeug.routing import IntegerConverter

DIGITS: Final = "[0-9]{1,9}"
"""The accepted numbers: they fit the smallest columns, 32-bit integers."""

NUMBER: Final = re.compile(DIGITS)
LARGEST: Final = 999_999_999
MONTH: Final = re.compile("(2[0-9]{3})-(0[1-9]|1[0-2])")
"""A month from 2000-01 to 2999-12; each of them has a next one."""


def whole_number(text: str, least: int = 0, most: int = LARGEST) -> int | None:
    """Parse a number of up to nine digits; None if it is anything else or out of range."""
    number = int(text) if NUMBER.fullmatch(text) else None
    return number if number is not None and least <= number <= most else None


def first_of_month(text: str) -> date | None:
    """Parse a month such as `2026-11` to its first day; None for any other text."""
    month = MONTH.fullmatch(text)
    return date(int(month[1]), int(month[2]), 1) if month else None


class ShortInteger(IntegerConverter):
    """A number of at most nine digits in an address, as in forms."""

    regex = DIGITS
