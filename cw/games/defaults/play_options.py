"""How pages offer a game that says nothing about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cw.games.codec import Game
from cw.games.play_options import PlayOptions

MOST_PLAYERS: Final = 6
"""Seats of a form."""


def default_play_options(game: Game, strategies: Sequence[str]) -> PlayOptions:
    """Return matches between strategies, which are given the weakest first; no options."""
    most = min(game.rules.seats.stop - 1, MOST_PLAYERS)
    return PlayOptions(strategies=tuple(reversed(strategies)), most_players=most)
