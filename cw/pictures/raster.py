"""Renders sheets as PNG and GIF files with Pillow: brushes, fonts, tiles and palettes."""

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
"""Texts are truncated to this many characters before they are measured."""


@lru_cache(64)
def font(size: float) -> AnyFont:
    """Return the font at a size in pixels."""
    return ImageFont.load_default(size)


def width_of(text: str, size: float) -> float:
    """Return the width of a text in pixels."""
    return font(size).getlength(text)


def printable(text: str) -> str:
    """Return a text with "?" in place of characters that are not printable, such as line feeds."""
    return "".join(sign if sign.isprintable() else "?" for sign in text[:MOST_LETTERS])


def fitted(text: str, size: float, width: float) -> str:
    """Return a text, truncated with an ellipsis if it is wider than `width` pixels."""
    if width_of(text, size) <= width:
        return text
    count = len(text)
    while count and width_of(text[:count] + "…", size) > width:
        count -= 1
    return text[:count].rstrip() + "…"


FINE: Final = 3
"""Dots per side of a pixel while painting; averaging them makes edges smooth (supersampling)."""

ANCHORS: Final = {"start": "ls", "middle": "ms", "end": "rs"}
"""The text anchors, mapped to those of Pillow on the baseline."""

HALF_CIRCLE: Final = 8
"""The number of edges that approximate the round end of a stroke."""

Box = tuple[int, int, int, int]
"""Left, top, right and bottom, in pixels of a sheet."""

Ink = tuple[int, ...]
"""Red, green, blue and alpha."""


SOLID: Final = 255
"""The alpha of an opaque ink."""


class Frame(NamedTuple):
    """The coordinate system in which the shapes of a part are drawn: origin and scale."""

    x: float
    y: float
    scale: float


class Pens(NamedTuple):
    """The pens for an image; the translucent one blends shapes with what is below them."""

    opaque: ImageDraw.ImageDraw
    translucent: ImageDraw.ImageDraw


Dab = Callable[[Pens, int, int], None]
"""Paints a shape onto an image, given the image's left and top in dots of the sheet."""


def image_of(sheet: Sheet) -> Image.Image:
    """Return the image of a sheet."""
    box = 0, 0, sheet.width, sheet.height
    dots = blank(box, sheet.ground)
    brushes = ((Brush(place_of(part)), part.shapes) for part in sheet.parts)
    paint(dots, box, [brush.dab(shape) for brush, shapes in brushes for shape in shapes])
    return dots.reduce(FINE)


def place_of(part: Part) -> Frame:
    """Return the origin and scale of a part's shapes on its sheet."""
    return Frame(part.x, part.y, part.scale)


def blank(box: Box, ground: str) -> Image.Image:
    """Return the empty image of a box, with FINE times FINE dots per pixel."""
    left, top, right, bottom = box
    return Image.new("RGB", ((right - left) * FINE, (bottom - top) * FINE), ground)


def paint(dots: Image.Image, box: Box, dabs: Iterable[Dab]) -> None:
    """Paint the parts of the dabs that lie within a box; the dabs do not depend on the box."""
    pens = Pens(ImageDraw.Draw(dots), ImageDraw.Draw(dots, "RGBA"))
    left, top = box[0] * FINE, box[1] * FINE
    for dab in dabs:
        dab(pens, left, top)


