"""Renders the Hexagon board: hexagons in shifted rows, stones, jumps and captures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import cos, hypot, pi, sin, sqrt
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from cw.drawing import (
    Circle,
    Coordinate,
    Picture,
    Point,
    Polygon,
    Scene,
    Shape,
    arrow,
    disc,
    ring,
    step_of,
    tick,
    understood,
)

PITCH: Final = sqrt(3) / 2
"""The distance between two rows; the centres of neighbouring cells in a row are 1 apart."""

RADIUS: Final = 1 / sqrt(3)
STONE: Final = -1

Value = Annotated[int, Meta(ge=STONE, le=2)]
Cell = tuple[Coordinate, Coordinate]
"""Row and column."""


class Frame(msgspec.Struct, frozen=True):
    """The members of a frame that the picture uses; `size` is the number of cells per side."""

    size: Annotated[int, Meta(ge=1, le=1000)]
    cells: tuple[tuple[Value, ...], ...]

    def __post_init__(self) -> None:
        """Raise ValueError unless the board has the shape that `size` requires."""
        side = 2 * self.size - 1
        if len(self.cells) != side or any(len(row) != side for row in self.cells):
            raise ValueError(f"the cells are not {side} rows of {side}")

    def at(self, cell: Cell) -> int | None:
        """Return the content of a cell, or None off the board."""
        row, col = cell
        side = len(self.cells)
        return self.cells[row][col] if row < side and col < side else None


class Move(msgspec.Struct, frozen=True):
    """The move of a chip."""

    move_from: Cell
    move_to: Cell


def extent(frame: Frame) -> tuple[float, float]:
    """Return the width and the height of the board."""
    rows = 2 * frame.size - 1
    return rows + 0.5, (rows - 1) * PITCH + 2 * RADIUS


def middle(row: int, col: int) -> Point:
    """Return the centre of a cell."""
    return col + 0.5 + (row % 2) / 2, RADIUS + row * PITCH


def span(size: int, row: int) -> range:
    """Return the columns of a row that are on the board."""
    away = abs(row - (size - 1))
    first = ((size - 1) % 2 + away - row % 2) // 2
    return range(first, first + 2 * size - 1 - away)


def draw(scene: Scene[Frame]) -> Iterator[Shape]:
    """Render the board."""
    size = scene.frame.size
    for row in range(2 * size - 1):
        for col in span(size, row):
            yield from draw_cell(scene, row, col)
    yield from draw_moves(scene)
    yield from draw_numbers(scene)


def draw_cell(scene: Scene[Frame], row: int, col: int) -> Iterator[Shape]:
    """Render a cell with its content."""
    value = scene.frame.cells[row][col]
    x, y = middle(row, col)
    corners = [pi / 6 + corner * pi / 3 for corner in range(6)]
    r = RADIUS * 0.94
    hexagon = tuple((x + cos(angle) * r, y + sin(angle) * r) for angle in corners)
    yield Polygon(hexagon, scene.inks.stone if value == STONE else scene.inks.line)
    if value > 0:
        seat = scene.seat(value)
        yield Polygon(hexagon, scene.colour(seat), 0.25)
        yield from disc(scene, seat, (x, y), 0.36)


def draw_moves(scene: Scene[Frame]) -> Iterator[Shape]:
    """Render the path of a chip, dashed for a jump; ring the target and the captured chips."""
    ink = scene.inks.glow
    for player, action in scene.actions.items():
        move = understood(action, Move)
        if move is None:
            continue
        for cell in captured(scene, player):
            yield from ring(middle(*cell), 0.42, 0.08, ink, 12)
        yield Circle(*middle(*move.move_to), 0.42, ink, stroke=0.08)
        # A chip that jumped leaves its cell; one that multiplied stays.
        jumped = scene.frame.at(move.move_from) == 0
        ends = shortened(middle(*move.move_from), middle(*move.move_to))
        yield from arrow(*ends, 0.09, ink, jumped)


def captured(scene: Scene[Frame], player: str) -> Iterator[Cell]:
    """Yield the cells that this player captured from the other."""
    if player not in ("1", "2") or not scene.past:
        return
    mine, other = int(player), 3 - int(player)
    for row, values in enumerate(scene.frame.cells):
        for col, value in enumerate(values):
            if value == mine and scene.past[0].cells[row][col] == other:
                yield row, col


def shortened(start: Point, end: Point) -> tuple[Point, Point]:
    """Return both ends, shortened to clear the letters in the cells."""
    (x, y), (to_x, to_y) = start, end
    length = hypot(to_x - x, to_y - y) or 1
    dx, dy = (to_x - x) / length * 0.28, (to_y - y) / length * 0.28
    return (x + dx, y + dy), (to_x - dx, to_y - dy)


def draw_numbers(scene: Scene[Frame]) -> Iterator[Shape]:
    """Render row numbers on the left, and column numbers above the first row."""
    size = scene.frame.size
    step = step_of(scene.scale * PITCH)
    for row in range(0, 2 * size - 1, step):
        x, y = middle(row, span(size, row)[0])
        yield tick(scene, row, x - 0.5 - 10 / scene.scale, y)
    for col in span(size, 0)[::step]:
        x, y = middle(0, col)
        yield tick(scene, col, x, y - RADIUS - 9 / scene.scale)


def scores(scene: Scene[Frame]) -> list[int]:
    """Count each player's chips."""
    chips = Counter(value for row in scene.frame.cells for value in row)
    return [
        chips[int(key)] if (key := str(seat.player)) in ("1", "2") else 0 for seat in scene.players
    ]


PICTURE: Final = Picture(
    title="Hexagon",
    frame=Frame,
    extent=extent,
    draw=draw,
    scores=scores,
    counted=("chip", "chips"),
    numbered=True,
)
