"""Colours, letters and marks of players, and all other colours; the same as in static/viewer/.

The players' colours are distinguishable with every kind of colour vision; letters and marks do not
depend on colour at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cw.drawing.shapes import Circle, Point, Polygon, Shape

COLOURS: Final = (
    ("#0a63b0", "#6cb8ff"),
    ("#b54700", "#ffa24f"),
    ("#00705a", "#45d6a6"),
    ("#a0247c", "#f48fd3"),
    ("#6f5a00", "#f0d848"),
    ("#00728c", "#62dcee"),
    ("#8c1c1c", "#ff8d86"),
    ("#5546b0", "#b9abff"),
)
"""The colours of players, each for a light and for a dark background."""


@dataclass(frozen=True, slots=True)
class Inks:
    """The colours of everything but players."""

    ground: str
    ink: str
    muted: str
    line: str
    stone: str
    glow: str
    death: str
    letter: str
    """The colour of letters on a player's colour."""


LIGHT: Final = Inks(
    "#ffffff", "#14201a", "#53625a", "#d5ddd7", "#8b9790", "#14201a", "#a3201d", "#ffffff"
)
DARK: Final = Inks(
    "#121b17", "#e9f0ec", "#9db0a6", "#2b3a33", "#5d6e65", "#ffffff", "#ff8079", "#0a100d"
)

GROUND: Final = "#0b1118"
LINES: Final = "#17212b"
EDGE: Final = "#3a4856"
WALL: Final = "#4a5663"
ENERGY: Final = "#ffe14d"
DEATH: Final = "#ff5c5c"
FLASH: Final = "#ffffff"


def inks(dark: bool) -> Inks:
    """Return the colours for a light or a dark background."""
    return DARK if dark else LIGHT


def colour_of(seat: int, dark: bool) -> str:
    """Return the colour of the player in a seat; seat -1 is nobody."""
    return inks(dark).muted if seat < 0 else COLOURS[seat % len(COLOURS)][dark]


def letter_of(seat: int) -> str:
    """Return the letters of the player in a seat: A to Z, then AA, AB and so on."""
    rest = chr(ord("A") + seat % 26)
    return rest if seat < 26 else letter_of(seat // 26 - 1) + rest


def mark_of(seat: int, middle: Point, r: float, fill: str, opacity: float = 1.0) -> Shape:
    """Return the mark of the player in a seat around a point; `r` is half its size."""
    x, y = middle
    kind = seat % len(COLOURS)
    if kind == DISC:
        return Circle(x, y, r, fill, opacity)
    if kind == RING:
        return Circle(x, y, 0.8 * r, fill, opacity, stroke=0.6 * r)
    return Polygon(tuple((x + dx * r, y + dy * r) for dx, dy in MARKS[kind]), fill, opacity)


def bar(width: float, height: float) -> tuple[Point, ...]:
    """Return the corners of a rectangle around (0, 0), of half a width and half a height."""
    return ((-width, -height), (width, -height), (width, height), (-width, height))


def plus(r: float, width: float) -> tuple[Point, ...]:
    """Return the corners of an upright cross around (0, 0): half its size, half a bar's width."""
    w = width
    top, left = ((w, -w), (w, -r), (-w, -r)), ((-w, -w), (-r, -w), (-r, w))
    bottom, right = ((-w, w), (-w, r), (w, r)), ((w, w), (r, w), (r, -w))
    return (*top, *left, *bottom, *right)


DISC: Final = 0
RING: Final = 5

MARKS: Final = (
    (),
    ((0.0, -1.1), (1.1, 0.85), (-1.1, 0.85)),
    bar(0.85, 0.85),
    plus(1, 0.38),
    ((0.0, 1.1), (1.1, -0.85), (-1.1, -0.85)),
    (),
    bar(1.1, 0.5),
    bar(0.5, 1.1),
)
"""The corners of the marks around (0, 0), none for circles; diamonds and X have other meanings."""
