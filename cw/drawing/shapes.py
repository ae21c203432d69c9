"""Shapes as frozen values, and the sheets that contain them; painters turn these into files.

An animation has millions of shapes: structs are created and compared several times faster than
dataclasses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import msgspec

Point = tuple[float, float]
"""x, to the right, and y, downwards."""


class Rectangle(msgspec.Struct, frozen=True, gc=False):
    """A filled rectangle; (`x`, `y`) is its upper left corner."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    opacity: float = 1.0


class Polygon(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """A filled polygon, or its outline if the stroke width is not 0."""

    points: tuple[Point, ...]
    fill: str
    opacity: float = 1.0
    stroke: float = 0.0


class Circle(msgspec.Struct, frozen=True, gc=False):
    """A disc around (`x`, `y`), or a ring if the stroke width is not 0."""

    x: float
    y: float
    r: float
    fill: str
    opacity: float = 1.0
    stroke: float = 0.0


class Stroke(msgspec.Struct, frozen=True, gc=False):
    """A line with round ends."""

    start: Point
    end: Point
    width: float
    fill: str
    opacity: float = 1.0


class Text(msgspec.Struct, frozen=True, gc=False):
    """One line of printable text, whose capitals are vertically centred at `y`."""

    x: float
    y: float
    text: str
    size: float
    fill: str
    anchor: Literal["start", "middle", "end"] = "middle"


Shape = Rectangle | Polygon | Circle | Stroke | Text


@dataclass(frozen=True, slots=True)
class Part:
    """Shapes that are scaled, then moved together: their (0, 0) is at (`x`, `y`) of the sheet."""

    shapes: tuple[Shape, ...]
    x: float = 0.0
    y: float = 0.0
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class Sheet:
    """A whole picture, with lengths in pixels; `title` is a one-line description."""

    width: int
    height: int
    ground: str
    title: str
    parts: tuple[Part, ...]
