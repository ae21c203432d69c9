"""Renders sheets (`Sheet`) as SVG."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from cw.drawing import Circle, Part, Point, Polygon, Rectangle, Shape, Sheet, Stroke, Text

BASELINE: Final = 0.355
"""The distance from the middle of capital letters to the baseline, relative to the font size."""


def svg(sheet: Sheet) -> bytes:
    """Return a sheet as an SVG document: shapes and text only, without scripts, styles or links."""
    width, height = sheet.width, sheet.height
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        f' width="{width}" height="{height}" role="img"'
        ' font-family="system-ui, sans-serif">',
        f"<title>{escape(sheet.title)}</title>",
        f'<rect width="{width}" height="{height}" fill="{sheet.ground}"/>',
        *(line for part in sheet.parts for line in part_lines(part)),
        "</svg>\n",
    ]
    return "\n".join(lines).encode()


def part_lines(part: Part) -> Iterator[str]:
    """Yield the lines of a part: a translated and scaled group with its shapes."""
    place = f"translate({number(part.x)} {number(part.y)})"
    scale = "" if part.scale == 1 else f" scale({number(part.scale)})"
    yield f'<g transform="{place}{scale}">'
    yield from map(element, part.shapes)
    yield "</g>"


def element(shape: Shape) -> str:
    """Return the SVG element for a shape."""
    match shape:
        case Rectangle(x, y, width, height, fill, opacity):
            size = f'width="{number(width)}" height="{number(height)}"'
            return f'<rect x="{number(x)}" y="{number(y)}" {size}{ink(fill, opacity)}/>'
        case Polygon(points, fill, opacity, stroke):
            return f'<polygon points="{" ".join(map(pair, points))}"{ink(fill, opacity, stroke)}/>'
        case Circle(x, y, r, fill, opacity, stroke):
            place = f'cx="{number(x)}" cy="{number(y)}" r="{number(r)}"'
            return f"<circle {place}{ink(fill, opacity, stroke)}/>"
        case Stroke((x, y), (to_x, to_y), width, fill, opacity):
            ends = f'd="M{number(x)} {number(y)}L{number(to_x)} {number(to_y)}"'
            return f'<path {ends} stroke-linecap="round"{ink(fill, opacity, width)}/>'
        case Text(x, y, text, size, fill, anchor):
            place = f'x="{number(x)}" y="{number(y + size * BASELINE)}"'
            return (
                f'<text {place} font-size="{number(size)}" text-anchor="{anchor}"{ink(fill)}>'
                f"{escape(text)}</text>"
            )


def ink(fill: str, opacity: float = 1.0, stroke: float = 0.0) -> str:
    """Return the attributes for a fill, or for an outline if there is a stroke width."""
    colour = f' fill="{fill}"'
    if stroke:
        colour = f' fill="none" stroke="{fill}" stroke-width="{number(stroke)}"'
    return colour if opacity == 1 else f'{colour} opacity="{number(opacity)}"'


def pair(point: Point) -> str:
    """Return a point in the form `x,y` that polygons use."""
    return f"{number(point[0])},{number(point[1])}"


def number(value: float) -> str:
    """Return a number with at most three decimals."""
    return f"{value:.3f}".rstrip("0").rstrip(".")
