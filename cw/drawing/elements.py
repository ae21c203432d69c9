"""What the boards of all games are drawn with. Lengths are cells, unless they say pixels."""

from __future__ import annotations

from collections.abc import Iterator
from math import atan2, cos, hypot, pi, sin
from typing import Any, Final

from cw.drawing.palette import letter_of, mark_of
from cw.drawing.scenes import Scene
from cw.drawing.shapes import Circle, Line, Point, Polygon, Rectangle, Shape, Text

LETTERED: Final = 6
"""Pixels of a disc's radius from which on it has a letter."""

MARKED: Final = 3
"""Pixels from which on the shapes of marks can be told apart."""

GRIDDED: Final = 5
"""Pixels of a cell from which on there are lines between cells."""

TICK: Final = 11
"""Pixels of the numbers around a board."""


def disc(scene: Scene[Any], seat: int, middle: Point, r: float) -> Iterator[Shape]:
    """Draw a disc with its player's letter; where it is too small for that, the player's mark."""
    fill = scene.colour(seat)
    pixels = scene.scale * r
    if seat >= 0 and MARKED <= pixels < LETTERED:
        yield mark_of(seat, middle, r, fill)
        return
    yield Circle(*middle, r, fill)
    if seat >= 0 and pixels >= LETTERED:
        letter = letter_of(seat)
        size = r * (1.2 if len(letter) == 1 else 0.9)
        yield Text(*middle, letter, size, scene.inks.letter)


def ring(middle: Point, r: float, width: float, fill: str, dashes: int) -> Iterator[Shape]:
    """Draw a ring of so many dashes."""
    for dash in range(dashes):
        yield arc(middle, r, width, fill, (dash / dashes, (dash + 0.55) / dashes))


def arc(middle: Point, r: float, width: float, fill: str, part: tuple[float, float]) -> Polygon:
    """Draw a part of a ring: from where to where clockwise, 0 is on top and 1 is the full way."""
    start, end = part
    steps = max(2, int(40 * (end - start)) + 1)
    angles = [2 * pi * (start + (end - start) * step / steps) - pi / 2 for step in range(steps + 1)]
    outer = [along(middle, angle, r + width / 2) for angle in angles]
    inner = [along(middle, angle, r - width / 2) for angle in reversed(angles)]
    return Polygon((*outer, *inner), fill)


def cross(
    middle: Point, r: float, width: float, fill: str, opacity: float = 1.0
) -> Iterator[Shape]:
    """Draw a cross that lies on its side."""
    x, y = middle
    yield Line((x - r, y - r), (x + r, y + r), width, fill, opacity)
    yield Line((x + r, y - r), (x - r, y + r), width, fill, opacity)


def arrow(start: Point, end: Point, width: float, fill: str, broken: bool) -> Iterator[Shape]:
    """Draw a line with a head at its end."""
    (x, y), (to_x, to_y) = start, end
    angle, length = atan2(to_y - y, to_x - x), hypot(to_x - x, to_y - y)
    head = width * 3
    reach = max(0.0, length - head * 0.8)
    count = max(1, round(reach / (width * 3))) if broken else 1
    for dash in range(count):
        at, to = reach * dash / count, reach * (dash + (0.5 if broken else 1)) / count
        yield Line(along(start, angle, at), along(start, angle, to), width, fill)
    sides = (along(end, angle + turn, head) for turn in (2.6, -2.6))
    yield Polygon((end, *sides), fill)


def along(start: Point, angle: float, length: float) -> Point:
    """Return the place that lies so far away."""
    return start[0] + length * cos(angle), start[1] + length * sin(angle)


def grid(scale: float, width: int, height: int, fill: str) -> Iterator[Shape]:
    """Draw the lines between cells of `scale` pixels, a pixel wide."""
    if scale < GRIDDED:
        return
    thin = 1 / scale
    for x in range(width + 1):
        yield Rectangle(x - thin / 2, 0, thin, height, fill)
    for y in range(height + 1):
        yield Rectangle(0, y - thin / 2, width, thin, fill)


def axes(scene: Scene[Any], columns: int, rows: int) -> Iterator[Shape]:
    """Write the columns' numbers below the board, the rows' beside it from the bottom up."""
    step = step_of(scene.scale)
    for column in range(0, columns, step):
        yield tick(scene, column, column + 0.5, rows + 12 / scene.scale)
    for row in range(0, rows, step):
        yield tick(scene, row, -14 / scene.scale, rows - row - 0.5)


def step_of(scale: float) -> int:
    """Return how many cells lie between two numbers."""
    return next((step for step in (1, 2, 5, 10, 20, 50, 100) if step * scale >= 22), 200)


def tick(scene: Scene[Any], number: int, x: float, y: float) -> Text:
    """Write a number of the board's edge."""
    return Text(x, y, str(number), TICK / scene.scale, scene.inks.muted)
