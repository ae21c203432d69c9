"""Circuit Wars boards as arrays, and segments by number."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from cw.games.circuit_wars.board import BORDERS, OWNED, Move, all_segments, is_free
from cw.games.circuit_wars.rules import Action, State
from cw.games.rules import Player
from cw.games.spaces import Mask, Planes, Spaces

PLANES: Final = (*(f"border drawn: {border}" for border in BORDERS), "own", "the opponent's")


@lru_cache(maxsize=32)
def segments(size: int) -> tuple[Move, ...]:
    """Return a board's segments by number."""
    return tuple(all_segments(size))


def write_view(view: State, player: Player) -> Planes:
    """Return the bits of all squares, the player's own areas first."""
    mine, other = (OWNED[1], OWNED[2]) if player == 1 else (OWNED[2], OWNED[1])
    bits = np.array([*BORDERS.values(), mine, other])
    planes: Planes = (np.array(view.board)[:, :, None] & bits > 0).astype(np.int16)
    return planes


def mask(view: State, player: Player) -> Mask:
    """Return a mask of the free segments; it allows none if it is not the player's turn."""
    moves = player == view.player and view.ended is None
    return np.array(
        [[moves and is_free(view.board, segment) for segment in segments(view.size)]], np.int8
    )


def read_action(view: State, _player: Player, numbers: Sequence[int]) -> Action:
    """Return the move that draws the numbered segment."""
    return str(segments(view.size)[numbers[0]])


SPACES: Final[Spaces[State, Action, State]] = Spaces(
    planes=PLANES,
    board=lambda start: (start.size, start.size),
    choices=lambda start: (1, len(segments(start.size))),
    write_view=write_view,
    mask=mask,
    read_action=read_action,
)
