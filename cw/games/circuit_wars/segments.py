"""Segments and their names (rule book, "Terms" and "Squares as numbers")."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

from cw.errors import IllegalAction

BORDERS: Final = MappingProxyType({"top": 1, "right": 2, "bottom": 4, "left": 8})
"""The bit of each border in the low four bits of a square."""

OWNED: Final = MappingProxyType({1: 16, 2: 32})
"""The ownership bit of each player."""

ACROSS: Final = MappingProxyType(
    {
        "top": (0, -1, "bottom"),
        "right": (1, 0, "left"),
        "bottom": (0, 1, "top"),
        "left": (-1, 0, "right"),
    }
)
"""Border -> dx, dy of the square on its other side, and its name from there."""

MOVE_PATTERN: Final = re.compile(r"([0-9]{1,3}),([0-9]{1,3}),(top|right|bottom|left)")


class Move(NamedTuple):
    """A name of a segment: a square, from (0, 0) at the upper left, and one of its borders."""

    x: int
    y: int
    border: str

    def __str__(self) -> str:
        """Return the move as it is sent: `x,y,border`."""
        return f"{self.x},{self.y},{self.border}"

    def is_on(self, size: int) -> bool:
        """Return whether the move names a square and a border on a board of size x size squares."""
        return 0 <= self.x < size and 0 <= self.y < size and self.border in BORDERS

    def from_across(self) -> Move:
        """Return the other name of the segment; its square may be off the board."""
        dx, dy, border = ACROSS[self.border]
        return Move(self.x + dx, self.y + dy, border)


@lru_cache(maxsize=8192)
def parse_move(text: str) -> Move:
    """Parse `x,y,border`; raise IllegalAction for any other text.

    States keep a move as it was sent, because the status document shows it so; the cache parses
    each text once.
    """
    match = MOVE_PATTERN.fullmatch(text)
    if match is None:
        raise IllegalAction(
            f"{text[:40]!r} cannot be read as a move: expected x,y,border such as 1,2,top,"
            f" with border one of {', '.join(BORDERS)}"
        )
    return Move(int(match[1]), int(match[2]), match[3])


def all_segments(size: int) -> Iterator[Move]:
    """Yield one name for each segment of the board, in reading order of the squares."""
    for y in range(size):
        for x in range(size):
            yield Move(x, y, "top")
            yield Move(x, y, "left")
            if x == size - 1:
                yield Move(x, y, "right")
            if y == size - 1:
                yield Move(x, y, "bottom")