class Brush:
    """Makes dabs from shapes, so that work that does not depend on the image is done only once.

    Points are rounded to dots of the sheet before they are moved to those of an image, so that
    rounding does not depend on the box.
    """

    def __init__(self, place: Frame) -> None:
        """Create a brush for the shapes of a part."""
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
        """Return a point in dots of the sheet."""
        return self.x + point[0] * self.scale, self.y + point[1] * self.scale

    def rectangle(self, start: Point, end: Point, colour: Ink) -> Dab:
        """Return a rectangle's dab; as Pillow includes the last dot, each side has at least one."""
        (x, y), (right, bottom) = (tuple(map(round, self.at(corner))) for corner in (start, end))
        last_x, last_y = max(x, right - 1), max(y, bottom - 1)
        pen = pen_for(colour)

        def dab(pens: Pens, left: int, top: int) -> None:
            box = x - left, y - top, last_x - left, last_y - top
            pens[pen].rectangle(box, colour)

        return dab

    def circle(self, middle: Point, r: float, stroke: float, colour: Ink) -> Dab:
        """Return the dab of a disc, or of a ring if there is a stroke width."""
        reach = (r + stroke / 2) * self.scale
        x, y = dot((middle[0] - reach, middle[1] - reach))
        right, bottom = dot((middle[0] + reach - 1, middle[1] + reach - 1))
        pen, width = pen_for(colour), max(1, round(stroke * self.scale))
        fill = prepared(colour)

        def disc(pens: Pens, left: int, top: int) -> None:
            # An animation has up to a million of them; `ellipse` would look up the colour for each.
            box = x - left, y - top, right - left, bottom - top
            pens[pen].draw.draw_ellipse(box, fill, 1)

        def ring(pens: Pens, left: int, top: int) -> None:
            box = x - left, y - top, right - left, bottom - top
            pens[pen].ellipse(box, outline=colour, width=width)

        return ring if stroke else disc

    def polygon(self, points: Iterable[Point], colour: Ink, stroke: float) -> Dab:
        """Return the dab of a filled polygon, or of its outline if there is a stroke width."""
        dots = [dot(point) for point in points]
        pen, width = pen_for(colour), max(1, round(stroke * self.scale))

        def area(pens: Pens, left: int, top: int) -> None:
            pens[pen].polygon([(x - left, y - top) for x, y in dots], colour)

        def edge(pens: Pens, left: int, top: int) -> None:
            line = [(x - left, y - top) for x, y in (*dots, dots[0])]
            pens[pen].line(line, colour, width, "curve")

        return edge if stroke else area

    def text(self, place: Point, text: str, size: float, anchor: str, fill: str) -> Dab:
        """Return the dab of a line of text with its anchor at a point."""
        (x, y), ((dx, dy), letters) = dot(place), stencil(text, size * self.scale, anchor)

        def dab(pens: Pens, left: int, top: int) -> None:
            pens.opaque.bitmap((x + dx - left, y + dy - top), letters, fill)

        return dab


@lru_cache(1024)
def prepared(colour: Ink) -> int:
    """Return a colour in the form expected by Pillow's pens."""
    mixed: int = ImageDraw.Draw(Image.new("RGB", (1, 1))).draw.draw_ink(colour)
    return mixed


def dot(point: Point) -> tuple[int, int]:
    """Return the dot that contains a point."""
    return floor(point[0]), floor(point[1])


def pen_for(colour: Ink) -> int:
    """Return the index of the pen for a colour; the opaque one is several times faster."""
    return 0 if colour[3] == SOLID else 1


def capsule(start: Point, end: Point, r: float) -> list[Point]:
    """Return the outline of a stroke with round ends of radius `r`; Pillow draws only flat ends."""
    angle = atan2(end[1] - start[1], end[0] - start[0])
    turns = [pi * step / HALF_CIRCLE for step in range(HALF_CIRCLE + 1)]
    return [
        (x + r * cos(angle + side + turn), y + r * sin(angle + side + turn))
        for (x, y), side in ((start, pi / 2), (end, -pi / 2))
        for turn in turns
    ]


@lru_cache(256)
def stencil(text: str, size: float, anchor: str) -> tuple[tuple[int, int], Image.Image]:
    """Return a text as a mask, and the mask's corner relative to the anchor, in dots."""
    box = text_box(text, size, anchor)
    letters = Image.new("L", (max(1, box[2] - box[0]), max(1, box[3] - box[1])))
    ImageDraw.Draw(letters).text((-box[0], -box[1]), text, 255, font(size), ANCHORS[anchor])
    return box[:2], letters


def text_box(text: str, size: float, anchor: str) -> Box:
    """Return the bounding box of a text, in dots relative to its anchor."""
    left, top, right, bottom = font(size).getbbox(text, anchor=ANCHORS[anchor])
    return floor(left), floor(top), ceil(right), ceil(bottom)


