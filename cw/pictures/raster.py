"""The raster painter: sheets as PNG and GIF files, with brush, fonts and tiles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import lru_cache
from io import BytesIO
from itertools import chain, product, takewhile
from math import atan2, ceil, cos, floor, pi, sin
from operator import sub
from typing import Final, NamedTuple, cast

from PIL import Image, ImageDraw, ImageFont

from cw.drawing import Circle, Part, Point, Polygon, Rectangle, Shape, Sheet, Stroke, Text
from cw.pictures.svg import BASELINE

AnyFont = ImageFont.FreeTypeFont | ImageFont.ImageFont

MOST_LETTERS: Final = 200
"""Texts are cut to this many characters before they are measured."""


@lru_cache(64)
def font(size: float) -> AnyFont:
    """Return the font at a size in pixels."""
    return ImageFont.load_default(size)


def width_of(text: str, size: float) -> float:
    """Return the width of a text in pixels."""
    return font(size).getlength(text)


def printable(text: str) -> str:
    """Return a text with "?" for characters that are not printable, such as line feeds."""
    return "".join(sign if sign.isprintable() else "?" for sign in text[:MOST_LETTERS])


def fitted(text: str, size: float, width: float) -> str:
    """Return a text, cut with an ellipsis if it is wider than a width in pixels."""
    if width_of(text, size) <= width:
        return text
    count = len(text)
    while count and width_of(text[:count] + "…", size) > width:
        count -= 1
    return text[:count].rstrip() + "…"


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
        lasting = common_prefix(self._lasting, dabs) if self.dabs else dabs
        if len(lasting) != len(self._lasting):
            self._base = blank(self.box, self._ground)
            paint(self._base, self.box, lasting)
            self._lasting = lasting
        dots = self._base.copy()
        paint(dots, self.box, dabs[len(lasting) :])
        self.dabs = dabs
        return dots.reduce(FINE)


def common_prefix(first: Sequence[Dab], second: Sequence[Dab]) -> list[Dab]:
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


COLOURS: Final = 255
"""The colours of an animation's palette; the 256th entry marks unchanged pixels."""

EXACT: Final = 96
"""The number of most frequent colours that a palette holds exactly.

These are the colours of players and boards. The rest of the palette, found by median cut, is for
the mixed colours of smooth edges.
"""

CLOSE: Final = 10
"""The minimum difference of two colours of a palette, in levels of red, green or blue."""

Colour = tuple[int, int, int]
"""Red, green and blue."""


def png(sheet: Sheet) -> bytes:
    """Return the PNG file of a sheet."""
    file = BytesIO()
    image_of(sheet).save(file, "PNG", optimize=True)
    return file.getvalue()


def gif(images: Iterable[Image.Image], hundredths: Sequence[int]) -> bytes:
    """Return the GIF file of images of one size and palette, repeated endlessly.

    `hundredths` are the durations of the frames in hundredths of a second.
    """
    file, frames = BytesIO(), iter(images)
    next(frames).save(
        file,
        "GIF",
        save_all=True,
        append_images=frames,
        duration=[10 * time for time in hundredths],
        loop=0,
        disposal=1,
        optimize=True,
    )
    return file.getvalue()


def coloured(sheets: Iterable[Sheet], palette: Image.Image) -> Generator[Image.Image, None, None]:
    """Yield the images of sheets of one size, in the colours of a palette.

    All share one palette, so that still parts of the picture do not flicker.
    """
    canvas = None
    for sheet in sheets:
        canvas = canvas or Canvas(sheet)
        yield canvas.show(sheet).quantize(palette=palette, dither=Image.Dither.NONE)


def palette_of(sheets: Sequence[Sheet]) -> Image.Image:
    """Return an image that holds a palette for sheets of one size."""
    first = sheets[0]
    strip = Image.new("RGB", (first.width, first.height * len(sheets)))
    for number, sheet in enumerate(sheets):
        strip.paste(image_of(sheet), (0, number * first.height))
    mixed = strip.quantize(COLOURS, dither=Image.Dither.NONE).convert("RGB")
    palette = Image.new("P", (1, 1))
    palette.putpalette(
        [
            *chain.from_iterable(
                apart(colours_by_frequency(strip)[:EXACT] + colours_by_frequency(mixed))
            )
        ]
    )
    return palette


def colours_by_frequency(image: Image.Image) -> list[Colour]:
    """Return the colours of an image by descending frequency."""
    counted = cast(list[tuple[int, Colour]], image.getcolors(image.width * image.height))
    return [colour for _, colour in sorted(counted, reverse=True)]


def apart(colours: Iterable[Colour]) -> list[Colour]:
    """Return at most COLOURS colours, without those that are CLOSE to an earlier one.

    Pillow looks colours up in steps of 4 levels, so it may confuse two close ones.
    """
    palette: list[Colour] = []
    for colour in colours:
        if all(max(map(abs, map(sub, colour, other))) >= CLOSE for other in palette):
            palette.append(colour)
    return palette[:COLOURS]
