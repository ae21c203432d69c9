"""How few matches any choice could do with: a plan that is made with the true strengths known.

Of a plan, which share of all matches each pair plays, follows how far ratings are off: the variance
is the inverse of what the matches tell (Fisher). The best plan is that of least variance around the
mean. A choice that must first learn the strengths is not better.

`python -m tests.league.best_plan` prints the figures of docs/decisions/0010-the-lab.md.
"""

from __future__ import annotations

from itertools import combinations
from random import Random
from statistics import fmean
from typing import Final

import click
import numpy as np

from cw.league.glicko2 import SCALE
from cw.league.informative_matches import Matrix, chances
from tests.league.informative_matches import BOTS

FIELDS: Final = 30
STEPS: Final = 150
"""Towards the best plan; more change nothing in the second digit."""


def share_of_matches(truth: Matrix) -> float:
    """Return how many matches the best plan takes, as a share of those of a round robin."""
    pairs = np.array(list(combinations(range(len(truth)), 2)))
    likely = chances(truth / SCALE)[pairs[:, 0], pairs[:, 1]]
    plan = even = np.full(len(pairs), 1 / len(pairs))
    for _ in range(STEPS):
        # The multiplicative algorithm: a pair gets as much more as it lowers the variance.
        inverse = variances(pairs, likely * (1 - likely) * plan, len(truth))
        along = inverse[pairs[:, 0]] - inverse[pairs[:, 1]]
        plan = plan * np.sqrt(likely * (1 - likely) * (along**2).sum(axis=1))
        plan /= plan.sum()
    best, usual = (
        np.trace(variances(pairs, likely * (1 - likely) * shares, len(truth)))
        for shares in (plan, even)
    )
    return float(best / usual)


def variances(pairs: Matrix, weights: Matrix, bots: int) -> Matrix:
    """Return the covariance, around the mean of all, after matches of these weights."""
    along = np.eye(bots)[pairs[:, 0]] - np.eye(bots)[pairs[:, 1]]
    # What all have in common is not known; let it be, for an inverse, and take it away again.
    common = np.full((bots, bots), 1 / bots)
    return np.asarray(np.linalg.inv((along.T * weights) @ along + common) - common)


def least_share(spread: float, fields: int = FIELDS) -> float:
    """Return the share of the best plan, on average over fields whose strengths have a spread."""
    strengths = (
        np.array([Random(f"{seed} {bot}").gauss(0, spread) for bot in range(BOTS)])
        for seed in range(fields)
    )
    return fmean(map(share_of_matches, strengths))


@click.command()
def main() -> None:
    """Print the least share for each spread."""
    for spread in (200, 400, 800):
        click.echo(f"{spread} Elo: {least_share(spread):.0%}")


if __name__ == "__main__":
    main()
