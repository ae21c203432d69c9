"""The state of a battle: the hexagonal grid as an array of rows (rule book, "The board")."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from cw.errors import FaultKind

Cell: TypeAlias = tuple[int, int]
"""Row and column, both from 0; rows grow downwards, columns to the right."""

STONE: Final = -1
"""The value of a stone, and of padding outside the hexagon."""

SMALLEST: Final = 2
LARGEST: Final = 12
"""The minimum and maximum board size."""


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

    They undo the shift of odd rows, so that a step in a direction has the same difference
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


Change: TypeAlias = tuple[int, int, int, int]
"""Row, column, old value and new value of a cell that a move changes."""


class Move(NamedTuple):
    """An action: a multiplication into a cell at distance 1, or a jump to one at distance 2."""

    move_from: Cell
    move_to: Cell


class DecidingFault(NamedTuple):
    """The fault that ended a battle, and the colour that committed it and so lost."""

    color: int
    kind: FaultKind
    error: str


@dataclass(frozen=True, slots=True)
class State:
    """The board of a battle and its counters; pairs are for colours 1 and 2."""

    size: int
    cells: tuple[tuple[int, ...], ...]
    """`cells[row][column]`: -1 for a stone or padding, 0 for an empty cell, 1 or 2 for a chip."""
    jumps: tuple[int, int]
    """The jumps that each colour has left."""
    placed: tuple[int, int]
    """The chips that each colour has placed: three at the start, and one per multiplication."""
    color: int | None
    """The colour to move, after automatic passes, or None when the battle has ended."""
    ended: Literal["finished", "fault"] | None
    winner: int | None
    fault: DecidingFault | None = None
    changes: tuple[Change, ...] = ()
    """The cells that the last step changed; not part of the position."""

    @property
    def grid(self) -> Grid:
        """The lookup tables of this board size."""
        return grid(self.size)

    def at(self, cell: Cell) -> int:
        """Return the value of a cell of the array."""
        return self.cells[cell[0]][cell[1]]

    def chips(self, color: int) -> int:
        """Return the number of chips of a colour."""
        return sum(row.count(color) for row in self.cells)

    def can_move(self, color: int) -> bool:
        """Return whether a colour has a legal move."""
        jumps = self.jumps[color - 1]
        layout = self.grid
        return any(
            self.at(target) == 0
            for cell in layout.cells
            if self.at(cell) == color
            for target in (layout.near[cell] + layout.far[cell] if jumps else layout.near[cell])
        )


def is_cell(value: object, kind: type[list[Any]] | type[tuple[Any, ...]]) -> bool:
    """Return whether a value is a list, or a tuple, of exactly two integers."""
    return isinstance(value, kind) and len(value) == 2 and all(type(n) is int for n in value)
