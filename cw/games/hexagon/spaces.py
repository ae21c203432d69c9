"""Hexagon boards as arrays, and moves by number."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

import numpy as np

from cw.games.hexagon.rules import legal_moves
from cw.games.hexagon.state import Move, State, grid
from cw.games.rules import Player
from cw.games.spaces import Mask, Planes, Spaces, empty_planes

PLANES: Final = ("own chips", "the opponent's", "empty", "own jumps", "jumps of the opponent")


@cache
def numbered(size: int) -> dict[Move, int]:
    """Return the number of each move between two cells of a board, ignoring stones."""
    tables = grid(size)
    return {
        Move(cell, target): number
        for number, (cell, target) in enumerate(
            (cell, target)
            for cell in tables.cells
            for target in tables.near[cell] + tables.far[cell]
        )
    }


@cache
def moves(size: int) -> tuple[Move, ...]:
    """Return the moves by number."""
    return tuple(numbered(size))


def write_view(view: State, player: Player) -> Planes:
    """Return planes of chips and empty cells, and of the jumps left, the same on every square."""
    color = int(player)
    cells = np.array(view.cells)
    planes = empty_planes(view.grid.side, view.grid.side, PLANES)
    for plane, value in enumerate((color, 3 - color, 0)):
        planes[:, :, plane] = cells == value
    planes[:, :, 3] = view.jumps[color - 1]
    planes[:, :, 4] = view.jumps[2 - color]
    return planes


def mask(view: State, player: Player) -> Mask:
    """Return a mask of the legal moves; it allows none if it is not the player's turn."""
    legal = np.zeros((1, len(moves(view.size))), np.int8)
    if player == view.color:
        numbers = numbered(view.size)
        legal[0, [numbers[move] for move in legal_moves(view)]] = 1
    return legal


def read_action(view: State, _player: Player, numbers: Sequence[int]) -> Move:
    """Return a move by its number."""
    return moves(view.size)[numbers[0]]


SPACES: Final[Spaces[State, Move, State]] = Spaces(
    planes=PLANES,
    board=lambda start: (start.grid.side, start.grid.side),
    choices=lambda start: (1, len(moves(start.size))),
    write_view=write_view,
    mask=mask,
    read_action=read_action,
)
