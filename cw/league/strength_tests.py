"""Sequential tests of whether one bot is stronger than another, intervals, and SPSA tuning.

A pair is the same seed from every seat; its score, from 0 to 1, is one observation. Matches of a
pair may depend on each other in any way, since only the mean and the observed variance of its score
count (the generalized sequential probability ratio test, as used for chess engines).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import hypot, inf, log, log10, sqrt
from random import Random
from statistics import fmean
from typing import Final, Literal, NamedTuple, TypeAlias

REACH_DECAY: Final = 0.101
GAIN_DECAY: Final = 0.602
"""Exponents of the decay of a trial's reach and of the gain, as recommended by Spall."""

STABLE: Final = 0.1
"""Fraction of all steps during which the gain hardly shrinks."""

LEAST_REACH: Final = 0.5
"""Minimum reach for an integer, so that the two sides of a trial always differ by at least one."""

SETTLED: Final = 0.5
"""Fraction of the steps, at the end, whose mean is the result: single points scatter."""

Point: TypeAlias = Mapping[str, float]
"""The value of each tuned number, by name."""


@dataclass(frozen=True, slots=True)
class Tunable:
    """A number to tune, from `low` to `high`."""

    name: str
    start: float
    low: float
    high: float
    step: float
    """How far the first trial moves it from its value, and the most that its result can move it."""
    whole: bool = False
    """Whether the bot receives only integers."""

    def clipped(self, value: float) -> float:
        """Return the nearest value within its range."""
        return min(self.high, max(self.low, value))

    def played(self, value: float) -> float:
        """Return the nearest value that the bot can receive; halves are rounded up."""
        return self.clipped(math.floor(value + 0.5) if self.whole else value)


@dataclass(frozen=True, slots=True)
class Trial:
    """Two bots that play each other, with values on opposite sides of a point."""

    plus: Point
    minus: Point
    signs: Mapping[str, int]
    """1 for a number whose value is higher in `plus`, -1 if it is lower."""


def start_of(numbers: Sequence[Tunable]) -> dict[str, float]:
    """Return the starting point of all numbers."""
    return {number.name: number.start for number in numbers}


def trial(numbers: Sequence[Tunable], point: Point, step: int, seed: int) -> Trial:
    """Return the two bots of a step, counted from 1; signs are drawn from the seed and the step.

    >>> depth = Tunable("depth", start=4, low=1, high=9, step=2, whole=True)
    >>> both = trial([depth], {"depth": 4.0}, step=1, seed=7)
    >>> sorted((both.plus["depth"], both.minus["depth"]))
    [2, 6]
    """
    lots = Random(f"{seed} {step}")
    signs = {number.name: lots.choice((-1, 1)) for number in numbers}
    shift = {number.name: signs[number.name] * reach(number, step) for number in numbers}
    return Trial(
        {number.name: number.played(point[number.name] + shift[number.name]) for number in numbers},
        {number.name: number.played(point[number.name] - shift[number.name]) for number in numbers},
        signs,
    )


def reach(number: Tunable, step: int) -> float:
    """Return how far a trial moves a number from its value."""
    shrunk = number.step * math.pow(step, -REACH_DECAY)
    return max(LEAST_REACH, shrunk) if number.whole else shrunk


def gain(step: int, steps: int) -> float:
    """Return the fraction of a number's `step` by which a trial moves it if one side wins all."""
    stable = STABLE * steps
    return math.pow((stable + 1) / (stable + step), GAIN_DECAY) * math.pow(step, REACH_DECAY)


def moved(
    numbers: Sequence[Tunable], point: Point, signs: Mapping[str, int], score: float, share: float
) -> dict[str, float]:
    """Return the point after a trial in which `plus` scored this much, from 0 to 1.

    `share` is the `gain` of the step.
    """
    lead = 2 * score - 1
    return {
        number.name: number.clipped(
            point[number.name] + number.step * share * lead * signs[number.name]
        )
        for number in numbers
    }


def settled(numbers: Sequence[Tunable], points: Sequence[Point]) -> dict[str, float]:
    """Return the tuned values: those that the bot receives for the mean of the last points."""
    last = points[-max(1, round(len(points) * SETTLED)) :]
    return {
        number.name: number.played(fmean(point[number.name] for point in last))
        for number in numbers
    }


Z_95: Final = 1.959963984540054
"""The standard normal quantile that leaves 2.5 % on either side."""


class Interval(NamedTuple):
    """A confidence interval for a value from 0 to 1."""

    low: float
    high: float


def wilson(wins: float, matches: int, z: float = Z_95) -> Interval:
    """Return the Wilson score interval of a win rate; by default, with 95 % confidence.

    A draw counts as half a win. Raises ValueError unless 0 <= wins <= matches and there was a
    match.

    >>> low, high = wilson(wins=14, matches=20)
    >>> f"{low:.0%} to {high:.0%}"
    '48% to 85%'
    """
    if matches < 1 or not 0 <= wins <= matches:
        raise ValueError(f"{wins} wins in {matches} matches are impossible")
    rate = wins / matches
    # Wilson (1927), not the normal interval: it is valid even for 0 or all wins, and for few
    # matches.
    spread = z * z / matches
    middle = rate + spread / 2
    reach = z * sqrt((rate * (1 - rate) + spread / 4) / matches)
    low, high = (middle - reach) / (1 + spread), (middle + reach) / (1 + spread)
    # Without wins or without losses, one bound is the rate itself, which rounding may just miss.
    return Interval(max(0.0, min(low, rate)), min(1.0, max(high, rate)))


