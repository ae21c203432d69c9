"""Texts that a spreadsheet takes for formulas, at whatever separator it splits a file."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Sequence

SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20"
NAMES = ("=1", "x;=HYPERLINK(1);y", "x;;=1", "x\t=1", "x,=1", 'x;"=1+1";y', '";"=1', "x; \u3000@a")
SEPARATORS = (",", ";", "\t")
COLUMNS = ("a", "b", "c")


def rows_of_names() -> list[Sequence[str]]:
    """Return rows of what people might call themselves."""
    parts = [*SIGNS, *';,\t\r\n "', "a", "'", "\u00a0"]
    drawn = ("".join(random.choices(parts, k=random.randint(1, 8))) for _ in range(3000))
    texts = [*NAMES, *drawn]
    return [texts[at : at + 3] for at in range(0, len(texts) - 2, 3)]


def formulas(file: str, separator: str) -> list[str]:
    """Return the cells of a file that are formulas where it is split at a separator."""
    text = io.StringIO(file.removeprefix("\ufeff"), newline="")
    return [
        cell
        for row in csv.reader(text, delimiter=separator)
        for cell in row
        if cell.lstrip().startswith(tuple(SIGNS))
    ]
