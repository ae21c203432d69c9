"""A position of Hexagon for playouts and search: each colour's chips as bits of an integer.

A cell's bit follows from its axial coordinates, so the neighbours of a whole set of cells are found
by the same six shifts everywhere. Rows are one bit longer than the board is wide: a step across an
edge ends on a bit that is no cell.

A move is an integer too: the bit of its target, and for a jump that of its start. The start of a
multiplication does not matter, so multiplications to one cell are one move.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from cw.games.hexagon.grid import Cell, axial, grid
from cw.games.hexagon.state import Move, State


class Tables(NamedTuple):
    """All that depends on the size of the board alone."""

    slant: int
    """How many bits later the left one of the two neighbours below comes; the right one is next."""
    near: dict[int, int]
    """Cell, as a bit -> the cells at distance 1."""
    jumps: dict[int, tuple[int, ...]]
    """Cell, as a bit -> all jumps from there, or to there."""
    cell: dict[int, Cell]


@cache
def tables(size: int) -> Tables:
    """Return the tables for a board of a size."""
    cells = grid(size)
    row = cells.side + 1

    def bit(cell: Cell) -> int:
        q, r = axial(cell)
        return 1 << r * row + q + (size - 1) // 2

    return Tables(
        slant=row - 1,
        near={bit(cell): sum(map(bit, around)) for cell, around in cells.near.items()},
        jumps={
            bit(cell): tuple(bit(cell) | bit(target) for target in around)
            for cell, around in cells.far.items()
        },
        cell={bit(cell): cell for cell in cells.cells},
    )


class FastBoard(NamedTuple):
    """A position from the side of the colour to move."""

    tables: Tables
    mine: int
    theirs: int
    empty: int
    my_credit: int
    """Twice the jumps, and 1 more if `placed` is odd: a multiplication adds 1, a jump costs 2."""
    their_credit: int

    @staticmethod
    def from_state(state: State) -> FastBoard:
        """Take over a position in which a colour is to move."""
        color = state.color or 1
        layout = tables(state.size)
        mine, theirs, empty = (
            sum(bit for bit, cell in layout.cell.items() if state.at(cell) == value)
            for value in (color, 3 - color, 0)
        )
        credit = [
            2 * jumps + placed % 2 for jumps, placed in zip(state.jumps, state.placed, strict=True)
        ]
        return FastBoard(layout, mine, theirs, empty, credit[color - 1], credit[2 - color])

    def moves(self) -> list[int]:
        """List the legal moves, the multiplications first."""
        layout, mine, _, empty, credit, _ = self
        right, left = mine | mine << 1, mine | mine >> 1
        targets = (right | left | right << layout.slant | left >> layout.slant) & empty
        moves = []
        while targets:
            target = targets & -targets
            targets ^= target
            moves.append(target)
        if credit > 1:
            # A jump has the same bits from either end: begin where there are fewer cells.
            few, many = sorted((mine, empty), key=int.bit_count)
            moves += [
                jump
                for end, jumps in layout.jumps.items()
                if end & few
                for jump in jumps
                if jump & many
            ]
        return moves

    def gain(self, move: int) -> int:
        """Tell by how much a move raises the lead: 1 by a multiplication, 2 by each capture."""
        target = move & self.empty
        taken = self.tables.near[target] & self.theirs
        return (move == target) + 2 * taken.bit_count()

    def moved(self, move: int) -> FastBoard:
        """Return the position after a move, from the other colour's side; nobody passes here."""
        layout, mine, theirs, empty, credit, their_credit = self
        target = move & empty
        taken = layout.near[target] & theirs
        credit += 1 if move == target else -2
        return FastBoard(
            layout, theirs ^ taken, mine ^ move | taken, empty ^ move, their_credit, credit
        )

    def turned(self) -> FastBoard:
        """Return the same position from the other colour's side."""
        layout, mine, theirs, empty, credit, their_credit = self
        return FastBoard(layout, theirs, mine, empty, their_credit, credit)

    def lead(self) -> int:
        """Count the mover's chips less the other's."""
        return self.mine.bit_count() - self.theirs.bit_count()

    def as_move(self, move: int) -> Move:
        """Name a move by its cells."""
        target = move & self.empty
        sources = self.tables.near[target] & self.mine if move == target else move ^ target
        return Move(self.tables.cell[sources & -sources], self.tables.cell[target])
