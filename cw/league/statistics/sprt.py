"""Sequential tests of whether a bot is stronger than another, with as few pairs as necessary.

A pair is the same seed from every seat; its score, from 0 to 1, is one observation. Matches of a
pair may depend on each other in any way, since only the mean and the observed variance of its score
count (the generalized sequential probability ratio test, as used for chess engines).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log, log10, sqrt
from typing import Final, Literal, NamedTuple, TypeAlias

from cw.league.statistics.intervals import Z_95

DOUBT: Final = 0.5
"""Squared deviations of two imaginary pairs, one won and one lost: without them the first few pairs
that end alike would have no variance, and decide.
"""

FEWEST: Final = 8
"""Minimum number of pairs for a decision, however wide the hypotheses are."""

WIDEST: Final = 1000.0
"""Maximum Elo for which hypotheses are meaningful: more is a win in every match."""

Decision: TypeAlias = Literal["stronger", "not stronger"]


def score_at(elo: float) -> float:
    """Return the expected score, from 0 to 1, of a bot ahead by this many logistic Elo.

    >>> round(score_at(20), 4)
    0.5288
    """
    return 1 / (1 + 10 ** (-elo / 400))


def elo_at(score: float) -> float:
    """Return the lead in logistic Elo for a score; infinite from 0 down and from 1 up.

    >>> round(elo_at(0.75), 1)
    190.8
    """
    if not 0 < score < 1:
        return inf if score >= 1 else -inf
    return 400 * log10(score / (1 - score))


@dataclass(frozen=True, slots=True)
class Hypotheses:
    """The hypotheses: a lead of `elo0` against one of `elo1`, and their error probabilities.

    >>> low, high = Hypotheses().bounds
    >>> f"{low:.2f} to {high:.2f}"
    '-2.94 to 2.94'
    """

    elo0: float = 0.0
    elo1: float = 20.0
    alpha: float = 0.05
    """The probability of `stronger` at `elo0`."""
    beta: float = 0.05
    """The probability of `not stronger` at `elo1`."""

    def __post_init__(self) -> None:
        """Raise ValueError if the hypotheses cannot be told apart."""
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
    """A lead in Elo with its 95 % interval; an unlimited bound is infinite."""

    elo: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PairScores:
    """The sums of the scores of pairs.

    >>> scores = PairScores().add(1.0).add(0.5)
    >>> scores.pairs, scores.mean
    (2, 0.75)
    """

    pairs: int = 0
    total: float = 0.0
    squares: float = 0.0
    """The sum of the squares of the scores."""

    def add(self, score: float) -> PairScores:
        """Return the scores with one more pair."""
        return PairScores(self.pairs + 1, self.total + score, self.squares + score * score)

    @property
    def mean(self) -> float:
        """The mean score, from 0 to 1; a half before the first pair."""
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
    are the scores at both hypotheses. All arguments may be numpy arrays.
    """
    low, high = score_at(hypotheses.elo0), score_at(hypotheses.elo1)
    return pairs * (high - low) * (2 * mean - low - high) / (2 * variance)


def ratio_of(scores: PairScores, hypotheses: Hypotheses) -> float:
    """Return the log-likelihood ratio of scores; 0 before the first pair."""
    if not scores.pairs:
        return 0.0
    return log_likelihood_ratio(scores.pairs, scores.mean, scores.variance, hypotheses)


def decision(scores: PairScores, hypotheses: Hypotheses) -> Decision | None:
    """Return the decision that the scores support, or None if more are needed."""
    ratio, (low, high) = ratio_of(scores, hypotheses), hypotheses.bounds
    if scores.pairs < FEWEST or low < ratio < high:
        return None
    return "stronger" if ratio >= high else "not stronger"


def pairs_left(scores: PairScores, hypotheses: Hypotheses) -> float:
    """Return how many more pairs a decision takes if the next ones are like those so far.

    It is infinite if they favour neither side.
    """
    ratio, (low, high) = ratio_of(scores, hypotheses), hypotheses.bounds
    if not ratio:
        return inf
    bound = high if ratio > 0 else low
    return max(scores.pairs * (bound / ratio - 1), FEWEST - scores.pairs, 0.0)
