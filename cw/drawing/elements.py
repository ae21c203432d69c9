"""Elements shared by the boards of several games; lengths are in cells unless in pixels."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import atan2, cos, hypot, pi, sin
from typing import Any, Final

from cw.drawing.palette import letter_of, mark_of
from cw.drawing.scenes import Scene
from cw.drawing.shapes import Circle, Point, Polygon, Rectangle, Shape, Stroke, Text

LETTERED: Final = 6
"""The minimum radius of a disc with a letter, in pixels."""

MARKED: Final = 3
"""The minimum radius, in pixels, at which the shapes of marks are distinguishable."""

GRIDDED: Final = 5
"""The minimum size of a cell with grid lines, in pixels."""

TICK: Final = 11
"""The font size of the numbers around a board, in pixels."""


def disc(scene: Scene[Any], seat: int, middle: Point, r: float) -> Iterator[Shape]:
    """Yield a disc with its player's letter, or with the player's mark if it is too small."""
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
    """Yield the dashes of a dashed ring."""
    for dash in range(dashes):
        yield arc(middle, r, width, fill, (dash / dashes, (dash + 0.55) / dashes))


@lru_cache(4096)
def arc(middle: Point, r: float, width: float, fill: str, part: tuple[float, float]) -> Polygon:
    """Return an arc of a ring, from start to end clockwise: 0 is at the top, 1 a full turn."""
    start, end = part
    steps = max(2, int(40 * (end - start)) + 1)
    angles = [2 * pi * (start + (end - start) * step / steps) - pi / 2 for step in range(steps + 1)]
    outer = [along(middle, angle, r + width / 2) for angle in angles]
    inner = [along(middle, angle, r - width / 2) for angle in reversed(angles)]
    return Polygon((*outer, *inner), fill)


def cross(
    middle: Point, r: float, width: float, fill: str, opacity: float = 1.0
) -> Iterator[Shape]:
    """Yield the lines of a diagonal cross."""
    x, y = middle
    yield Stroke((x - r, y - r), (x + r, y + r), width, fill, opacity)
    yield Stroke((x + r, y - r), (x - r, y + r), width, fill, opacity)


def arrow(start: Point, end: Point, width: float, fill: str, broken: bool) -> Iterator[Shape]:
    """Yield a line, dashed if `broken`, with a head at its end."""
    (x, y), (to_x, to_y) = start, end
    angle, length = atan2(to_y - y, to_x - x), hypot(to_x - x, to_y - y)
    head = width * 3
    reach = max(0.0, length - head * 0.8)
    count = max(1, round(reach / (width * 3))) if broken else 1
    for dash in range(count):
        at, to = reach * dash / count, reach * (dash + (0.5 if broken else 1)) / count
        yield Stroke(along(start, angle, at), along(start, angle, to), width, fill)
    sides = (along(end, angle + turn, head) for turn in (2.6, -2.6))
    yield Polygon((end, *sides), fill)


def along(start: Point, angle: float, length: float) -> Point:
    """Return the point at a distance from another one, in the direction of an angle in radians."""
    return start[0] + length * cos(angle), start[1] + length * sin(angle)


def grid(scale: float, width: int, height: int, fill: str) -> Iterator[Shape]:
    """Yield the lines between cells of `scale` pixels, one pixel wide; none if cells are small."""
    if scale < GRIDDED:
        return
    thin = 1 / scale
    for x in range(width + 1):
        yield Rectangle(x - thin / 2, 0, thin, height, fill)
    for y in range(height + 1):
        yield Rectangle(0, y - thin / 2, width, thin, fill)


def axes(scene: Scene[Any], columns: int, rows: int) -> Iterator[Shape]:
    """Yield column numbers below the board, and row numbers to its left from the bottom up."""
    step = step_of(scene.scale)
    for column in range(0, columns, step):
        yield tick(scene, column, column + 0.5, rows + 12 / scene.scale)
    for row in range(0, rows, step):
        yield tick(scene, row, -14 / scene.scale, rows - row - 0.5)


def step_of(scale: float) -> int:
    """Return the number of cells between two numbers around the board."""
    return next((step for step in (1, 2, 5, 10, 20, 50, 100) if step * scale >= 22), 200)


def tick(scene: Scene[Any], number: int, x: float, y: float) -> Text:
    """Return a number at the edge of the board, centred at a point."""
    return Text(x, y, str(number), TICK / scene.scale, scene.inks.muted)
