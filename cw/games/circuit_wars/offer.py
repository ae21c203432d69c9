"""What pages offer of Circuit Wars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cw.games.base import Player
from cw.games.circuit_wars.board import free_moves
from cw.games.circuit_wars.rules import State
from cw.games.offer import Choice, Offer


def moves(state: State, _player: Player) -> Sequence[str]:
    """Give every free segment once, as `x,y,border`."""
    return [str(move) for move in free_moves(state.board)]


OFFER: Final = Offer(
    strategies=("search", "greedy"),
    choices=(
        Choice("size", "Squares in a row", (7, 3, 5, 9, 11)),
        Choice("openings", "Random segments at the start", (0, 2, 4, 8)),
    ),
    moves=moves,
)
