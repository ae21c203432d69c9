"""The options for Hexagon battles on web pages, and the moves for manual play."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cw.games.entry import Choice, PlayOptions
from cw.games.hexagon.codec import move_document
from cw.games.hexagon.rules import legal_moves
from cw.games.hexagon.state import State
from cw.games.rules import Json, Player


def moves(state: State, _player: Player) -> Sequence[Json]:
    """Return the legal moves of the colour to move."""
    return [move_document(move) for move in legal_moves(state)]


PLAY_OPTIONS: Final = PlayOptions(
    strategies=("expert", "greedy"),
    choices=(Choice("size", "Cells on each side", (5, 3, 4, 6, 7)),),
    moves=moves,
)
