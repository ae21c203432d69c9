"""Texts for cells of CSV files, which spreadsheets open."""

from __future__ import annotations

import re
from typing import Any, Final

CELL: Final = re.compile(r'((?:^|[;,\t\r\n])[;,\s"]*)([=+\-@\uff1d\uff0b\uff0d\uff20]?)')
"""What may precede a cell, and the character that would make it a formula, full-width or not.

Any separator in a text may begin a cell: spreadsheets use their country's, often a semicolon, or
several at once.
"""


def harmless(value: Any) -> Any:
    """Return a value in which a spreadsheet finds no formula, whatever its cell separator.

    >>> [harmless(value) for value in ("=1+1", "x; =1+1", "x - 1; y", -1)]
    ["'=1+1", "x; '=1+1", 'x - 1; y', -1]
    """
    if not isinstance(value, str):
        return value
    return CELL.sub(lambda cell: f"{cell[1]}'{cell[2]}" if cell[2] else cell[0], value)
