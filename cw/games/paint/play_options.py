"""The options for Paint matches on web pages, and the actions for manual play."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cw.games.entry import Choice, PlayOptions
from cw.games.paint.rules import action_document
from cw.games.paint.state import ACTIONS, State
from cw.games.rules import Json, Player


def moves(_state: State, _player: Player) -> Sequence[Json]:
    """Return the sixteen actions."""
    return [action_document(action) for action in ACTIONS]


PLAY_OPTIONS: Final = PlayOptions(
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
