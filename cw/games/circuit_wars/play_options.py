"""The options for Circuit Wars matches on web pages, and the moves for manual play."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cw.games.circuit_wars.board import free_moves
from cw.games.circuit_wars.rules import State
from cw.games.entry import Choice, PlayOptions
from cw.games.rules import Player


def moves(state: State, _player: Player) -> Sequence[str]:
    """Return every free segment once, as `x,y,border`."""
    return [str(move) for move in free_moves(state.board)]


PLAY_OPTIONS: Final = PlayOptions(
    strategies=("search", "greedy"),
    choices=(
        Choice("size", "Squares in a row", (7, 3, 5, 9, 11)),
        Choice("openings", "Random segments at the start", (0, 2, 4, 8)),
    ),
    moves=moves,
    measured={"openings": 4},
)
