"""Intervals of shares."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cw.league.strength_tests import difference, wilson


@pytest.mark.parametrize(
    ("wins", "games", "low", "high"),
    [
        (0, 10, 0.0, 0.27753),
        (5, 10, 0.23659, 0.76341),
        (10, 10, 0.72247, 1.0),
        (81, 263, 0.25527, 0.36618),
        (190, 200, 0.91043, 0.97261),
    ],
)
def test_known_intervals(wins: int, games: int, low: float, high: float) -> None:
    assert wilson(wins, games) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_share_lies_within_and_sides_mirror(pair: tuple[int, int]) -> None:
    wins, games = pair
    low, high = wilson(wins, games)
    assert 0 <= low <= wins / games + 1e-12
    assert wins / games - 1e-12 <= high <= 1
    mirrored = wilson(games - wins, games)
    assert mirrored == pytest.approx((1 - high, 1 - low))


@pytest.mark.parametrize(("wins", "games"), [(0, 0), (-1, 5), (6, 5)])
def test_what_cannot_be_is_refused(wins: int, games: int) -> None:
    with pytest.raises(ValueError, match="are impossible"):
        wilson(wins, games)


def test_known_differences() -> None:
    # The examples (a) and (e) of Newcombe, "Interval estimation for the difference between
    # independent proportions", method 10.
    assert difference(56, 70, 48, 80) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert difference(5, 56, 0, 29) == pytest.approx((-0.0381, 0.1926), abs=5e-5)


@given(
    st.tuples(
        *[st.integers(1, 100).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))] * 2
    )
)
def test_the_difference_lies_within_and_sides_mirror(
    pairs: tuple[tuple[int, int], tuple[int, int]],
) -> None:
    (wins, games), (others, other_games) = pairs
    low, high = difference(wins, games, others, other_games)
    assert -1 - 1e-12 <= low <= wins / games - others / other_games <= high <= 1 + 1e-12
    mirrored = difference(others, other_games, wins, games)
    assert mirrored == pytest.approx((-high, -low))
