"""A position of Hexagon for playouts and search: each colour's chips as bits of an integer.

The cells lie in rows of one bit more than the array is wide, so that a step across an edge of the
array ends on a bit that is no cell. What lies around a whole set of cells is found by shifting it.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from cw.games.hexagon.grid import Cell, grid
from cw.games.hexagon.state import Move, State


class Tables(NamedTuple):
    """All that depends on the size of the board alone."""

    row: int
    even: int
    """The cells of even rows."""
    near: dict[int, int]
    """Cell, as a bit -> the cells at distance 1."""
    far: dict[int, int]
    """Cell, as a bit -> the cells at distance 2."""
    cell: dict[int, Cell]


@cache
def tables(size: int) -> Tables:
    """Give the tables for a board of a size."""
    cells = grid(size)
    row = cells.side + 1

    def bit(cell: Cell) -> int:
        return 1 << (cell[0] + 1) * row + cell[1]

    return Tables(
        row=row,
        even=sum(bit(cell) for cell in cells.cells if cell[0] % 2 == 0),
        near={bit(cell): sum(map(bit, around)) for cell, around in cells.near.items()},
        far={bit(cell): sum(map(bit, around)) for cell, around in cells.far.items()},
        cell={bit(cell): cell for cell in cells.cells},
    )


class Choice(NamedTuple):
    """A legal move with all that is needed to make it and to value it."""

    value: int
    """1 for a multiplication, and 2 for each capture."""
    start: int
    """The cell that a jump leaves, as a bit; 0 for a multiplication, from wherever it comes."""
    target: int
    taken: int
    """The captured chips."""


class FastBoard(NamedTuple):
    """A position from the side of the colour to move. Multiplications to one cell are one move."""

    tables: Tables
    mine: int
    theirs: int
    empty: int
    my_jumps: int
    their_jumps: int
    my_placed: int
    their_placed: int

    @staticmethod
    def from_state(state: State) -> FastBoard:
        """Take over a position in which a colour is to move."""
        color = state.color or 1
        layout = tables(state.size)
        mine, theirs, empty = (
            sum(bit for bit, cell in layout.cell.items() if state.at(cell) == value)
            for value in (color, 3 - color, 0)
        )
        me, other = color - 1, 2 - color
        return FastBoard(
            layout,
            mine,
            theirs,
            empty,
            state.jumps[me],
            state.jumps[other],
            state.placed[me],
            state.placed[other],
        )

    def around(self, cells: int) -> int:
        """Give what lies at distance 1 of any of some cells, and bits that are no cells."""
        row = self.tables.row
        even = cells & self.tables.even
        odd = cells ^ even
        left_up, right_down = even >> 1, odd << 1
        return (
            cells << 1
            | cells >> 1
            | (cells | left_up | right_down) << row
            | (cells | left_up | right_down) >> row
        )

    def choices(self) -> list[Choice]:
        """List the legal moves."""
        near, far, theirs = self.tables.near, self.tables.far, self.theirs
        choices = []
        left = self.around(self.mine) & self.empty
        while left:
            target = left & -left
            left ^= target
            taken = near[target] & theirs
            choices.append(Choice(1 + 2 * taken.bit_count(), 0, target, taken))
        if self.my_jumps:
            left = self.mine
            while left:
                start = left & -left
                left ^= start
                targets = far[start] & self.empty
                while targets:
                    target = targets & -targets
                    targets ^= target
                    taken = near[target] & theirs
                    choices.append(Choice(2 * taken.bit_count(), start, target, taken))
        return choices

    def move(self, choice: Choice) -> FastBoard:
        """Give the position after a move, from the other colour's side; nobody passes here."""
        _, start, target, taken = choice
        placed = self.my_placed + (not start)
        earned = -1 if start else placed % 2 == 0
        return FastBoard(
            self.tables,
            self.theirs ^ taken,
            self.mine ^ start | target | taken,
            self.empty ^ target ^ start,
            self.their_jumps,
            self.my_jumps + earned,
            self.their_placed,
            placed,
        )

    def turned(self) -> FastBoard:
        """Give the same position from the other colour's side."""
        return FastBoard(
            self.tables,
            self.theirs,
            self.mine,
            self.empty,
            self.their_jumps,
            self.my_jumps,
            self.their_placed,
            self.my_placed,
        )

    def lead(self) -> int:
        """Count the mover's chips less the other's."""
        return self.mine.bit_count() - self.theirs.bit_count()

    def as_move(self, choice: Choice) -> Move:
        """Name a move by its cells."""
        start = choice.start
        if not start:
            sources = self.tables.near[choice.target] & self.mine
            start = sources & -sources
        return Move(self.tables.cell[start], self.tables.cell[choice.target])
