"""How pages offer a game that says nothing about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cw.games.codec import Game
from cw.games.play_options import PlayOptions

FEWEST_PLAYERS: Final = 2
MOST_PLAYERS: Final = 6
"""Seats of a form."""


def default_play_options(game: Game, strategies: Sequence[str]) -> PlayOptions:
    """Return matches between strategies, which are given the weakest first; no options.

    By default the strongest play, as many as the game needs.
    """
    seats = game.rules.seats
    usual = tuple(reversed(strategies))[: max(seats.start, FEWEST_PLAYERS)]
    return PlayOptions(strategies=usual, most_players=min(seats.stop - 1, MOST_PLAYERS))
