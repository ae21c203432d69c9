"""Glicko-2, by the examples of its author and of the rule book, and by what must hold of it."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cw.league.glicko2 import Rating, pair_ranks, rate, update

THREE = (Rating(1620, 80, 0.06), Rating(1500, 350, 0.06), Rating(1410, 150, 0.055))

ratings = st.builds(Rating, st.floats(-2000, 5000), st.floats(20, 350), st.floats(0.02, 0.12))


def figures(rating: Rating) -> tuple[float, float, float]:
    return rating.mu, rating.phi, rating.sigma


def test_the_worked_example_of_glickman() -> None:
    opponents = [(Rating(1400, 30), 1.0), (Rating(1550, 100), 0.0), (Rating(1700, 300), 0.0)]
    after = update(Rating(1500, 200, 0.06), opponents)
    assert figures(after) == pytest.approx((1464.0507, 151.5165, 0.059996), abs=5e-5)


def test_a_sole_survivor_beats_those_with_more_points() -> None:
    after = rate(THREE, pair_ranks([4, 3, 1], winner=1))
    assert [one.mu for one in after] == pytest.approx((1613.4872, 1764.4392, 1355.4979), abs=5e-5)
    assert [one.phi for one in after] == pytest.approx((78.5086, 215.5408, 136.7350), abs=5e-5)
    assert [one.sigma for one in after] == pytest.approx((0.059997, 0.06, 0.054999), abs=5e-7)


def test_points_decide_where_the_turns_have_run_out() -> None:
    after = rate(THREE, pair_ranks([4, 3, 1], winner=0))
    assert after == rate(THREE, pair_ranks([4, 3, 1]))
    assert [one.mu for one in after] == pytest.approx((1637.2262, 1505.2307, 1355.4979), abs=5e-5)


def test_of_a_rating_is_shown_what_it_surely_is_worth() -> None:
    assert Rating(1620, 80, 0.06).shown_rating == 1460
    assert Rating(1500, 350, 0.06).shown_rating == 800


def test_a_bot_without_results_is_less_sure() -> None:
    assert figures(update(Rating(1500, 200, 0.06), [])) == pytest.approx((1500, 200.2714, 0.06))


@pytest.mark.parametrize(
    ("scores", "winner", "is_draw", "ranks"),
    [
        ((4, 3, 3, 1), None, False, (1, 2, 2, 4)),
        ((4, 3, 3, 1), 3, False, (2, 3, 3, 1)),
        ((1, 1), 0, False, (1, 2)),
        ((1, 1), None, False, (1, 1)),
        ((4, 3, 1), None, True, (1, 1, 1)),
        ((-1, 2), None, False, (2, 1)),
    ],
)
def test_ranks_of_pairs(
    scores: tuple[float, ...], winner: int | None, is_draw: bool, ranks: tuple[int, ...]
) -> None:
    assert pair_ranks(scores, winner, drawn=is_draw) == ranks


@pytest.mark.parametrize(("players", "ranks"), [(0, 0), (1, 1), (2, 3), (3, 2)])
def test_a_match_has_two_players_or_more_and_a_rank_each(players: int, ranks: int) -> None:
    with pytest.raises(ValueError, match="a match has two or more"):
        rate([Rating()] * players, [1] * ranks)


@given(st.lists(st.tuples(ratings, st.integers(1, 6)), min_size=2, max_size=6), st.randoms())
def test_the_order_of_the_slots_decides_nothing(
    players: list[tuple[Rating, int]], random: Random
) -> None:
    order = list(range(len(players)))
    random.shuffle(order)
    after = rate(*zip(*players, strict=True))
    turned = rate(*zip(*(players[slot] for slot in order), strict=True))
    for place, slot in enumerate(order):
        assert figures(turned[place]) == pytest.approx(figures(after[slot]), rel=1e-9)


ROUNDING = 1e-9
"""By how much two sums of the same may differ."""


@given(ratings, ratings)
def test_a_win_lifts_and_a_match_makes_sure(own: Rating, other: Rating) -> None:
    win, draw, loss = (update(own, [(other, score)]) for score in (1, 0.5, 0))
    assert win.mu >= draw.mu - ROUNDING
    assert draw.mu >= loss.mu - ROUNDING
    assert win.mu >= own.mu - ROUNDING
    assert own.mu >= loss.mu - ROUNDING
    for after in (win, draw, loss):
        rest = update(Rating(own.mu, own.phi, after.sigma), [])
        assert after.phi <= rest.phi + ROUNDING


def test_what_hardly_can_be_is_still_a_number() -> None:
    after = rate([Rating(0, 20), Rating(60_000, 20)], [1, 2])
    assert all(abs(figure) < 1e9 for one in after for figure in figures(one))
