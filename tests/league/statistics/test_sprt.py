"""Sequential tests of two bots: their arithmetic, and how often they are wrong."""

from __future__ import annotations

from math import inf, isclose, log
from random import Random

import numpy as np
import pytest

from cw.league.strength_tests import (
    DOUBT,
    FEWEST,
    Decision,
    Hypotheses,
    PairScores,
    decision,
    elo_at,
    log_likelihood_ratio,
    pairs_left,
    ratio_of,
    score_at,
)
from tests.league.sequential_tests import BLOCK, MODELS, Model, fixed_size, may_be, outcome


def sums(*scores: float) -> PairScores:
    together = PairScores()
    for score in scores:
        together = together.add(score)
    return together


def published(frequencies: dict[float, int], elo0: float, elo1: float) -> float:
    """Return the ratio as fishtest publishes it, from how often each score of a pair came.

    It is (s1 - s0) (2 s - s0 - s1) / (2 var / N), with the mean s and the variance var of the
    empirical distribution.
    """
    number = sum(frequencies.values())
    share = {score: count / number for score, count in frequencies.items()}
    mean = sum(score * p for score, p in share.items())
    variance = sum(p * (score - mean) ** 2 for score, p in share.items())
    s0, s1 = (1 / (1 + pow(10, -elo / 400)) for elo in (elo0, elo1))
    return (s1 - s0) * (2 * mean - s0 - s1) / (2 * variance / number)


@pytest.mark.parametrize("seed", range(20))
def test_the_ratio_is_the_published_one(seed: int) -> None:
    rng = Random(seed)
    counts = {score / 4: rng.randint(1, 400) for score in range(5)}
    elo0 = rng.uniform(-30, 30)
    elo1 = elo0 + rng.uniform(1, 60)
    scores = sums(*(score for score, count in counts.items() for _ in range(count)))
    observed = scores.variance - DOUBT / scores.pairs
    ours = log_likelihood_ratio(scores.pairs, scores.mean, observed, Hypotheses(elo0, elo1))
    assert isclose(ours, published(counts, elo0, elo1), rel_tol=1e-9, abs_tol=1e-9)


def test_the_ratio_is_what_a_hand_computes() -> None:
    # s0 = 1/2 and s1 = 10/11 at 400 Elo: 12 (9/22) (1.6 - 31/22) / (2 0.05)
    wide = Hypotheses(0, 400)
    assert isclose(log_likelihood_ratio(12, 0.8, 0.05, wide), 12 * 9 / 22 * (1.6 - 31 / 22) / 0.1)
    # One pair won, one drawn: mean 3/4, squared deviations 1/8, and DOUBT: variance 5/16.
    scores = sums(1, 0.5)
    assert isclose(scores.variance, 0.3125)
    assert isclose(ratio_of(scores, wide), 2 * 9 / 22 * (1.5 - 31 / 22) / 0.625)
    assert ratio_of(PairScores(), wide) == 0
    # Right between both hypotheses nothing speaks for either.
    middle = (score_at(0) + score_at(20)) / 2
    assert isclose(log_likelihood_ratio(500, middle, 0.1, Hypotheses()), 0, abs_tol=1e-9)


def test_bounds_are_those_of_wald() -> None:
    assert Hypotheses(alpha=0.05, beta=0.1).bounds == (log(0.1 / 0.95), log(0.9 / 0.05))


def test_elo_and_score_are_inverse() -> None:
    assert score_at(0) == 0.5
    assert isclose(score_at(400), 10 / 11)
    for elo in (-700, -20, 0, 3, 250):
        assert isclose(elo_at(score_at(elo)), elo, abs_tol=1e-9)
    assert (elo_at(1), elo_at(1.2), elo_at(0), elo_at(-0.1)) == (inf, inf, -inf, -inf)


@pytest.mark.parametrize(
    ("elo0", "elo1", "alpha", "beta"),
    [(0, 0, 0.05, 0.05), (5, 0, 0.05, 0.05), (0, 2000, 0.05, 0.05), (float("nan"), 5, 0.1, 0.1),
     (0, float("inf"), 0.1, 0.1), (0, 20, 0, 0.05), (0, 20, 0.05, 0.5), (0, 20, 0.05, -1)],
)  # fmt: skip
def test_hypotheses_that_cannot_be_told_apart_are_refused(
    elo0: float, elo1: float, alpha: float, beta: float
) -> None:
    with pytest.raises(ValueError, match="must be"):
        Hypotheses(elo0, elo1, alpha, beta)


