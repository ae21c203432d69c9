"""Signs and styles of boards that are drawn in the terminal."""

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
    """Return the style of a player."""
    return COLORS[number % len(COLORS)]


def letter(number: int) -> str:
    """Return the letter of a player."""
    return chr(ord("A") + number % 26)
