"""The play options of a game that declares none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cw.games.codec import Game
from cw.games.play_options import PlayOptions

FEWEST_PLAYERS: Final = 2
MOST_PLAYERS: Final = 6
"""Most seats in a form."""


def default_play_options(game: Game, strategies: Sequence[str]) -> PlayOptions:
    """Return options for matches between strategies, which are listed weakest first.

    There are no game options. By default the strongest strategy plays in all required seats.
    """
    seats = game.rules.seats
    usual = tuple(reversed(strategies))[: max(seats.start, FEWEST_PLAYERS)]
    return PlayOptions(strategies=usual, most_players=min(seats.stop - 1, MOST_PLAYERS))
