"""The raster painter: sheets as PNG and GIF files."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from io import BytesIO
from itertools import chain
from operator import sub
from typing import Final, cast

from PIL import Image

from cw.drawing.shapes import Sheet
from cw.pictures.brush import image_of
from cw.pictures.tiles import Canvas

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
    palette.putpalette([*chain.from_iterable(apart(common(strip)[:EXACT] + common(mixed)))])
    return palette


def common(image: Image.Image) -> list[Colour]:
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
