"""Many sequential tests at once, of bots whose true lead is known: a table of how they end.

`python -m tests.league.sequential_tests` prints the figures that docs/lab.md sums up.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from statistics import NormalDist
from typing import Final

import click
import numpy as np
from numpy.typing import NDArray

from cw.league.strength_tests import DOUBT, FEWEST, Hypotheses, log_likelihood_ratio, score_at

TESTS: Final = 2000
BLOCK: Final = 200
"""Pairs that are played at once before anybody looks which tests are over."""

MOST: Final = 40_000

Figures = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Model:
    """How pairs end: the share of draws, and how alike both matches of a pair are."""

    name: str
    draws: float
    alike: float
    """The share of pairs whose second match ends as the first one, below 0 the other way round."""

    def scores(self, elo: float, size: tuple[int, int], rng: np.random.Generator) -> Figures:
        """Return the scores of pairs of a bot that leads by so many Elo."""
        mean = score_at(elo)
        wins, losses = mean - self.draws / 2, 1 - mean - self.draws / 2
        assert min(wins, losses) > 0
        first, second = rng.random(size), rng.random(size)
        bound = rng.random(size) < abs(self.alike)
        second = np.where(bound, first if self.alike > 0 else 1 - first, second)
        both = np.stack((first, second))
        scores: Figures = (both < wins) + (both >= wins) * (both < 1 - losses) / 2
        pairs: Figures = scores.mean(axis=0)
        return pairs


MODELS: Final = (
    Model("no draws, independent", 0.0, 0.0),
    Model("30 % draws, independent", 0.3, 0.0),
    Model("30 % draws, 60 % alike", 0.3, 0.6),
    Model("30 % draws, 50 % opposite", 0.3, -0.5),
    Model("80 % draws, 30 % alike", 0.8, 0.3),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many tests there were, how they ended, and how many pairs they took on average."""

    tests: int
    stronger: int
    pairs: float
    variance: float
    """Of the score of a pair, as it is in truth."""


def outcome(
    model: Model, elo: float, hypotheses: Hypotheses, seed: int, tests: int = TESTS
) -> Outcome:
    """Play sequential tests until all have decided."""
    rng = np.random.default_rng(seed)
    low, high = hypotheses.bounds
    sums, squares = np.zeros(tests), np.zeros(tests)
    stronger, total, played, spread = 0, 0, 0, []
    while len(sums):
        assert played < MOST
        scores = model.scores(elo, (len(sums), BLOCK), rng)
        spread.append((float(scores.var()), scores.size))
        totals = sums[:, None] + scores.cumsum(axis=1)
        deviations = squares[:, None] + (scores**2).cumsum(axis=1)
        pairs = np.arange(played + 1, played + BLOCK + 1)
        mean = totals / pairs
        variance = (deviations - totals * mean + DOUBT) / pairs
        ratio = log_likelihood_ratio(pairs, mean, variance, hypotheses)  # type: ignore[arg-type]
        over = ((ratio <= low) | (ratio >= high)) & (pairs >= FEWEST)
        ended, at = over.any(axis=1), over.argmax(axis=1)
        stronger += int((ratio[ended, at[ended]] >= high).sum())  # type: ignore[index]
        total += int((played + at[ended] + 1).sum())
        sums, squares = totals[~ended, -1], deviations[~ended, -1]
        played += BLOCK
    weight = sum(size for _, size in spread)
    variance_of_pair = sum(value * size for value, size in spread) / weight
    return Outcome(tests, stronger, total / tests, variance_of_pair)


def fixed_size(variance: float, hypotheses: Hypotheses) -> float:
    """Return the pairs of a test of fixed size with the same errors, for a mean that is normal."""
    normal = NormalDist()
    reach = normal.inv_cdf(1 - hypotheses.alpha) + normal.inv_cdf(1 - hypotheses.beta)
    gap = score_at(hypotheses.elo1) - score_at(hypotheses.elo0)
    return variance * (reach / gap) ** 2


def may_be(errors: int, tests: int, bound: float) -> bool:
    """Return whether the 99 % Clopper-Pearson interval of an error rate reaches below a bound."""
    tail = sum(comb(tests, k) * bound**k * (1 - bound) ** (tests - k) for k in range(errors))
    return 1 - tail >= 0.005


def main() -> None:
    """Print the table."""
    hypotheses = Hypotheses()
    click.echo("| matches | true Elo | called stronger | mean pairs | of a fixed-size test |")
    click.echo("|---|---|---|---|---|")
    for model in MODELS:
        for elo in (0, 5, 10, 15, 20):
            ended = outcome(model, elo, hypotheses, seed=elo)
            share = ended.pairs / fixed_size(ended.variance, hypotheses)
            click.echo(
                f"| {model.name} | {elo} | {ended.stronger / ended.tests:.1%} |"
                f" {ended.pairs:.0f} | {share:.0%} |"
            )


if __name__ == "__main__":
    main()
