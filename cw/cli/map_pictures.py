"""Maps drawn in the terminal, as SVG and as PNG, all from the same lines of signs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from io import BytesIO
from typing import Final

from PIL import Image, ImageDraw, ImageFont
from rich.text import Text

SIDE: Final = 10
"""Pixels of a tile's side."""

GROUND: Final = "#f5f2eb"
WALL: Final = "#4a4a4a"
SOURCE: Final = "#b8860b"
OWNERS: Final = {
    "A": "#0072b2",
    "B": "#d55e00",
    "C": "#009e73",
    "D": "#aa4499",
    "E": "#7a5c00",
    "F": "#202060",
}
"""Dark enough for the owner's letter in white."""


def in_terminal(lines: Sequence[str]) -> Text:
    """Draw a map in letters and colours."""
    styles = {"#": "white on grey35", "*": "bold yellow", ".": "dim"}
    styles |= {letter: f"bold white on {color}" for letter, color in OWNERS.items()}
    text = Text("\n".join(lines), no_wrap=True)
    for place, sign in enumerate(text.plain):
        if sign in styles:
            text.stylize(styles[sign], place, place + 1)
    return text


def as_svg(lines: Sequence[str], title: str) -> bytes:
    """Draw a map as an SVG document."""
    width, height = len(lines[0]) * SIDE, len(lines) * SIDE
    document = "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
            f' width="{width}" height="{height}">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{width}" height="{height}" fill="{GROUND}"/>',
            f'<path fill="{WALL}" d="{walls(lines)}"/>',
            *(shape(x, y, sign) for x, y, sign in things(lines)),
            "</svg>\n",
        ]
    )
    return document.encode()


def walls(lines: Sequence[str]) -> str:
    """Give the walls as the data of one SVG path."""
    places = (
        (x * SIDE, y * SIDE)
        for y, line in enumerate(lines)
        for x, sign in enumerate(line)
        if sign == "#"
    )
    return "".join(f"M{x} {y}h{SIDE}v{SIDE}h-{SIDE}z" for x, y in places)


def things(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Give all that stands on open ground: the left upper corner in pixels, and the sign."""
    for y, line in enumerate(lines):
        for x, sign in enumerate(line):
            if sign not in "#.":
                yield x * SIDE, y * SIDE, sign


def shape(x: int, y: int, sign: str) -> str:
    """Draw a source as a disc, a start as a square with its owner's letter."""
    half = SIDE // 2
    if sign == "*":
        return f'<circle cx="{x + half}" cy="{y + half}" r="{half - 1}" fill="{SOURCE}"/>'
    return (
        f'<rect x="{x}" y="{y}" width="{SIDE}" height="{SIDE}" fill="{OWNERS[sign]}"/>'
        f'<text x="{x + half}" y="{y + SIDE - 2}" font-size="{SIDE - 1}" fill="#fff"'
        f' font-family="sans-serif" text-anchor="middle">{sign}</text>'
    )


def as_png(lines: Sequence[str]) -> bytes:
    """Draw a map as a PNG file."""
    image = Image.new("RGB", (len(lines[0]) * SIDE, len(lines) * SIDE), GROUND)
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(SIDE)
    for y, line in enumerate(lines):
        for x, sign in enumerate(line):
            if sign == "#":
                pen.rectangle(box(x * SIDE, y * SIDE, 0), fill=WALL)
    for x, y, sign in things(lines):
        if sign == "*":
            pen.ellipse(box(x, y, 1), fill=SOURCE)
        else:
            pen.rectangle(box(x, y, 0), fill=OWNERS[sign])
            pen.text((x + SIDE / 2, y + SIDE / 2), sign, fill="white", font=font, anchor="mm")
    file = BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def box(x: int, y: int, margin: int) -> tuple[int, int, int, int]:
    """Give the corners of a tile, both inside it."""
    return x + margin, y + margin, x + SIDE - 1 - margin, y + SIDE - 1 - margin
