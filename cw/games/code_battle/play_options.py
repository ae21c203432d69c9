"""The options for Code Battle matches on web pages."""

from __future__ import annotations

from typing import Final

from cw.games.entry import Choice, PlayOptions

PLAY_OPTIONS: Final = PlayOptions(
    strategies=("strategist", "hunter"),
    most_players=4,
    choices=(Choice("max_turns", "Maximum turns", (300, 100, 500)),),
)
