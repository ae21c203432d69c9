"""How many matches a league takes until its ratings are as certain as those of a round robin.

Bots have a true strength, and win by it. A league is certain once its ratings miss the true ones by
no more than a bound (root mean square, both around their means), on average over many leagues. So
what counts is how far ratings are off, not how sure they say they are.

`python -m tests.league.informative_matches` prints the figures that docs/lab.md sums up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, cycle
from random import Random
from statistics import fmean
from typing import Final, Literal

import click
import numpy as np

from cw.league.glicko2 import SCALE
from cw.league.informative_matches import Matrix, Meetings, Strengths, most_informative, strengths
from cw.league.strength_tests import score_at

Choice = Literal["round robin", "cw league"]

BOTS: Final = 16
LEAGUES: Final = 100
MOST: Final = 1600
"""Matches of a league."""

EVERY: Final = 10
"""Matches after which it is measured again."""

ACQUAINTED: Final = 4
"""Meetings of each two bots that are known before."""


def misses(
    choice: Choice, truth: Matrix, seed: int, most: int = MOST, before: int = 0
) -> list[float]:
    """Play a league; return how far its ratings miss the true ones, after every few matches.

    So many bots are known from matches `before`; how far the others are off is what counts then.
    """
    rng, far = Random(seed), list[float]()
    meetings = acquainted(truth[:before], rng).grown(len(truth))
    estimate = strengths(meetings)
    turns = cycle(shuffled_pairs(len(truth), rng))
    while len(far) < most // EVERY:
        for _ in range(EVERY // 2):
            pair = next(turns)
            if choice == "cw league":
                estimate = strengths(meetings, estimate.mu)
                pair = most_informative(estimate, [], 2, rng)
            meet(meetings, truth, pair, rng)
        estimate = strengths(meetings, estimate.mu)
        far.append(miss(estimate, truth, before))
    return far


def acquainted(truth: Matrix, rng: Random) -> Meetings:
    """Return the meetings of bots of which each two have met ACQUAINTED times."""
    meetings = Meetings.of(len(truth), [])
    for pair in combinations(range(len(truth)), 2):
        for _ in range(ACQUAINTED):
            meet(meetings, truth, pair, rng)
    return meetings


def meet(meetings: Meetings, truth: Matrix, pair: Sequence[int], rng: Random) -> None:
    """Let two bots play; as in a real league, each of both has the first seat once."""
    for first, second in (pair, pair[::-1]):
        wins = rng.random() < score_at(truth[first] - truth[second])
        meetings.add((first, second), (1, 2) if wins else (2, 1))


def shuffled_pairs(bots: int, rng: Random) -> list[tuple[int, ...]]:
    """Return each pair once, in any order."""
    pairs: list[tuple[int, ...]] = list(combinations(range(bots), 2))
    rng.shuffle(pairs)
    return pairs


def miss(estimate: Strengths, truth: Matrix, before: int = 0) -> float:
    """Return the root mean square of what the ratings of all from `before` on are off, in Elo."""
    off = SCALE * (estimate.mu - estimate.mu[: before or None].mean())
    off -= truth - truth[: before or None].mean()
    return float(np.sqrt((off[before:] ** 2).mean()))


def course(
    choice: Choice, spread: float, leagues: int, most: int = MOST, before: int = 0
) -> list[float]:
    """Return how far ratings are off after every few matches, on average over leagues."""
    fields = [
        np.array([Random(f"{seed} {bot}").gauss(0, spread) for bot in range(BOTS)])
        for seed in range(leagues)
    ]
    every = [misses(choice, truth, seed, most, before) for seed, truth in enumerate(fields)]
    return [fmean(at_once) for at_once in zip(*every, strict=True)]


def matches_until(far: list[float], bound: float) -> int | None:
    """Return after how many matches ratings are off by no more than a bound; None for never."""
    return next((EVERY * at for at, off in enumerate(far, start=1) if off <= bound), None)


def rows(leagues: int) -> Iterator[str]:
    """Yield the rows of the table."""
    for spread in (200, 400, 800):
        for before in (0, BOTS - 1):
            who = "one new, 15 known" if before else "16 new"
            robin, ours = (
                course(choice, spread, leagues, before=before)
                for choice in ("round robin", "cw league")
            )
            for bound in (100, 60):
                matches = matches_until(robin, bound), matches_until(ours, bound)
                share = f"{matches[1] / matches[0]:.0%}" if matches[0] and matches[1] else "-"
                counts = " | ".join(str(count or f"> {MOST}") for count in matches)
                yield f"| {who} | {spread} Elo | {bound} Elo | {counts} | {share} |"


@click.command()
@click.option("--leagues", default=LEAGUES, show_default=True)
def main(leagues: int) -> None:
    """Print how many matches each way of choosing takes."""
    click.echo("| bots | spread | off by | round robin | cw league | share |")
    click.echo("|---|--:|--:|--:|--:|--:|")
    for row in rows(leagues):
        click.echo(row)


if __name__ == "__main__":
    main()
