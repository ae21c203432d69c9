"""Characters and styles of boards in the terminal."""

from __future__ import annotations

from typing import Final

COLORS: Final = (
    "bold white on blue",
    "bold black on orange1",
    "bold white on dark_green",
    "bold white on magenta",
    "bold black on cyan",
    "bold black on yellow",
)
DIM: Final = "grey50"
WALL: Final = "grey30"


def color(number: int) -> str:
    """Return the style of a player by the number of its seat."""
    return COLORS[number % len(COLORS)]


def letter(number: int) -> str:
    """Return the letter of a player by the number of its seat; after Z it starts again."""
    return chr(ord("A") + number % 26)
