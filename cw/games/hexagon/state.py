"""A position of Hexagon, and the moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from cw.errors import FaultKind
from cw.games.hexagon.grid import Cell, Grid, grid

Change: TypeAlias = tuple[int, int, int, int]
"""Row, column, old and new value of a cell that a move alters."""


class Move(NamedTuple):
    """An action: a chip multiplies into a cell at distance 1, or jumps to one at distance 2."""

    move_from: Cell
    move_to: Cell


class Lost(NamedTuple):
    """The fault that ended a battle."""

    color: int
    kind: FaultKind
    error: str


@dataclass(frozen=True, slots=True)
class State:
    """The board of a battle; pairs are of colour 1 and colour 2."""

    size: int
    cells: tuple[tuple[int, ...], ...]
    """`cells[row][column]`: -1 stone or padding, 0 empty, 1 or 2 a chip."""
    jumps: tuple[int, int]
    placed: tuple[int, int]
    color: int | None
    """Who is to move after automatic passes; None when the battle has ended."""
    ended: Literal["finished", "fault"] | None
    winner: int | None
    fault: Lost | None = None
    changes: tuple[Change, ...] = ()
    """What the last step altered; no part of the position."""

    @property
    def grid(self) -> Grid:
        """The tables of this size."""
        return grid(self.size)

    def at(self, cell: Cell) -> int:
        """Tell what stands on a cell of the array."""
        return self.cells[cell[0]][cell[1]]

    def chips(self, color: int) -> int:
        """Count the chips of a colour."""
        return sum(row.count(color) for row in self.cells)

    def can_move(self, color: int) -> bool:
        """Return whether a colour has a legal move."""
        jumps = self.jumps[color - 1]
        tables = self.grid
        return any(
            self.at(target) == 0
            for cell in tables.cells
            if self.at(cell) == color
            for target in (tables.near[cell] + tables.far[cell] if jumps else tables.near[cell])
        )


def is_cell(value: object, kind: type[list[Any]] | type[tuple[Any, ...]]) -> bool:
    """Return whether a value is a list, or a tuple, of exactly two integers."""
    return isinstance(value, kind) and len(value) == 2 and all(type(n) is int for n in value)
