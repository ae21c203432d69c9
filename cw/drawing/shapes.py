"""Shapes as frozen values, and the sheets that hold them; painters make files of these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Point = tuple[float, float]
"""x, to the right, and y, downwards."""


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A filled rectangle; (`x`, `y`) is its upper left corner."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Polygon:
    """A filled polygon, or only its outline if `stroke`, its width, is not 0."""

    points: tuple[Point, ...]
    fill: str
    opacity: float = 1.0
    stroke: float = 0.0


@dataclass(frozen=True, slots=True)
class Circle:
    """A disc around (`x`, `y`), or only a ring if `stroke`, its width, is not 0."""

    x: float
    y: float
    r: float
    fill: str
    opacity: float = 1.0
    stroke: float = 0.0


@dataclass(frozen=True, slots=True)
class Line:
    """A line with round ends."""

    start: Point
    end: Point
    width: float
    fill: str
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Text:
    """One line of printable text, whose capitals are vertically centred at `y`."""

    x: float
    y: float
    text: str
    size: float
    fill: str
    anchor: Literal["start", "middle", "end"] = "middle"


Shape = Rectangle | Polygon | Circle | Line | Text


@dataclass(frozen=True, slots=True)
class Part:
    """Shapes that are scaled, then moved together: their (0, 0) is at (`x`, `y`) of the sheet."""

    shapes: tuple[Shape, ...]
    x: float = 0.0
    y: float = 0.0
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class Sheet:
    """A whole picture, with lengths in pixels; `title` describes it in a line."""

    width: int
    height: int
    ground: str
    title: str
    parts: tuple[Part, ...]
