"""Ratings of bots that never change, and which match tells most of them."""

from __future__ import annotations

from itertools import combinations
from random import Random

import numpy as np
import pytest

from cw.league.informative_matches import (
    Meetings,
    Strengths,
    centred,
    certainty,
    expected_weights,
    most_informative,
    reductions,
    strengths,
)
from tests.league.best_plan import least_share, share_of_matches
from tests.league.informative_matches import BOTS, course, matches_until

MATCHES = [((0, 1), (1, 2)), ((1, 2), (1, 1)), ((2, 3, 0), (2, 1, 3)), ((3, 1), (2, 1))] * 3


def variance(estimate: Strengths) -> float:
    """Return the sum of all variances around the mean of all bots."""
    middle = centred(estimate.covariance)
    return float(np.trace(middle - middle.mean(axis=1, keepdims=True)))


def test_ratings_do_not_depend_on_the_order_of_matches() -> None:
    shuffled = Random(1).sample(MATCHES, len(MATCHES))
    one, other = (strengths(Meetings.of(4, matches)) for matches in (MATCHES, shuffled))
    assert np.allclose(one.mu, other.mu)
    assert np.allclose(one.mu, strengths(Meetings.of(4, MATCHES), start=one.mu + 3).mu)


def test_bots_that_win_all_are_rated_and_those_that_never_met_are_ordered() -> None:
    chain = [((low, low + 1), (2, 1)) for low in range(4)] * 50
    ratings = strengths(Meetings.of(5, chain)).ratings
    assert [rating.mu for rating in ratings] == sorted(rating.mu for rating in ratings)
    assert ratings[4].mu - ratings[0].mu > 1000


def test_of_each_match_it_is_known_what_it_tells() -> None:
    estimate = strengths(Meetings.of(4, MATCHES))
    lowered = reductions(estimate, [])
    spread = np.diag(estimate.covariance)
    doubt = spread[:, None] + spread[None, :] - 2 * estimate.covariance
    weights = expected_weights(estimate.mu, doubt)
    for first, second in combinations(range(4), 2):
        information = np.linalg.inv(estimate.covariance)
        along = np.zeros(4)
        along[[first, second]] = 1, -1
        information += weights[first, second] * np.outer(along, along)
        after = Strengths(estimate.mu, np.linalg.inv(information))
        assert variance(estimate) - variance(after) == pytest.approx(lowered[first, second])
        assert reductions(estimate, [(first, second)])[first, second] < lowered[first, second]


def test_a_newcomer_meets_those_who_are_as_strong_as_it_seems() -> None:
    pairs = [((strong, strong + 1), ranks) for strong in (0, 2) for ranks in ((1, 2), (2, 1))]
    gap = [((0, 2), (1, 2)), ((1, 3), (1, 2))]
    estimate = strengths(Meetings.of(5, pairs * 30 + gap * 30 + [((4, 0), (2, 1))] * 4))
    for lot in range(5):
        pair = most_informative(estimate, [], 2, Random(lot))
        assert 4 in pair
        assert {2, 3} & set(pair)


def test_matches_in_flight_are_not_asked_for_again() -> None:
    estimate = strengths(Meetings.of(4, []))
    first = most_informative(estimate, [], 2, Random(1))
    second = most_informative(estimate, [first], 2, Random(1))
    assert not set(first) & set(second)


def test_all_seats_of_a_larger_match_are_filled_once() -> None:
    estimate = strengths(Meetings.of(6, MATCHES))
    assert len(set(most_informative(estimate, [], 4, Random(1)))) == 4
    with pytest.raises(ValueError, match="6 bots are too few for 7 seats"):
        most_informative(estimate, [], 7, Random(1))


def test_certainty_is_that_of_the_prior_before_any_match() -> None:
    assert np.allclose(certainty(np.zeros((3, 3)), np.zeros(3)) * (700 / 173.7178) ** 2, np.eye(3))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("spread", "bound", "before"),
    [(400, 60, BOTS - 1), (800, 120, 0)],
    ids=["one new bot", "a wide field"],
)
def test_it_takes_at_most_70_percent_of_the_matches_of_a_round_robin(
    spread: float, bound: float, before: int
) -> None:
    robin = matches_until(course("round robin", spread, 4, 1200, before), bound)
    ours = matches_until(course("cw league", spread, 4, 1200, before), bound)
    assert robin is not None
    assert ours is not None
    assert ours <= 0.7 * robin


def test_no_plan_saves_much_where_bots_are_nearly_equal() -> None:
    assert share_of_matches(np.zeros(BOTS)) == pytest.approx(1)
    assert least_share(200, 4) > 0.7 > least_share(400, 4)
