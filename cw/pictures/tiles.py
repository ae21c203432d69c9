"""The sheets of an animation as images: only the tiles are painted in which something changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import product, takewhile
from math import ceil, floor
from typing import Final

from PIL import Image

from cw.drawing.shapes import Circle, Point, Polygon, Rectangle, Shape, Sheet, Stroke, Text
from cw.pictures.brush import FINE, Box, Mark, blank, paint, place_of, text_box
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
    """Paints sheets of one size one after another, and of a sheet what differs from the last one.

    A mark is made once and found again in the next sheet, so that the marks of a tile are compared
    without looking into them.
    """

    def __init__(self, sheet: Sheet) -> None:
        """Take the size and the ground from a sheet."""
        self._size = sheet.width, sheet.height
        self._ground = sheet.ground
        self._begin()

    def _begin(self) -> None:
        self._image = Image.new("RGB", self._size, self._ground)
        self._known: dict[Mark, tuple[Mark, list[Tile]]] = {}
        self._tiles: dict[Tile, TileCanvas] = {}

    def show(self, sheet: Sheet) -> Image.Image:
        """Return the image of a sheet; it changes with the next one."""
        if len(self._known) > MOST_KNOWN:
            self._begin()
        wanted = self._marks(sheet)
        for tile in wanted.keys() | self._tiles.keys():
            canvas = self._tile(tile)
            if canvas.marks != wanted[tile]:
                self._image.paste(canvas.show(wanted[tile]), canvas.box)
        return self._image

    def _marks(self, sheet: Sheet) -> defaultdict[Tile, list[Mark]]:
        found: defaultdict[Tile, list[Mark]] = defaultdict(list)
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
            known = self._known[mark] = mark, list(tiles_of(mark, self._size))
        return known

    def _tile(self, tile: Tile) -> TileCanvas:
        canvas = self._tiles.get(tile)
        if canvas is None:
            left, top = tile[0] * SIDE, tile[1] * SIDE
            right, bottom = min(left + SIDE, self._size[0]), min(top + SIDE, self._size[1])
            canvas = self._tiles[tile] = TileCanvas((left, top, right, bottom), self._ground)
        return canvas


class TileCanvas:
    """Paints a tile again and again, above those marks that it has always had at the bottom."""

    def __init__(self, box: Box, ground: str) -> None:
        """Show nothing yet in a box of the sheet."""
        self.box = box
        self.marks: list[Mark] = []
        """What is shown."""
        self._lasting: list[Mark] = []
        """What has always been at the bottom, and is painted on the base."""
        self._ground = ground
        self._base = blank(box, ground)

    def show(self, marks: list[Mark]) -> Image.Image:
        """Return the image of the tile with these marks."""
        lasting = common(self._lasting, marks) if self.marks else marks
        if len(lasting) != len(self._lasting):
            self._base = blank(self.box, self._ground)
            paint(self._base, self.box, lasting)
            self._lasting = lasting
        dots = self._base.copy()
        paint(dots, self.box, marks[len(lasting) :])
        self.marks = marks
        return dots.reduce(FINE)


def common(one: Sequence[Mark], other: Sequence[Mark]) -> list[Mark]:
    """Return the marks with which both begin."""
    pairs = takewhile(lambda pair: pair[0] is pair[1], zip(one, other, strict=False))
    return [mark for mark, _ in pairs]


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
            dots = text_box(text, size * scale * FINE, anchor)
            left, top, right, bottom = (dot / FINE / scale for dot in dots)
            base = y + size * BASELINE
            return x + left, base + top, x + right, base + bottom


def around(points: Iterable[Point], reach: float) -> Bounds:
    """Return what lies within `reach` of points."""
    across, down = zip(*points, strict=True)
    return min(across) - reach, min(down) - reach, max(across) + reach, max(down) + reach
