"""Ratings of bots of constant strength, and the match expected to reduce uncertainty most.

The model is Glicko-2 with constant strength: all matches form one rating period, so their order
does not matter. It is solved for all bots together, with their covariance: bots that never met are
compared through chains of others, whose errors add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cw.league.glicko2 import BEGINNER, SCALE, Rating, result

DOUBT: Final = 700.0
"""The deviation of a bot before its first match, in points: bots differ more than humans do."""

PRIOR: Final = (SCALE / DOUBT) ** 2
"""The prior precision, that is, the inverse of the prior variance."""

LONGEST_STEP: Final = 2.0
"""The maximum change of a strength per step towards the solution, in units of SCALE."""

CLOSE: Final = 1e-7
MOST_STEPS: Final = 100

Matrix: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Meetings:
    """How often any two bots have met, and their scores against each other."""

    number: Matrix
    scores: Matrix
    """Indexed by bot, then by opponent: a win is 1, a draw 0.5."""

    @staticmethod
    def of(bots: int, matches: Iterable[tuple[Sequence[int], Sequence[int]]]) -> Meetings:
        """Count matches, given as bot indexes and ranks; the lower rank wins."""
        meetings = Meetings(np.zeros((bots, bots)), np.zeros((bots, bots)))
        for seats, ranks in matches:
            meetings.add(seats, ranks)
        return meetings

    def grown(self, bots: int) -> Meetings:
        """Return a copy with room for this many bots; the new ones have no meetings."""
        room = (0, bots - len(self.number))
        return Meetings(np.pad(self.number, room), np.pad(self.scores, room))

    def add(self, seats: Sequence[int], ranks: Sequence[int]) -> None:
        """Count one more match, in which each bot meets every other one."""
        for (first, rank), (second, other) in combinations(zip(seats, ranks, strict=True), 2):
            self.number[[first, second], [second, first]] += 1
            self.scores[first, second] += result(rank, other)
            self.scores[second, first] += result(other, rank)


@dataclass(frozen=True, slots=True)
class Strengths:
    """The estimated strengths of bots, on the internal scale of the ratings."""

    mu: Matrix
    covariance: Matrix

    @property
    def ratings(self) -> list[Rating]:
        """The rating of each bot, with its deviation from the mean of all bots."""
        if not len(self.mu):
            return []
        middle = centred(self.covariance)
        phi = SCALE * np.sqrt(np.diag(middle - middle.mean(axis=1, keepdims=True)))
        mu = BEGINNER + SCALE * self.mu
        return [Rating(*both) for both in zip(mu.tolist(), phi.tolist(), strict=True)]


def strengths(meetings: Meetings, start: Matrix | None = None) -> Strengths:
    """Return the most likely strengths; they do not depend on the starting point of the search.

    >>> one_won = Meetings.of(3, [((0, 1), (1, 2))])
    >>> [round(rating.mu) for rating in strengths(one_won).ratings]
    [1716, 1284, 1500]
    """
    mu = np.zeros(len(meetings.number)) if start is None else start
    for _ in range(MOST_STEPS):
        # Newton's method is suitable because the log-likelihood is concave.
        surplus = (meetings.scores - meetings.number * chances(mu)).sum(axis=1) - PRIOR * mu
        step = np.linalg.solve(certainty(meetings.number, mu), surplus)
        far = float(np.abs(step).max(initial=0.0))
        mu = mu + step * min(1.0, LONGEST_STEP / far if far else 1.0)
        if far < CLOSE:
            break
    return Strengths(mu, np.asarray(np.linalg.inv(certainty(meetings.number, mu)), np.float64))


def chances(mu: Matrix) -> Matrix:
    """Return the probability that each bot beats each other bot."""
    return np.asarray(1 / (1 + np.exp(np.clip(mu[None, :] - mu[:, None], -30, 30))))


def certainty(number: Matrix, mu: Matrix) -> Matrix:
    """Return the information matrix of the strengths: the inverse of their covariance."""
    weights = number * chances(mu) * (1 - chances(mu))
    return np.asarray(np.diag(weights.sum(axis=1) + PRIOR) - weights)


def most_informative(
    known: Strengths, flying: Iterable[Sequence[int]], seats: int, rng: Random
) -> tuple[int, ...]:
    """Return the bots whose match is expected to reduce the uncertainty of strengths most.

    The first two are the most informative pair; each further bot is the one that adds most to those
    before. Matches that are `flying`, that is, in progress, count as if they were over. `rng`
    chooses among equal candidates. Raises ValueError for fewer bots than seats.
    """
    bots = len(known.mu)
    if bots < seats:
        raise ValueError(f"{bots} bots are too few for {seats} seats")
    gains = reductions(known, flying)
    group = list(divmod(largest(gains, rng), bots))
    while len(group) < seats:
        beside = gains[group].sum(axis=0)
        beside[group] = -1
        group.append(largest(beside, rng))
    return tuple(group)


def reductions(known: Strengths, flying: Iterable[Sequence[int]]) -> Matrix:
    """Return how much a match of each pair lowers the sum of variances; -1 on the diagonal.

    The variances are those around the mean of all bots: only differences of strength matter.
    """
    covariance = known.covariance
    weights = expected_weights(known.mu, apart(covariance))
    for first, second in (pair for match in flying for pair in combinations(match, 2)):
        # Sherman-Morrison: a match of weight w along u subtracts w Cuu'C / (1 + w u'Cu) from C.
        along = covariance[first] - covariance[second]
        weight = weights[first, second]
        factor = weight / (1 + weight * (along[first] - along[second]))
        covariance = covariance - factor * np.outer(along, along)
    middle = centred(covariance)
    lowered = weights * apart(middle.T @ middle) / (1 + weights * apart(covariance))
    np.fill_diagonal(lowered, -1)
    return np.asarray(lowered)


def expected_weights(mu: Matrix, doubt: Matrix) -> Matrix:
    """Return the expected information of a match of each pair, averaged over possible leads."""
    lead = (mu[:, None] - mu[None, :]) / np.sqrt(1 + 3 * doubt / np.pi**2)
    expected = 1 / (1 + np.exp(np.clip(lead, -30, 30)))
    return np.asarray(expected * (1 - expected))


def centred(covariance: Matrix) -> Matrix:
    """Return a covariance relative to the mean of all bots, which is subtracted from each."""
    return np.asarray(covariance - covariance.mean(axis=0))


def apart(inner: Matrix) -> Matrix:
    """Return the squared distances between vectors, given their inner products."""
    squares = np.diag(inner)
    return np.asarray(squares[:, None] + squares[None, :] - 2 * inner)


def largest(values: Matrix, rng: Random) -> int:
    """Return the index of the largest value; choose at random if there are several."""
    flat = values.ravel()
    return int(rng.choice(np.flatnonzero(flat >= flat.max() - 1e-9).tolist()))