def test_few_pairs_decide_nothing_however_they_end() -> None:
    wide = Hypotheses(0, 400, 0.4, 0.4)
    for pairs in range(FEWEST):
        assert decision(sums(*[1.0] * pairs), wide) is None
    assert decision(sums(*[1.0] * FEWEST), wide) == "stronger"
    assert decision(sums(*[0.0] * FEWEST), wide) == "not stronger"


def test_pairs_that_are_all_won_decide_soon_and_all_drawn_ones_later() -> None:
    won = next(n for n in range(1, 500) if decision(sums(*[1.0] * n), Hypotheses()))
    number = next(n for n in range(1, 500) if decision(sums(*[0.5] * n), Hypotheses()))
    assert won == 11
    assert decision(sums(*[0.5] * number), Hypotheses()) == "not stronger"
    assert 30 < number < 100


def test_the_interval_of_a_lead_shrinks_with_pairs_and_has_an_end_where_scores_have() -> None:
    few, many = (
        sums(*[1.0, 0.5, 0.5, 0.0, 1.0] * 4).estimate,
        sums(*[1, 0.5, 0.5, 0, 1] * 40).estimate,
    )
    assert isclose(few.elo, many.elo)
    assert few.low < many.low < many.elo < many.high < few.high
    all_won = sums(*[1.0] * 20).estimate
    assert all_won.elo == all_won.high == inf
    assert 300 < all_won.low < 800
    assert PairScores().estimate == (0, -inf, inf)


def test_what_is_left_follows_from_what_was() -> None:
    halfway = sums(*[1.0, 1.0, 0.5, 0.5] * 4)
    ratio = ratio_of(halfway, Hypotheses())
    assert isclose(pairs_left(halfway, Hypotheses()), 16 * (Hypotheses().bounds[1] / ratio - 1))
    assert pairs_left(PairScores(), Hypotheses()) == inf
    assert pairs_left(sums(*[1.0] * 30), Hypotheses()) == 0


def test_many_tests_at_once_end_as_each_of_them_does() -> None:
    model, hypotheses, tests = Model("any", 0.3, 0.4), Hypotheses(0, 150), 40
    scores = model.scores(75, (tests, BLOCK), np.random.default_rng(3))
    ends = [end_of(row, hypotheses) for row in scores.tolist()]
    together = outcome(model, 75, hypotheses, seed=3, tests=tests)
    assert together.stronger == sum(word == "stronger" for word, _ in ends)
    assert together.pairs == sum(pairs for _, pairs in ends) / tests


def end_of(scores: list[float], hypotheses: Hypotheses) -> tuple[Decision, int]:
    """Return how a test ends that is given these scores, and after how many."""
    together = PairScores()
    for score in scores:
        together = together.add(score)
        if word := decision(together, hypotheses):
            return word, together.pairs
    raise AssertionError("no decision")


@pytest.mark.thorough
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_errors_are_within_their_bounds_and_tests_are_short(model: Model) -> None:
    hypotheses = Hypotheses()
    for elo in (-10, 0, 20, 40):
        check(model, elo, hypotheses)
    between = [outcome(model, elo, hypotheses, seed=elo).stronger for elo in (0, 5, 10, 15, 20)]
    assert between == sorted(between)
    assert 0.3 < between[2] / 2000 < 0.7


@pytest.mark.thorough
def test_a_lead_of_nothing_is_no_lead_for_hypotheses_above_it() -> None:
    hypotheses = Hypotheses(5, 35)
    for elo in (0, 5, 35):
        check(MODELS[2], elo, hypotheses)


def test_errors_of_wide_hypotheses_are_within_their_bounds() -> None:
    for elo in (0, 50):
        check(MODELS[1], elo, Hypotheses(0, 50))


def check(model: Model, elo: float, hypotheses: Hypotheses) -> None:
    """Check the rate of the error that a lead may lead to, and how many pairs tests took."""
    ended = outcome(model, elo, hypotheses, seed=11)
    if elo <= hypotheses.elo0:
        assert may_be(ended.stronger, ended.tests, hypotheses.alpha), (elo, ended)
    if elo >= hypotheses.elo1:
        assert may_be(ended.tests - ended.stronger, ended.tests, hypotheses.beta), (elo, ended)
    if elo in (hypotheses.elo0, hypotheses.elo1):
        assert ended.pairs <= 0.6 * fixed_size(ended.variance, hypotheses), (elo, ended)
