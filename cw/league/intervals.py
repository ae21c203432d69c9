"""How far figures of few games may be trusted."""

from __future__ import annotations

from math import hypot, sqrt
from typing import Final, NamedTuple

Z_95: Final = 1.959963984540054
"""The standard normal quantile that leaves 2.5 % on either side."""


class Interval(NamedTuple):
    """An interval of shares, each from 0 to 1."""

    low: float
    high: float


def wilson(wins: int, games: int, z: float = Z_95) -> Interval:
    """Return the Wilson score interval of a share of wins, for 95 % unless z says otherwise.

    Raises ValueError unless 0 <= wins <= games and there was a game.
    """
    if games < 1 or not 0 <= wins <= games:
        raise ValueError(f"{wins} wins in {games} games cannot be")
    share = wins / games
    spread = z * z / games
    middle = share + spread / 2
    reach = z * sqrt((share * (1 - share) + spread / 4) / games)
    low, high = (middle - reach) / (1 + spread), (middle + reach) / (1 + spread)
    # At no wins or no losses a bound is the share itself, which rounding may just miss.
    return Interval(max(0.0, min(low, share)), min(1.0, max(high, share)))


def difference(wins: int, games: int, other_wins: int, other_games: int) -> Interval:
    """Return Newcombe's 95 % interval of the difference of two shares, from -1 to 1.

    It holds 0 where the difference lies within the noise of so few games. Raises ValueError as
    `wilson` does.
    """
    one, other = wilson(wins, games), wilson(other_wins, other_games)
    share, other_share = wins / games, other_wins / other_games
    gap = share - other_share
    return Interval(
        gap - hypot(share - one.low, other.high - other_share),
        gap + hypot(one.high - share, other_share - other.low),
    )
