"""The brush: shapes of a sheet, painted into the image of a box of it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import atan2, ceil, cos, floor, pi, sin
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
    box = 0, 0, sheet.width, sheet.height
    dots = blank(box, sheet.ground)
    paint(dots, box, [Mark(shape, place_of(part)) for part in sheet.parts for shape in part.shapes])
    return dots.reduce(FINE)


def place_of(part: Part) -> Place:
    """Return where the shapes of a part are on its sheet."""
    return Place(part.x, part.y, part.scale)


def blank(box: Box, ground: str) -> Image.Image:
    """Return the dots of an empty box: FINE times FINE of them for a pixel."""
    left, top, right, bottom = box
    return Image.new("RGB", ((right - left) * FINE, (bottom - top) * FINE), ground)


def paint(dots: Image.Image, box: Box, marks: Iterable[Mark]) -> None:
    """Paint what marks have in a box onto its dots; they are the same ones whatever the box."""
    pens = Pens(ImageDraw.Draw(dots), ImageDraw.Draw(dots, "RGBA"))
    corner = box[0] * FINE, box[1] * FINE
    for shape, place in marks:
        Brush(pens, corner, place).paint(shape)


class Pens(NamedTuple):
    """The pens of an image; the translucent one blends shapes with what is below them."""

    opaque: ImageDraw.ImageDraw
    translucent: ImageDraw.ImageDraw


class Brush:
    """Paints shapes of a place onto an image.

    Points are rounded to dots of the sheet before they are moved to those of the image, so that
    rounding does not depend on the box.
    """

    def __init__(self, pens: Pens, corner: tuple[int, int], place: Place) -> None:
        """Paint with `pens` onto an image whose upper left corner is a dot of the sheet."""
        self.pens = pens
        self.left, self.top = corner
        self.x, self.y = place.x * FINE, place.y * FINE
        self.scale = place.scale * FINE

    def paint(self, shape: Shape) -> None:
        """Paint a shape."""
        match shape:
            case Rectangle(x, y, width, height, fill, opacity):
                self.rectangle((x, y), (x + width, y + height), fill, opacity)
            case Polygon(points, fill, opacity, stroke):
                self.polygon([self.at(point) for point in points], fill, opacity, stroke)
            case Circle(x, y, r, fill, opacity, stroke):
                self.circle(self.at((x, y)), r, stroke, self.pen(opacity), ink(fill, opacity))
            case Stroke(start, end, width, fill, opacity):
                edge = capsule(self.at(start), self.at(end), width * self.scale / 2)
                self.polygon(edge, fill, opacity, 0)
            case Text(x, y, text, size, fill, anchor):
                left, top = self.dot(self.at((x, y + size * BASELINE)))
                (dx, dy), letters = stencil(text, size * self.scale, anchor)
                self.pens.opaque.bitmap((left + dx, top + dy), letters, fill)

    def at(self, point: Point) -> Point:
        """Return the position of a point in dots of the sheet."""
        return self.x + point[0] * self.scale, self.y + point[1] * self.scale

    def dot(self, point: Point) -> tuple[int, int]:
        """Return the dot of the image in which a point lies."""
        return floor(point[0]) - self.left, floor(point[1]) - self.top

    def pen(self, opacity: float) -> ImageDraw.ImageDraw:
        """Return the pen for an opacity; the opaque one is several times faster."""
        return self.pens.opaque if opacity == 1 else self.pens.translucent

    def rectangle(self, start: Point, end: Point, fill: str, opacity: float) -> None:
        """Paint a rectangle; Pillow counts the last dot of a side in, and a side has one."""
        (left, top), (right, bottom) = self.at(start), self.at(end)
        first = round(left) - self.left, round(top) - self.top
        last = round(right) - self.left - 1, round(bottom) - self.top - 1
        corners = (*first, *map(max, first, last))
        self.pen(opacity).rectangle(corners, ink(fill, opacity))

    def circle(
        self, middle: Point, r: float, stroke: float, pen: ImageDraw.ImageDraw, colour: Ink
    ) -> None:
        """Paint a disc, or a ring if there is a stroke."""
        x, y = middle
        reach = (r + stroke / 2) * self.scale
        box = (*self.dot((x - reach, y - reach)), *self.dot((x + reach - 1, y + reach - 1)))
        if stroke:
            pen.ellipse(box, outline=colour, width=max(1, round(stroke * self.scale)))
        else:
            pen.ellipse(box, fill=colour)

    def polygon(self, points: Iterable[Point], fill: str, opacity: float, stroke: float) -> None:
        """Paint a polygon, or only its edges if there is a stroke."""
        pen, colour = self.pen(opacity), ink(fill, opacity)
        dots = [self.dot(point) for point in points]
        if stroke:
            width = max(1, round(stroke * self.scale))
            pen.line([*dots, dots[0]], colour, width, "curve")
        else:
            pen.polygon(dots, colour)


def capsule(start: Point, end: Point, r: float) -> list[Point]:
    """Return the outline of a stroke with round ends of radius `r`; Pillow draws only flat ones."""
    angle = atan2(end[1] - start[1], end[0] - start[0])
    turns = [pi * step / HALF_CIRCLE for step in range(HALF_CIRCLE + 1)]
    return [
        (x + r * cos(angle + side + turn), y + r * sin(angle + side + turn))
        for (x, y), side in ((start, pi / 2), (end, -pi / 2))
        for turn in turns
    ]


@lru_cache(256)
def stencil(text: str, size: float, anchor: str) -> tuple[tuple[int, int], Image.Image]:
    """Return the letters of a text as a mask, and where its corner is from the anchor, in dots."""
    box = text_box(text, size, anchor)
    letters = Image.new("L", (max(1, box[2] - box[0]), max(1, box[3] - box[1])))
    ImageDraw.Draw(letters).text((-box[0], -box[1]), text, 255, font(size), ANCHORS[anchor])
    return box[:2], letters


def text_box(text: str, size: float, anchor: str) -> Box:
    """Return what a text covers, in dots from its anchor."""
    left, top, right, bottom = font(size).getbbox(text, anchor=ANCHORS[anchor])
    return floor(left), floor(top), ceil(right), ceil(bottom)


@lru_cache(1024)
def ink(fill: str, opacity: float) -> Ink:
    """Return red, green, blue and alpha of a colour `#rrggbb` with an opacity from 0 to 1."""
    red, green, blue = bytes.fromhex(fill[1:])
    return red, green, blue, round(255 * opacity)
