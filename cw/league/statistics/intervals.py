"""Confidence intervals: how reliable figures from few matches are."""

from __future__ import annotations

from math import hypot, sqrt
from typing import Final, NamedTuple

Z_95: Final = 1.959963984540054
"""The standard normal quantile that leaves 2.5 % on either side."""


class Interval(NamedTuple):
    """An interval of shares, each from 0 to 1."""

    low: float
    high: float


def wilson(wins: float, matches: int, z: float = Z_95) -> Interval:
    """Return the Wilson score interval of a win rate, for 95 % unless z says otherwise.

    A draw counts as half a win. Raises ValueError unless 0 <= wins <= matches and there was a
    match.

    >>> low, high = wilson(wins=14, matches=20)
    >>> f"{low:.0%} to {high:.0%}"
    '48% to 85%'
    """
    if matches < 1 or not 0 <= wins <= matches:
        raise ValueError(f"{wins} wins in {matches} matches are impossible")
    rate = wins / matches
    # Wilson (1927), not the normal interval: it is sound at 0 and at all wins, and for few matches.
    spread = z * z / matches
    middle = rate + spread / 2
    reach = z * sqrt((rate * (1 - rate) + spread / 4) / matches)
    low, high = (middle - reach) / (1 + spread), (middle + reach) / (1 + spread)
    # At no wins or no losses a bound is the rate itself, which rounding may just miss.
    return Interval(max(0.0, min(low, rate)), min(1.0, max(high, rate)))


def difference(wins: float, matches: int, other_wins: float, other_matches: int) -> Interval:
    """Return Newcombe's 95 % interval of the difference of two win rates, from -1 to 1.

    It contains 0 if the difference is within the noise of so few matches. Raises ValueError as
    `wilson` does.

    >>> low, high = difference(14, 14, 12, 14)
    >>> low <= 0 <= high
    True
    """
    first, second = wilson(wins, matches), wilson(other_wins, other_matches)
    rate, other_rate = wins / matches, other_wins / other_matches
    gap = rate - other_rate
    return Interval(
        gap - hypot(rate - first.low, second.high - other_rate),
        gap + hypot(first.high - rate, other_rate - second.low),
    )