@lru_cache(1024)
def ink(fill: str, opacity: float) -> Ink:
    """Return a colour `#rrggbb` with an opacity from 0 to 1 as red, green, blue and alpha."""
    red, green, blue = bytes.fromhex(fill[1:])
    return red, green, blue, round(SOLID * opacity)


SIDE: Final = 48
"""The side of a tile in pixels."""

MOST_KNOWN: Final = 200_000
"""The maximum number of shapes that a canvas caches."""

Tile = tuple[int, int]
"""Column and row."""

Bounds = tuple[float, float, float, float]
"""Left, top, right and bottom."""


class Canvas:
    """Paints a sequence of sheets of one size, repainting only what differs from the previous one.

    The dab of a shape is made once and reused in later sheets, so the dabs of a tile are compared
    by identity.
    """

    def __init__(self, sheet: Sheet) -> None:
        """Take the size and the background from a sheet."""
        self._size = sheet.width, sheet.height
        self._ground = sheet.ground
        self._begin()

    def _begin(self) -> None:
        self._image = Image.new("RGB", self._size, self._ground)
        self._known: dict[Frame, dict[Shape, tuple[Dab, list[Tile]]]] = {}
        self._tiles: dict[Tile, TileCanvas] = {}

    def show(self, sheet: Sheet) -> Image.Image:
        """Return the image of a sheet; the next call modifies it."""
        # Starting again costs one full frame, but limits memory use for long matches.
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
    """Paints a tile repeatedly, on top of those dabs that have always been at its bottom."""

    def __init__(self, box: Box, ground: str) -> None:
        """Create an empty tile for a box of the sheet."""
        self.box = box
        self.dabs: list[Dab] = []
        """The dabs currently shown."""
        self._lasting: list[Dab] = []
        """The dabs that have always been at the bottom; they are painted on `_base`."""
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
    # Compared by identity: equal shapes share one dab, so no deep comparison is needed.
    pairs = takewhile(lambda pair: pair[0] is pair[1], zip(first, second, strict=False))
    return [dab for dab, _ in pairs]


def tiles_of(shape: Shape, place: Frame, size: tuple[int, int]) -> Iterator[Tile]:
    """Yield the tiles that a shape may touch in an image of a given size."""
    left, top, right, bottom = bounds(shape, place.scale)
    columns = tiles_between(place.x + left * place.scale, place.x + right * place.scale, size[0])
    rows = tiles_between(place.y + top * place.scale, place.y + bottom * place.scale, size[1])
    return product(columns, rows)


def tiles_between(low: float, high: float, length: int) -> range:
    """Return the tile indexes between two positions on an axis, with a margin of one pixel."""
    first, end = max(0, floor(low - 1)), min(length, ceil(high + 1))
    return range(first // SIDE, ceil(end / SIDE))


def bounds(shape: Shape, scale: float) -> Bounds:
    """Return the bounds of a shape in its own units, each of which has `scale` pixels."""
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
"""The number of colours in an animation's palette; the 256th entry marks unchanged pixels."""

EXACT: Final = 96
"""The number of most frequent colours that a palette contains exactly.

These are the colours of players and boards. The rest of the palette, found by median cut, is for
the mixed colours of smooth edges.
"""

CLOSE: Final = 10
"""The minimum difference between two colours of a palette, in levels of red, green or blue."""

Colour = tuple[int, int, int]
"""Red, green and blue."""


def png(sheet: Sheet) -> bytes:
    """Return a sheet as a PNG file."""
    file = BytesIO()
    image_of(sheet).save(file, "PNG", optimize=True)
    return file.getvalue()


def gif(images: Iterable[Image.Image], hundredths: Sequence[int]) -> bytes:
    """Return images of one size and palette as a GIF file that repeats endlessly.

    `hundredths` contains the frame durations in hundredths of a second.
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
    """Yield the images of sheets of one size, converted to a palette.

    All share one palette, so that still parts of the image do not flicker.
    """
    canvas = None
    for sheet in sheets:
        canvas = canvas or Canvas(sheet)
        yield canvas.show(sheet).quantize(palette=palette, dither=Image.Dither.NONE)


def palette_of(sheets: Sequence[Sheet]) -> Image.Image:
    """Return an image with a palette for sheets of one size."""
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
    """Return the colours of an image, the most frequent first."""
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
