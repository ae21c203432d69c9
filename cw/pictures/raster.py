"""The raster painter: sheets as PNG and GIF files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import BytesIO
from itertools import chain
from math import atan2, cos, pi, sin
from operator import sub
from typing import Final, cast

from PIL import Image, ImageDraw

from cw.drawing.shapes import Circle, Line, Point, Polygon, Rectangle, Shape, Sheet, Text
from cw.pictures.fonts import font
from cw.pictures.svg import BASELINE

FINE: Final = 3
"""Dots per side of a pixel while painting. Averaging them makes edges smooth (supersampling)."""

COLOURS: Final = 255
"""The colours of an animation's palette; the 256th entry marks pixels that do not change."""

EXACT: Final = 96
"""The number of most frequent colours that a palette holds exactly.

These are the colours of players and boards. The rest of the palette, found by median cut, is for
the mixed colours of smooth edges.
"""

ANCHORS: Final = {"start": "ls", "middle": "ms", "end": "rs"}
"""The anchors of texts -> those of Pillow, on the baseline."""

CLOSE: Final = 10
"""The least difference of two colours of a palette, in levels of red, green or blue."""

Colour = tuple[int, int, int]
"""Red, green and blue."""

HALF_CIRCLE: Final = 8
"""The number of edges with which the round end of a line is drawn."""


def png(sheet: Sheet) -> bytes:
    """Return the PNG file of a sheet."""
    file = BytesIO()
    image_of(sheet).save(file, "PNG", optimize=True)
    return file.getvalue()


def gif(sheets: Iterable[Sheet], samples: Sequence[Sheet], hundredths: Sequence[int]) -> bytes:
    """Return the GIF file of sheets of one size, repeated endlessly.

    The palette is made from the samples, so that the frames need not all be in memory at once, and
    is the same for all of them, so that still parts of the picture do not flicker. `hundredths`
    are the durations of the frames in hundredths of a second.
    """
    palette = palette_of(samples)
    images = (
        image_of(sheet).quantize(palette=palette, dither=Image.Dither.NONE) for sheet in sheets
    )
    file = BytesIO()
    next(images).save(
        file,
        "GIF",
        save_all=True,
        append_images=images,
        duration=[10 * time for time in hundredths],
        loop=0,
        disposal=1,
        optimize=True,
    )
    return file.getvalue()


def palette_of(sheets: Sequence[Sheet]) -> Image.Image:
    """Return an image that holds the palette for sheets of one size."""
    first = sheets[0]
    strip = Image.new("RGB", (first.width, first.height * len(sheets)))
    for number, sheet in enumerate(sheets):
        strip.paste(image_of(sheet), (0, number * first.height))
    mixed = strip.quantize(COLOURS, dither=Image.Dither.NONE).convert("RGB")
    palette = Image.new("P", (1, 1))
    palette.putpalette([*chain.from_iterable(apart(common(strip)[:EXACT] + common(mixed)))])
    return palette


def common(image: Image.Image) -> list[Colour]:
    """Return the colours of an image by falling frequency."""
    counted = cast(list[tuple[int, Colour]], image.getcolors(image.width * image.height))
    return [colour for _, colour in sorted(counted, reverse=True)]


def apart(colours: Iterable[Colour]) -> list[Colour]:
    """Return the colours, at most COLOURS, without those that are CLOSE to an earlier one.

    Pillow looks colours up in steps of 4 levels, so of two close ones it may take the wrong one.
    """
    found: list[Colour] = []
    for colour in colours:
        if all(max(map(abs, map(sub, colour, other))) >= CLOSE for other in found):
            found.append(colour)
    return found[:COLOURS]


def image_of(sheet: Sheet) -> Image.Image:
    """Return the image of a sheet."""
    image = Image.new("RGB", (sheet.width * FINE, sheet.height * FINE), sheet.ground)
    # An RGBA pen on an RGB image blends translucent shapes with what is below them.
    pen = ImageDraw.Draw(image, "RGBA")
    for part in sheet.parts:
        brush = Brush(pen, part.x * FINE, part.y * FINE, part.scale * FINE)
        for shape in part.shapes:
            brush.paint(shape)
    return image.reduce(FINE)


class Brush:
    """Paints the shapes of a part, moved and scaled to the dots of an image."""

    def __init__(self, pen: ImageDraw.ImageDraw, x: float, y: float, scale: float) -> None:
        """Paint with `pen`; the origin of the shapes is at dot (`x`, `y`)."""
        self.pen = pen
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
                self.pen.rectangle(corners, ink(fill, opacity))
            case Polygon(points, fill, opacity, stroke):
                if stroke:
                    self.outline(points, stroke, ink(fill, opacity))
                else:
                    self.pen.polygon([self.at(point) for point in points], ink(fill, opacity))
            case Circle(x, y, r, fill, opacity, stroke):
                self.circle((x, y), r, ink(fill, opacity), stroke)
            case Line(start, end, width, fill, opacity):
                corners_of = capsule(self.at(start), self.at(end), width * self.scale / 2)
                self.pen.polygon(corners_of, ink(fill, opacity))
            case Text(x, y, text, size, fill, anchor):
                place = self.at((x, y + size * BASELINE))
                letters = font(size * self.scale)
                self.pen.text(place, text, fill, letters, ANCHORS[anchor])

    def at(self, point: Point) -> Point:
        """Return the position of a point in dots."""
        return self.x + point[0] * self.scale, self.y + point[1] * self.scale

    def circle(self, middle: Point, r: float, colour: tuple[int, ...], stroke: float) -> None:
        """Paint a disc, or a ring if there is a stroke."""
        x, y = self.at(middle)
        reach = (r + stroke / 2) * self.scale
        box = x - reach, y - reach, x + reach - 1, y + reach - 1
        if stroke:
            self.pen.ellipse(box, outline=colour, width=max(1, round(stroke * self.scale)))
        else:
            self.pen.ellipse(box, fill=colour)

    def outline(self, points: tuple[Point, ...], width: float, colour: tuple[int, ...]) -> None:
        """Paint the edges of a polygon."""
        dots = [self.at(point) for point in points]
        self.pen.line([*dots, dots[0]], colour, max(1, round(width * self.scale)), "curve")


def last(low: float, high: float) -> int:
    """Return the last dot of a side; Pillow counts it in, and a side has at least one dot."""
    return max(round(low), round(high) - 1)


def capsule(start: Point, end: Point, r: float) -> list[Point]:
    """Return the outline of a line with round ends of radius `r`; Pillow draws only flat ones."""
    angle = atan2(end[1] - start[1], end[0] - start[0])
    turns = [pi * step / HALF_CIRCLE for step in range(HALF_CIRCLE + 1)]
    return [
        (x + r * cos(angle + side + turn), y + r * sin(angle + side + turn))
        for (x, y), side in ((start, pi / 2), (end, -pi / 2))
        for turn in turns
    ]


def ink(fill: str, opacity: float) -> tuple[int, int, int, int]:
    """Return red, green, blue and alpha of a colour `#rrggbb` with an opacity from 0 to 1."""
    red, green, blue = bytes.fromhex(fill[1:])
    return red, green, blue, round(255 * opacity)
