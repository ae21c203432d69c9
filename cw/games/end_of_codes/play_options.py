"""The options for End of Codes games on web pages."""

from __future__ import annotations

from typing import Final

from cw.games.entry import Choice, PlayOptions

PLAY_OPTIONS: Final = PlayOptions(
    strategies=("hunter", "sample", "sample"),
    most_players=6,
    choices=(
        Choice("M", "Creatures of each player", (20, 5, 50, 100)),
        Choice("MAX_HP", "Hit points of a creature", (3, 1, 5)),
        Choice("max_rounds", "Maximum rounds", (2000, 50, 200)),
    ),
)