def difference(wins: float, matches: int, other_wins: float, other_matches: int) -> Interval:
    """Return Newcombe's 95 % interval for the difference of two win rates, from -1 to 1.

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


DOUBT: Final = 0.5
"""Squared deviations of two imaginary pairs, one won and one lost.

Without them, a few initial pairs with the same score would have no variance, and decide the test.
"""

FEWEST: Final = 8
"""Minimum number of pairs for a decision, however far apart the hypotheses are."""

WIDEST: Final = 1000.0
"""Maximum Elo for which hypotheses are meaningful: beyond it, every match is won."""

Decision: TypeAlias = Literal["stronger", "not stronger"]


def score_at(elo: float) -> float:
    """Return the expected score, from 0 to 1, of a bot with this lead in logistic Elo.

    >>> round(score_at(20), 4)
    0.5288
    """
    return 1 / (1 + 10 ** (-elo / 400))


def elo_at(score: float) -> float:
    """Return the lead in logistic Elo for a score; infinite for 0 or less and for 1 or more.

    >>> round(elo_at(0.75), 1)
    190.8
    """
    if not 0 < score < 1:
        return inf if score >= 1 else -inf
    return 400 * log10(score / (1 - score))


@dataclass(frozen=True, slots=True)
class Hypotheses:
    """The two hypotheses, a lead of `elo0` or of `elo1`, and their error probabilities.

    >>> low, high = Hypotheses().bounds
    >>> f"{low:.2f} to {high:.2f}"
    '-2.94 to 2.94'
    """

    elo0: float = 0.0
    elo1: float = 20.0
    alpha: float = 0.05
    """The probability of deciding `stronger` at `elo0`."""
    beta: float = 0.05
    """The probability of deciding `not stronger` at `elo1`."""

    def __post_init__(self) -> None:
        """Raise ValueError if the hypotheses cannot be distinguished."""
        if not -WIDEST <= self.elo0 < self.elo1 <= WIDEST:
            raise ValueError(
                f"elo0 must be less than elo1, both between -{WIDEST:g} and {WIDEST:g};"
                f" they are {self.elo0:g} and {self.elo1:g}"
            )
        for name, error in (("alpha", self.alpha), ("beta", self.beta)):
            if not 1e-6 <= error < 0.5:
                raise ValueError(f"{name} must be at least 0.000001 and below 0.5, not {error:g}")

    @property
    def bounds(self) -> tuple[float, float]:
        """The log-likelihood ratios at which `elo0` and `elo1` are accepted (Wald)."""
        return log(self.beta / (1 - self.alpha)), log((1 - self.beta) / self.alpha)


class Estimate(NamedTuple):
    """A lead in Elo with its 95 % interval; an unbounded side is infinite."""

    elo: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PairScores:
    """Sums over the scores of pairs.

    >>> scores = PairScores().add(1.0).add(0.5)
    >>> scores.pairs, scores.mean
    (2, 0.75)
    """

    pairs: int = 0
    total: float = 0.0
    squares: float = 0.0
    """The sum of the squares of the scores."""

    def add(self, score: float) -> PairScores:
        """Return the sums with one more pair."""
        return PairScores(self.pairs + 1, self.total + score, self.squares + score * score)

    @property
    def mean(self) -> float:
        """The mean score, from 0 to 1; 0.5 before the first pair."""
        return self.total / self.pairs if self.pairs else 0.5

    @property
    def variance(self) -> float:
        """The observed variance of a pair's score, including DOUBT; needs at least one pair."""
        deviations = max(0.0, self.squares - self.total * self.mean)
        return (deviations + DOUBT) / self.pairs

    @property
    def estimate(self) -> Estimate:
        """The lead in Elo, with its 95 % interval."""
        if not self.pairs:
            return Estimate(0.0, -inf, inf)
        reach = Z_95 * sqrt(self.variance / self.pairs)
        return Estimate(elo_at(self.mean), elo_at(self.mean - reach), elo_at(self.mean + reach))


def log_likelihood_ratio(
    pairs: float, mean: float, variance: float, hypotheses: Hypotheses
) -> float:
    """Return how much likelier the scores are at `elo1` than at `elo0`, as a natural logarithm.

    It is N (s1 - s0) (2 m - s0 - s1) / 2 v for N pairs of mean m and variance v, where s0 and s1
    are the expected scores under the two hypotheses. All arguments may be numpy arrays.
    """
    low, high = score_at(hypotheses.elo0), score_at(hypotheses.elo1)
    return pairs * (high - low) * (2 * mean - low - high) / (2 * variance)


def ratio_of(scores: PairScores, hypotheses: Hypotheses) -> float:
    """Return the log-likelihood ratio of the scores; 0 before the first pair."""
    if not scores.pairs:
        return 0.0
    return log_likelihood_ratio(scores.pairs, scores.mean, scores.variance, hypotheses)


def decision(scores: PairScores, hypotheses: Hypotheses) -> Decision | None:
    """Return the decision supported by the scores, or None if more pairs are needed."""
    ratio, (low, high) = ratio_of(scores, hypotheses), hypotheses.bounds
    if scores.pairs < FEWEST or low < ratio < high:
        return None
    return "stronger" if ratio >= high else "not stronger"


def pairs_left(scores: PairScores, hypotheses: Hypotheses) -> float:
    """Return how many more pairs a decision takes if they score like those so far.

    The number is infinite if the scores favour neither side.
    """
    ratio, (low, high) = ratio_of(scores, hypotheses), hypotheses.bounds
    if not ratio:
        return inf
    bound = high if ratio > 0 else low
    return max(scores.pairs * (bound / ratio - 1), FEWEST - scores.pairs, 0.0)
