"""The hexagonal grid in an array of rows (rules 1 to 3): odd rows lie half a cell to the right."""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple, TypeAlias

Cell: TypeAlias = tuple[int, int]
"""Row and column, both from 0; row grows downward, column to the right."""

STONE: Final = -1
"""What stands on stones and on padding."""

SMALLEST: Final = 2
LARGEST: Final = 12


class Grid(NamedTuple):
    """All that depends on the size of the board alone."""

    size: int
    side: int
    """Rows and columns of the array."""
    cells: tuple[Cell, ...]
    """The cells of the hexagon in reading order."""
    near: dict[Cell, tuple[Cell, ...]]
    """Cell -> the cells at distance 1, in reading order."""
    far: dict[Cell, tuple[Cell, ...]]
    """Cell -> the cells at distance 2, in reading order."""
    corners: tuple[tuple[Cell, int], ...]
    """Where chips stand at the start, and of which colour."""


def axial(cell: Cell) -> Cell:
    """Return the axial coordinates of a cell."""
    row, col = cell
    return col - (row - row % 2) // 2, row


def distance(a: Cell, b: Cell) -> int:
    """Count the steps between two cells."""
    (qa, ra), (qb, rb) = axial(a), axial(b)
    dq, dr = qa - qb, ra - rb
    return max(abs(dq), abs(dr), abs(dq + dr))


@cache
def grid(size: int) -> Grid:
    """Return the tables for a board of a size."""
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
