"""The brush: paints the shapes within a box of a sheet into an image."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
"""The number of edges that approximate the round end of a stroke."""

Box = tuple[int, int, int, int]
"""Left, top, right and bottom in pixels of a sheet."""

Ink = tuple[int, ...]
"""Red, green, blue and alpha."""


SOLID: Final = 255
"""The alpha of an opaque ink."""


class Place(NamedTuple):
    """Where the shapes of a part are drawn: their origin, and the size of their unit."""

    x: float
    y: float
    scale: float


class Pens(NamedTuple):
    """The pens of an image; the translucent one blends shapes with what is below them."""

    opaque: ImageDraw.ImageDraw
    translucent: ImageDraw.ImageDraw


Dab = Callable[[Pens, int, int], None]
"""Paints a shape onto an image, whose left and top are given in dots of the sheet."""


def image_of(sheet: Sheet) -> Image.Image:
    """Return the image of a sheet."""
    box = 0, 0, sheet.width, sheet.height
    dots = blank(box, sheet.ground)
    brushes = ((Brush(place_of(part)), part.shapes) for part in sheet.parts)
    paint(dots, box, [brush.dab(shape) for brush, shapes in brushes for shape in shapes])
    return dots.reduce(FINE)


def place_of(part: Part) -> Place:
    """Return where the shapes of a part are on its sheet."""
    return Place(part.x, part.y, part.scale)


def blank(box: Box, ground: str) -> Image.Image:
    """Return the dots of an empty box: FINE times FINE per pixel."""
    left, top, right, bottom = box
    return Image.new("RGB", ((right - left) * FINE, (bottom - top) * FINE), ground)


def paint(dots: Image.Image, box: Box, dabs: Iterable[Dab]) -> None:
    """Paint the parts of the dabs within a box onto its dots; the dabs do not depend on the box."""
    pens = Pens(ImageDraw.Draw(dots), ImageDraw.Draw(dots, "RGBA"))
    left, top = box[0] * FINE, box[1] * FINE
    for dab in dabs:
        dab(pens, left, top)


class Brush:
    """Makes dabs from the shapes of a place: work that does not depend on the image is done once.

    Points are rounded to dots of the sheet before they are moved to those of an image, so that
    rounding does not depend on the box.
    """

    def __init__(self, place: Place) -> None:
        """Paint the shapes of a part."""
        self.x, self.y = place.x * FINE, place.y * FINE
        self.scale = place.scale * FINE

    def dab(self, shape: Shape) -> Dab:
        """Return the dab of a shape."""
        match shape:
            case Rectangle(x, y, width, height, fill, opacity):
                return self.rectangle((x, y), (x + width, y + height), ink(fill, opacity))
            case Polygon(points, fill, opacity, stroke):
                edge = [self.at(point) for point in points]
                return self.polygon(edge, ink(fill, opacity), stroke)
            case Circle(x, y, r, fill, opacity, stroke):
                return self.circle(self.at((x, y)), r, stroke, ink(fill, opacity))
            case Stroke(start, end, width, fill, opacity):
                edge = capsule(self.at(start), self.at(end), width * self.scale / 2)
                return self.polygon(edge, ink(fill, opacity), 0)
            case Text(x, y, text, size, fill, anchor):
                return self.text(self.at((x, y + size * BASELINE)), text, size, anchor, fill)

    def at(self, point: Point) -> Point:
        """Return the position of a point in dots of the sheet."""
        return self.x + point[0] * self.scale, self.y + point[1] * self.scale

    def rectangle(self, start: Point, end: Point, colour: Ink) -> Dab:
        """Paint a rectangle; Pillow includes the last dot of a side, so a side has at least one."""
        (x, y), (right, bottom) = (tuple(map(round, self.at(corner))) for corner in (start, end))
        last_x, last_y = max(x, right - 1), max(y, bottom - 1)
        pen = pen_for(colour)

        def dab(pens: Pens, left: int, top: int) -> None:
            box = x - left, y - top, last_x - left, last_y - top
            pens[pen].rectangle(box, colour)

        return dab

    def circle(self, middle: Point, r: float, stroke: float, colour: Ink) -> Dab:
        """Paint a disc, or a ring if there is a stroke."""
        reach = (r + stroke / 2) * self.scale
        x, y = dot((middle[0] - reach, middle[1] - reach))
        right, bottom = dot((middle[0] + reach - 1, middle[1] + reach - 1))
        pen, width = pen_for(colour), max(1, round(stroke * self.scale))
        fill = prepared(colour)

        def disc(pens: Pens, left: int, top: int) -> None:
            # An animation has up to a million; `ellipse` would look the colour up for each.
            box = x - left, y - top, right - left, bottom - top
            pens[pen].draw.draw_ellipse(box, fill, 1)

        def ring(pens: Pens, left: int, top: int) -> None:
            box = x - left, y - top, right - left, bottom - top
            pens[pen].ellipse(box, outline=colour, width=width)

        return ring if stroke else disc

    def polygon(self, points: Iterable[Point], colour: Ink, stroke: float) -> Dab:
        """Paint a polygon, or only its edges if there is a stroke."""
        dots = [dot(point) for point in points]
        pen, width = pen_for(colour), max(1, round(stroke * self.scale))

        def area(pens: Pens, left: int, top: int) -> None:
            pens[pen].polygon([(x - left, y - top) for x, y in dots], colour)

        def edge(pens: Pens, left: int, top: int) -> None:
            line = [(x - left, y - top) for x, y in (*dots, dots[0])]
            pens[pen].line(line, colour, width, "curve")

        return edge if stroke else area

    def text(self, place: Point, text: str, size: float, anchor: str, fill: str) -> Dab:
        """Paint a line of text with its anchor at a place."""
        (x, y), ((dx, dy), letters) = dot(place), stencil(text, size * self.scale, anchor)

        def dab(pens: Pens, left: int, top: int) -> None:
            pens.opaque.bitmap((x + dx - left, y + dy - top), letters, fill)

        return dab


@lru_cache(1024)
def prepared(colour: Ink) -> int:
    """Return a colour in the form that Pillow's pens expect."""
    mixed: int = ImageDraw.Draw(Image.new("RGB", (1, 1))).draw.draw_ink(colour)
    return mixed


def dot(point: Point) -> tuple[int, int]:
    """Return the dot that contains a point."""
    return floor(point[0]), floor(point[1])


def pen_for(colour: Ink) -> int:
    """Return the index of the pen for a colour; the opaque pen is several times faster."""
    return 0 if colour[3] == SOLID else 1


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
    """Return the letters of a text as a mask, and its corner relative to the anchor, in dots."""
    box = text_box(text, size, anchor)
    letters = Image.new("L", (max(1, box[2] - box[0]), max(1, box[3] - box[1])))
    ImageDraw.Draw(letters).text((-box[0], -box[1]), text, 255, font(size), ANCHORS[anchor])
    return box[:2], letters


def text_box(text: str, size: float, anchor: str) -> Box:
    """Return the extent of a text, in dots from its anchor."""
    left, top, right, bottom = font(size).getbbox(text, anchor=ANCHORS[anchor])
    return floor(left), floor(top), ceil(right), ceil(bottom)


@lru_cache(1024)
def ink(fill: str, opacity: float) -> Ink:
    """Return red, green, blue and alpha of a colour `#rrggbb` with an opacity from 0 to 1."""
    red, green, blue = bytes.fromhex(fill[1:])
    return red, green, blue, round(SOLID * opacity)
