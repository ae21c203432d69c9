"""The hexagonal grid as an array of rows, odd rows shifted right (rule book, "The board")."""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple, TypeAlias

Cell: TypeAlias = tuple[int, int]
"""Row and column, both from 0; rows grow downwards, columns to the right."""

STONE: Final = -1
"""The value of a stone, and of padding outside the hexagon."""

SMALLEST: Final = 2
LARGEST: Final = 12
"""The range of board sizes."""


class Grid(NamedTuple):
    """The lookup tables of a board size."""

    size: int
    side: int
    """The number of rows, and of columns, of the array: 2 * size - 1."""
    cells: tuple[Cell, ...]
    """The cells inside the hexagon, in reading order."""
    near: dict[Cell, tuple[Cell, ...]]
    """Cell -> the cells at distance 1, in reading order."""
    far: dict[Cell, tuple[Cell, ...]]
    """Cell -> the cells at distance 2, in reading order."""
    corners: tuple[tuple[Cell, int], ...]
    """The cells where chips start, each with its colour."""


def axial(cell: Cell) -> Cell:
    """Return the axial coordinates (q, r) of a cell.

    They undo the shift of odd rows, so that a step in a direction is the same difference
    everywhere.
    """
    row, col = cell
    return col - (row - row % 2) // 2, row


def distance(a: Cell, b: Cell) -> int:
    """Return the number of steps between two cells."""
    # The third cube coordinate is -q - r; the distance is the largest of the three differences.
    (qa, ra), (qb, rb) = axial(a), axial(b)
    dq, dr = qa - qb, ra - rb
    return max(abs(dq), abs(dr), abs(dq + dr))


@cache
def grid(size: int) -> Grid:
    """Return the lookup tables of a board size."""
    side = 2 * size - 1
    centre = (size - 1, size - 1)
    cells = tuple(
        (row, col)
        for row in range(side)
        for col in range(side)
        if distance((row, col), centre) <= size - 1
    )
    return Grid(
        size=size,
        side=side,
        cells=cells,
        near={cell: _at(cells, cell, 1) for cell in cells},
        far={cell: _at(cells, cell, 2) for cell in cells},
        corners=_corners(cells, size),
    )


def _at(cells: tuple[Cell, ...], cell: Cell, steps: int) -> tuple[Cell, ...]:
    return tuple(other for other in cells if distance(cell, other) == steps)


def _corners(cells: tuple[Cell, ...], size: int) -> tuple[tuple[Cell, int], ...]:
    corners = []
    for row, (left, right) in ((0, (1, 2)), (size - 1, (2, 1)), (2 * size - 2, (1, 2))):
        line = [cell for cell in cells if cell[0] == row]
        corners += [(line[0], left), (line[-1], right)]
    return tuple(corners)
