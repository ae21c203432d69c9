"""What pictures are made of: frozen shapes, and the sheets that they are put on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Point = tuple[float, float]
"""x to the right, y downwards."""


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A filled rectangle, `x` and `y` its left upper corner."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Polygon:
    """A filled polygon, or with a `stroke` of that width only its outline."""

    points: tuple[Point, ...]
    fill: str
    opacity: float = 1.0
    stroke: float = 0.0


@dataclass(frozen=True, slots=True)
class Circle:
    """A disc, or with a `stroke` of that width only a ring; `x` and `y` are its middle."""

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
    """One line of printable text; half of the height of its capitals is above `y`."""

    x: float
    y: float
    text: str
    size: float
    fill: str
    anchor: Literal["start", "middle", "end"] = "middle"


Shape = Rectangle | Polygon | Circle | Line | Text


@dataclass(frozen=True, slots=True)
class Part:
    """Shapes that are enlarged and moved together: (0, 0) comes to `x` and `y` of the sheet."""

    shapes: tuple[Shape, ...]
    x: float = 0.0
    y: float = 0.0
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class Sheet:
    """A whole picture, in pixels; `title` says in a line what is to be seen."""

    width: int
    height: int
    ground: str
    title: str
    parts: tuple[Part, ...]
