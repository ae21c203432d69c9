"""The brush: shapes of a sheet, painted into the image of a box of it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import atan2, cos, floor, pi, sin
from typing import Final, NamedTuple

from PIL import Image, ImageDraw

from cw.drawing.shapes import Circle, Part, Point, Polygon, Rectangle, Shape, Sheet, Stroke, Text
from cw.pictures.fonts import font
from cw.pictures.svg import BASELINE

FINE: Final = 3
"""Dots per side of a pixel while painting. Averaging them makes edges smooth (supersampling)."""

ANCHORS: Final = {"start": "ls", "middle": "ms", "end": "rs"}
"""The anchors of texts -> those of Pillow, on the baseline."""

HALF_CIRCLE: Final = 8
"""The number of edges with which the round end of a stroke is drawn."""

Box = tuple[int, int, int, int]
"""Left, top, right and bottom in pixels of a sheet."""

Ink = tuple[int, ...]
"""Red, green, blue and alpha."""


class Place(NamedTuple):
    """Where the shapes of a part are: their origin, and the size of their unit."""

    x: float
    y: float
    scale: float


class Mark(NamedTuple):
    """A shape in its place."""

    shape: Shape
    place: Place


def image_of(sheet: Sheet) -> Image.Image:
    """Return the image of a sheet."""
    marks = [Mark(shape, place_of(part)) for part in sheet.parts for shape in part.shapes]
    return painted(marks, (0, 0, sheet.width, sheet.height), sheet.ground)


def place_of(part: Part) -> Place:
    """Return where the shapes of a part are on its sheet."""
    return Place(part.x, part.y, part.scale)


def painted(marks: Iterable[Mark], box: Box, ground: str) -> Image.Image:
    """Return the image of a box; what a mark has beside it is cut off.

    A mark gets the same dots whatever box of the sheet is painted.
    """
    left, top, right, bottom = box
    image = Image.new("RGB", ((right - left) * FINE, (bottom - top) * FINE), ground)
    pens = Pens(ImageDraw.Draw(image), ImageDraw.Draw(image, "RGBA"))
    for shape, place in marks:
        x, y = (place.x - left) * FINE, (place.y - top) * FINE
        Brush(pens, x, y, place.scale * FINE).paint(shape)
    return image.reduce(FINE)


class Pens(NamedTuple):
    """The pens of an image; the translucent one blends shapes with what is below them."""

    opaque: ImageDraw.ImageDraw
    translucent: ImageDraw.ImageDraw


class Brush:
    """Paints shapes, moved and scaled to the dots of an image.

    Dots are whole numbers, rounded down where Pillow would cut off, which differs left of 0.
    """

    def __init__(self, pens: Pens, x: float, y: float, scale: float) -> None:
        """Paint with `pens`; the origin of the shapes is at dot (`x`, `y`)."""
        self.pens = pens
        self.x = x
        self.y = y
        self.scale = scale

    def paint(self, shape: Shape) -> None:
        """Paint a shape."""
        match shape:
            case Rectangle(x, y, width, height, fill, opacity):
                left, top = self.at((x, y))
                right, bottom = self.at((x + width, y + height))
                corners = round(left), round(top), last(left, right), last(top, bottom)
                self.pen(opacity).rectangle(corners, ink(fill, opacity))
            case Polygon(points, fill, opacity, stroke):
                self.polygon([self.at(point) for point in points], fill, opacity, stroke)
            case Circle(x, y, r, fill, opacity, stroke):
                self.circle(self.at((x, y)), r, stroke, self.pen(opacity), ink(fill, opacity))
            case Stroke(start, end, width, fill, opacity):
                edge = capsule(self.at(start), self.at(end), width * self.scale / 2)
                self.polygon(edge, fill, opacity, 0)
            case Text(x, y, text, size, fill, anchor):
                dot = down(self.at((x, y + size * BASELINE)))
                self.pens.opaque.text(dot, text, fill, font(size * self.scale), ANCHORS[anchor])

    def at(self, point: Point) -> Point:
        """Return the position of a point in dots."""
        return self.x + point[0] * self.scale, self.y + point[1] * self.scale

    def pen(self, opacity: float) -> ImageDraw.ImageDraw:
        """Return the pen for an opacity; the opaque one is several times faster."""
        return self.pens.opaque if opacity == 1 else self.pens.translucent

    def circle(
        self, middle: Point, r: float, stroke: float, pen: ImageDraw.ImageDraw, colour: Ink
    ) -> None:
        """Paint a disc, or a ring if there is a stroke."""
        x, y = middle
        reach = (r + stroke / 2) * self.scale
        box = (*down((x - reach, y - reach)), *down((x + reach - 1, y + reach - 1)))
        if stroke:
            pen.ellipse(box, outline=colour, width=max(1, round(stroke * self.scale)))
        else:
            pen.ellipse(box, fill=colour)

    def polygon(self, points: Iterable[Point], fill: str, opacity: float, stroke: float) -> None:
        """Paint a polygon, or only its edges if there is a stroke."""
        pen, colour = self.pen(opacity), ink(fill, opacity)
        dots = [down(point) for point in points]
        if stroke:
            width = max(1, round(stroke * self.scale))
            pen.line([*dots, dots[0]], colour, width, "curve")
        else:
            pen.polygon(dots, colour)


def down(point: Point) -> tuple[int, int]:
    """Return the dot in which a point lies."""
    return floor(point[0]), floor(point[1])


def last(low: float, high: float) -> int:
    """Return the last dot of a side; Pillow counts it in, and a side has at least one dot."""
    return max(round(low), round(high) - 1)


def capsule(start: Point, end: Point, r: float) -> list[Point]:
    """Return the outline of a stroke with round ends of radius `r`; Pillow draws only flat ones."""
    angle = atan2(end[1] - start[1], end[0] - start[0])
    turns = [pi * step / HALF_CIRCLE for step in range(HALF_CIRCLE + 1)]
    return [
        (x + r * cos(angle + side + turn), y + r * sin(angle + side + turn))
        for (x, y), side in ((start, pi / 2), (end, -pi / 2))
        for turn in turns
    ]


@lru_cache(1024)
def ink(fill: str, opacity: float) -> Ink:
    """Return red, green, blue and alpha of a colour `#rrggbb` with an opacity from 0 to 1."""
    red, green, blue = bytes.fromhex(fill[1:])
    return red, green, blue, round(255 * opacity)
