"""Wording of Circuit Wars results, and the score of a forfeit."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from cw.games.endings import Endings, Scores
from cw.games.rules import Json


def every_square(scores: Scores, losers: Collection[int], options: Mapping[str, Json]) -> Scores:
    """Award all squares of the board to the player who has not forfeited."""
    squares = options["size"] ** 2
    return tuple(0 if seat in losers else squares for seat in range(len(scores)))


ENDINGS: Final = Endings(unit="square", forfeit=every_square)
