"""What pages offer of Paint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cw.games.base import Json, Player
from cw.games.offer import Choice, Offer
from cw.games.paint.documents import action_document
from cw.games.paint.state import ACTIONS, State


def moves(_state: State, _player: Player) -> Sequence[Json]:
    """Give the sixteen actions."""
    return [action_document(action) for action in ACTIONS]


OFFER: Final = Offer(
    strategies=("strong", "greedy"),
    most_players=4,
    choices=(
        Choice("width", "Columns", (20, 10, 30)),
        Choice("height", "Rows", (20, 10, 30)),
        Choice("turns", "Turns", (100, 50, 200)),
        Choice("obstacle_percent", "Squares with an obstacle, in per cent", (0, 10, 20)),
    ),
    moves=moves,
)
