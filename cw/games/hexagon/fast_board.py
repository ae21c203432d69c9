"""A bitboard for playouts and search: each colour's chips are the bits of an integer.

A cell's bit is given by its axial coordinates, in which the six neighbours of a cell are at the
same offsets everywhere: shifting a whole set of cells finds its neighbours. Rows are one bit longer
than the board is wide, so that a step across an edge ends on a bit without a cell.

A move is an integer as well: the bit of its target and, for a jump, that of its start. The start of
a multiplication has no effect, so all multiplications into a cell are one move.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from cw.games.hexagon.state import Cell, Move, State, axial, grid


class BitTables(NamedTuple):
    """The lookup tables of a board size, by the bits of cells."""

    down_left: int
    """The shift to the lower left neighbour; the one to the lower right is 1 more."""
    near: dict[int, int]
    """Bit of a cell -> the cells at distance 1, as bits."""
    jumps: dict[int, tuple[int, ...]]
    """Bit of a cell -> all jumps that start there, which are also those that end there."""
    cell: dict[int, Cell]
    """Bit of a cell -> its row and column."""


@cache
def bit_tables(size: int) -> BitTables:
    """Return the lookup tables of a board size."""
    layout = grid(size)
    row = layout.side + 1

    def bit(cell: Cell) -> int:
        q, r = axial(cell)
        # In axial coordinates all six neighbours are at constant offsets, so sets of cells shift as
        # one.
        return 1 << r * row + q + (size - 1) // 2

    return BitTables(
        down_left=row - 1,
        near={bit(cell): sum(map(bit, around)) for cell, around in layout.near.items()},
        jumps={
            bit(cell): tuple(bit(cell) | bit(target) for target in around)
            for cell, around in layout.far.items()
        },
        cell={bit(cell): cell for cell in layout.cells},
    )


class FastBoard(NamedTuple):
    """A position from the point of view of the colour to move."""

    tables: BitTables
    mine: int
    """The mover's chips, as bits."""
    enemy: int
    """The opponent's chips, as bits."""
    empty: int
    """The empty cells, as bits."""
    my_credit: int
    """Both counters of the mover combined: 2 * jumps + placed % 2.

    A multiplication adds 1, which carries into a jump every second time; a jump costs 2 (rule 3).
    """
    their_credit: int
    """The opponent's counters, combined in the same way."""

    @staticmethod
    def from_state(state: State) -> FastBoard:
        """Return the position of a state for the colour to move, or for colour 1 after the end."""
        color = state.color or 1
        tables = bit_tables(state.size)
        mine, enemy, empty = (
            sum(bit for bit, cell in tables.cell.items() if state.at(cell) == value)
            for value in (color, 3 - color, 0)
        )
        credit = [
            2 * jumps + placed % 2 for jumps, placed in zip(state.jumps, state.placed, strict=True)
        ]
        return FastBoard(tables, mine, enemy, empty, credit[color - 1], credit[2 - color])

    def moves(self) -> list[int]:
        """Return the legal moves, multiplications first."""
        tables, mine, _, empty, credit, _ = self
        # Shifting `right` reaches both neighbours below each chip, shifting `left` both above it.
        right, left = mine | mine << 1, mine | mine >> 1
        targets = (right | left | right << tables.down_left | left >> tables.down_left) & empty
        moves = []
        while targets:
            # The lowest set bit, in two's complement.
            target = targets & -targets
            targets ^= target
            moves.append(target)
        # A jump costs 2 of this credit (rule 3).
        if credit > 1:
            # A jump has the same bits seen from either end: start from the smaller set.
            few, many = sorted((mine, empty), key=int.bit_count)
            moves += [
                jump
                for end, jumps in tables.jumps.items()
                if end & few
                for jump in jumps
                if jump & many
            ]
        return moves

    def gain(self, move: int) -> int:
        """Return how much a move raises the lead: 1 for a multiplication, 2 for each capture."""
        target = move & self.empty
        captured = self.tables.near[target] & self.enemy
        return (move == target) + 2 * captured.bit_count()

    def moved(self, move: int) -> FastBoard:
        """Return the position after a move for the opponent, even if it has to pass."""
        tables, mine, enemy, empty, credit, their_credit = self
        target = move & empty
        captured = tables.near[target] & enemy
        credit += 1 if move == target else -2
        return FastBoard(
            tables, enemy ^ captured, mine ^ move | captured, empty ^ move, their_credit, credit
        )

    def turned(self) -> FastBoard:
        """Return the same position for the opponent."""
        tables, mine, enemy, empty, credit, their_credit = self
        return FastBoard(tables, enemy, mine, empty, their_credit, credit)

    def lead(self) -> int:
        """Return the number of the mover's chips minus the opponent's."""
        return self.mine.bit_count() - self.enemy.bit_count()

    def as_move(self, move: int) -> Move:
        """Return a move by its cells; a multiplication starts at the first adjacent own chip."""
        target = move & self.empty
        sources = self.tables.near[target] & self.mine if move == target else move ^ target
        return Move(self.tables.cell[sources & -sources], self.tables.cell[target])
