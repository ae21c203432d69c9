"""What pages offer of Hexagon (document, "A human against a bot")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cw.games.base import Json, Player
from cw.games.hexagon.documents import move_document
from cw.games.hexagon.rules import legal_moves
from cw.games.hexagon.state import State
from cw.games.offer import Choice, Offer


def moves(state: State, _player: Player) -> Sequence[Json]:
    """Give the legal moves of the colour that is to move."""
    return [move_document(move) for move in legal_moves(state)]


OFFER: Final = Offer(
    strategies=("expert", "greedy"),
    choices=(Choice("size", "Cells on each side", (5, 3, 4, 6, 7)),),
    moves=moves,
)
