"""Numbers and months of addresses and forms: bounded before they are read."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from werkzeug.routing import IntegerConverter

DIGITS: Final = "[0-9]{1,9}"
"""The numbers that anybody may ask for: integers of 32 bits, the smallest columns, take them."""

NUMBER: Final = re.compile(DIGITS)
LARGEST: Final = 999_999_999
MONTH: Final = re.compile("(2[0-9]{3})-(0[1-9]|1[0-2])")
"""A month from 2000-01 to 2999-12: from each of them there is a next one."""


def whole_number(text: str, least: int = 0, most: int = LARGEST) -> int | None:
    """Return the number that up to nine digits write; None for others, and out of the range."""
    number = int(text) if NUMBER.fullmatch(text) else None
    return number if number is not None and least <= number <= most else None


def first_of_month(text: str) -> date | None:
    """Return the first day of a month such as `2026-11`; None for any other text."""
    month = MONTH.fullmatch(text)
    return date(int(month[1]), int(month[2]), 1) if month else None


class ShortInteger(IntegerConverter):
    """A number in the path of an address: of at most nine digits, as in forms."""

    regex = DIGITS
