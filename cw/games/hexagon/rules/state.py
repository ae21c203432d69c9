"""The state of a battle, and the moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from cw.errors import FaultKind
from cw.games.hexagon.rules.grid import Cell, Grid, grid

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
    """Chips that each colour has placed: three at the start, and one per multiplication."""
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
