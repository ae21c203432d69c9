"""The sheets of an animation as images: repaints only tiles that change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import product, takewhile
from math import ceil, floor
from typing import Final

from PIL import Image

from cw.drawing.shapes import Circle, Point, Polygon, Rectangle, Shape, Sheet, Stroke, Text
from cw.pictures.brush import FINE, Box, Brush, Dab, Place, blank, paint, place_of, text_box
from cw.pictures.svg import BASELINE

SIDE: Final = 48
"""The side of a tile in pixels."""

MOST_KNOWN: Final = 200_000
"""The maximum shapes that a canvas remembers."""

Tile = tuple[int, int]
"""Column and row."""

Bounds = tuple[float, float, float, float]
"""Left, top, right and bottom."""


class Canvas:
    """Paints sheets of one size in sequence, each only where it differs from the previous one.

    The dab of a shape is made once and reused in the next sheet, so the dabs of a tile are compared
    by identity.
    """

    def __init__(self, sheet: Sheet) -> None:
        """Take the size and the background from a sheet."""
        self._size = sheet.width, sheet.height
        self._ground = sheet.ground
        self._begin()

    def _begin(self) -> None:
        self._image = Image.new("RGB", self._size, self._ground)
        self._known: dict[Place, dict[Shape, tuple[Dab, list[Tile]]]] = {}
        self._tiles: dict[Tile, TileCanvas] = {}

    def show(self, sheet: Sheet) -> Image.Image:
        """Return the image of a sheet; the next call modifies it."""
        # Starting afresh costs one full frame, and bounds the memory of long matches.
        if sum(map(len, self._known.values())) > MOST_KNOWN:
            self._begin()
        dabs = self._dabs(sheet)
        for tile in dabs.keys() | self._tiles.keys():
            canvas = self._tile(tile)
            if canvas.dabs != dabs[tile]:
                self._image.paste(canvas.show(dabs[tile]), canvas.box)
        return self._image

    def _dabs(self, sheet: Sheet) -> defaultdict[Tile, list[Dab]]:
        dabs: defaultdict[Tile, list[Dab]] = defaultdict(list)
        for part in sheet.parts:
            place = place_of(part)
            cache = self._known.setdefault(place, {})
            for shape in part.shapes:
                seen = cache.get(shape)
                if seen is None:
                    tiles = list(tiles_of(shape, place, self._size))
                    seen = cache[shape] = Brush(place).dab(shape), tiles
                dab, tiles = seen
                for tile in tiles:
                    dabs[tile].append(dab)
        return dabs

    def _tile(self, tile: Tile) -> TileCanvas:
        canvas = self._tiles.get(tile)
        if canvas is None:
            left, top = tile[0] * SIDE, tile[1] * SIDE
            right, bottom = min(left + SIDE, self._size[0]), min(top + SIDE, self._size[1])
            canvas = self._tiles[tile] = TileCanvas((left, top, right, bottom), self._ground)
        return canvas


class TileCanvas:
    """Paints a tile repeatedly, above those dabs that have always been at its bottom."""

    def __init__(self, box: Box, ground: str) -> None:
        """Show an empty box of the sheet."""
        self.box = box
        self.dabs: list[Dab] = []
        """The dabs currently shown."""
        self._lasting: list[Dab] = []
        """The dabs that have always been at the bottom, painted on the base."""
        self._ground = ground
        self._base = blank(box, ground)

    def show(self, dabs: list[Dab]) -> Image.Image:
        """Return the image of the tile with these dabs."""
        lasting = common(self._lasting, dabs) if self.dabs else dabs
        if len(lasting) != len(self._lasting):
            self._base = blank(self.box, self._ground)
            paint(self._base, self.box, lasting)
            self._lasting = lasting
        dots = self._base.copy()
        paint(dots, self.box, dabs[len(lasting) :])
        self.dabs = dabs
        return dots.reduce(FINE)


def common(first: Sequence[Dab], second: Sequence[Dab]) -> list[Dab]:
    """Return the common prefix of two lists of dabs."""
    # By identity, since equal shapes share one dab: no dab is compared in depth.
    pairs = takewhile(lambda pair: pair[0] is pair[1], zip(first, second, strict=False))
    return [dab for dab, _ in pairs]


def tiles_of(shape: Shape, place: Place, size: tuple[int, int]) -> Iterator[Tile]:
    """Yield the tiles of an image of a given size that a shape may touch."""
    left, top, right, bottom = bounds(shape, place.scale)
    columns = tiles_between(place.x + left * place.scale, place.x + right * place.scale, size[0])
    rows = tiles_between(place.y + top * place.scale, place.y + bottom * place.scale, size[1])
    return product(columns, rows)


def tiles_between(low: float, high: float, length: int) -> range:
    """Return the tiles between two positions on a side, with a margin of one pixel at both ends."""
    first, end = max(0, floor(low - 1)), min(length, ceil(high + 1))
    return range(first // SIDE, ceil(end / SIDE))


def bounds(shape: Shape, scale: float) -> Bounds:
    """Return the bounds of a shape in its own units; a unit has `scale` pixels."""
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
    """Return the bounds of points, extended by `reach`."""
    across, down = zip(*points, strict=True)
    return min(across) - reach, min(down) - reach, max(across) + reach, max(down) + reach
