"""The sheets of an animation as images: only the tiles are painted in which something changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import product
from math import ceil, floor
from typing import Final

from PIL import Image

from cw.drawing.shapes import Circle, Point, Polygon, Rectangle, Shape, Sheet, Stroke, Text
from cw.pictures.brush import ANCHORS, FINE, Mark, painted, place_of
from cw.pictures.fonts import font
from cw.pictures.svg import BASELINE

SIDE: Final = 48
"""The side of a tile in pixels."""

MOST_KNOWN: Final = 200_000
"""The most marks that a canvas remembers."""

Tile = tuple[int, int]
"""Column and row."""

Bounds = tuple[float, float, float, float]
"""Left, top, right and bottom."""


class Canvas:
    """Paints sheets of one size one after another; each tile holds the marks that touch it.

    A mark is made once and found again in the next sheet, so that the marks of a tile are compared
    without looking into them.
    """

    def __init__(self, sheet: Sheet) -> None:
        """Take the size and the ground from a sheet."""
        self._image = Image.new("RGB", (sheet.width, sheet.height), sheet.ground)
        self._ground = sheet.ground
        self._known: dict[Mark, tuple[Mark, list[Tile]]] = {}
        self._shown: dict[Tile, list[Mark]] = {}

    def show(self, sheet: Sheet) -> Image.Image:
        """Return the image of a sheet; it changes with the next one."""
        wanted = self._marks(sheet)
        for tile in wanted.keys() | self._shown.keys():
            marks = wanted.get(tile, [])
            if marks != self._shown.get(tile, []):
                self._paint(tile, marks)
        self._shown = wanted
        return self._image

    def _marks(self, sheet: Sheet) -> dict[Tile, list[Mark]]:
        if len(self._known) > MOST_KNOWN:
            self._known.clear()
        found: dict[Tile, list[Mark]] = defaultdict(list)
        for part in sheet.parts:
            place = place_of(part)
            for shape in part.shapes:
                mark, tiles = self._find(Mark(shape, place))
                for tile in tiles:
                    found[tile].append(mark)
        return found

    def _find(self, mark: Mark) -> tuple[Mark, list[Tile]]:
        known = self._known.get(mark)
        if known is None:
            known = self._known[mark] = mark, list(tiles_of(mark, self._image.size))
        return known

    def _paint(self, tile: Tile, marks: list[Mark]) -> None:
        width, height = self._image.size
        left, top = tile[0] * SIDE, tile[1] * SIDE
        box = left, top, min(left + SIDE, width), min(top + SIDE, height)
        self._image.paste(painted(marks, box, self._ground), box)


def tiles_of(mark: Mark, size: tuple[int, int]) -> Iterator[Tile]:
    """Yield the tiles of an image of a size that a mark may touch."""
    place = mark.place
    left, top, right, bottom = bounds(mark.shape, place.scale)
    columns = tiles_between(place.x + left * place.scale, place.x + right * place.scale, size[0])
    rows = tiles_between(place.y + top * place.scale, place.y + bottom * place.scale, size[1])
    return product(columns, rows)


def tiles_between(low: float, high: float, length: int) -> range:
    """Return the tiles from one place of a side to another, with a pixel more at both ends."""
    first, end = max(0, floor(low - 1)), min(length, ceil(high + 1))
    return range(first // SIDE, ceil(end / SIDE))


def bounds(shape: Shape, scale: float) -> Bounds:
    """Return what a shape lies within, in its own lengths; a unit has `scale` pixels."""
    match shape:
        case Rectangle(x, y, width, height):
            return x, y, x + width, y + height
        case Polygon(points=points, stroke=stroke):
            return around(points, stroke)
        case Circle(x, y, r, stroke=stroke):
            return around(((x, y),), r + stroke)
        case Stroke(start, end, width):
            return around((start, end), width)
        case Text(x, y, text, size, anchor=anchor):
            letters = font(size * scale * FINE)
            dots = letters.getbbox(text, anchor=ANCHORS[anchor])
            left, top, right, bottom = (dot / FINE / scale for dot in dots)
            base = y + size * BASELINE
            return x + left, base + top, x + right, base + bottom


def around(points: Iterable[Point], reach: float) -> Bounds:
    """Return what lies within `reach` of points."""
    across, down = zip(*points, strict=True)
    return min(across) - reach, min(down) - reach, max(across) + reach, max(down) + reach
