"""Glicko-2 ratings of bots, extended to matches with any number of players."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, log, pi, sqrt
from typing import Final, NamedTuple

TAU: Final = 0.5
"""The Glicko-2 system constant, which limits how fast sigma changes."""

SCALE: Final = 173.7178
"""Rating points per unit of the internal scale."""

TOLERANCE: Final = 1e-6
"""Tolerance of the search for sigma, on a logarithmic scale."""

BEGINNER: Final = 1500.0
"""The mu that is 0 on the internal scale."""


def shown_rating(mu: float, phi: float) -> float:
    """Return the displayed rating: the bot is almost certainly at least this strong."""
    return mu - 2 * phi


@dataclass(frozen=True, slots=True)
class Rating:
    """The estimated strength of a bot (mu), its uncertainty (phi), and its volatility (sigma)."""

    mu: float = BEGINNER
    phi: float = 350.0
    sigma: float = 0.06

    @property
    def shown_rating(self) -> float:
        """The displayed rating: the bot is almost certainly at least this strong."""
        return shown_rating(self.mu, self.phi)


class Evidence(NamedTuple):
    """What the results of one period say about a bot, on the internal scale of Glicko-2."""

    variance: float
    surplus: float
    """By how much the results exceed expectations, weighted."""


def pair_ranks(
    scores: Sequence[float], winner: int | None = None, *, drawn: bool = False
) -> tuple[int, ...]:
    """Return the ranks by which pairs are judged, by slot, such as 1 2 2 4.

    If the match is `drawn`, all ranks are equal. Otherwise the winner comes first alone, whatever
    its score, and the others are ranked by score, the highest first.
    """
    if drawn:
        return (1,) * len(scores)
    places = [(seat != winner, -score) for seat, score in enumerate(scores)]
    return tuple(1 + sum(other < place for other in places) for place in places)


def rate(before: Sequence[Rating], ranks: Sequence[int]) -> tuple[Rating, ...]:
    """Return the ratings after a match, by slot.

    Each player meets every other one in one rating period, by the ratings before the match; the
    lower rank beats the other, and equal ranks draw. Raises ValueError for fewer than two players,
    and unless there is one rank each.

    >>> ann, bob = rate((Rating(), Rating()), ranks=(1, 2))
    >>> round(ann.mu), round(bob.mu)
    (1662, 1338)
    """
    if len(before) < 2 or len(before) != len(ranks):
        raise ValueError(f"{len(before)} ratings and {len(ranks)} ranks: a match has two or more")
    return tuple(
        update(
            rating,
            [
                (other, result(ranks[seat], rank))
                for against, (other, rank) in enumerate(zip(before, ranks, strict=True))
                if against != seat
            ],
        )
        for seat, rating in enumerate(before)
    )


def result(rank: int, other: int) -> float:
    """Return the score of a rank against another: 1, 0.5 or 0."""
    return 0.5 if rank == other else float(rank < other)


def update(rating: Rating, results: Sequence[tuple[Rating, float]]) -> Rating:
    """Return a rating after one period; `results` has each opponent, and 1, 0.5 or 0 against it.

    Without results, only the uncertainty grows.
    """
    strength, deviation = (rating.mu - BEGINNER) / SCALE, rating.phi / SCALE
    if not results:
        return Rating(rating.mu, SCALE * sqrt(deviation**2 + rating.sigma**2), rating.sigma)
    performance = evidence(strength, results)
    sigma = new_sigma(deviation, rating.sigma, performance)
    # Steps 6 to 8 of Glickman, "Example of the Glicko-2 system" (2013).
    widened = deviation**2 + sigma**2
    narrowed = 1 / (1 / widened + 1 / performance.variance)
    return Rating(
        BEGINNER + SCALE * (strength + narrowed * performance.surplus),
        SCALE * sqrt(narrowed),
        sigma,
    )


def evidence(strength: float, results: Sequence[tuple[Rating, float]]) -> Evidence:
    """Return the evidence of results, each with an opponent and the score against it."""
    certainty = surplus = 0.0
    for opponent, score in results:
        weight = weight_of(opponent)
        lead = lead_over(strength, opponent)
        expected = chance(lead)
        certainty += weight**2 * expected * chance(-lead)
        surplus += weight * (score - expected)
    return Evidence(1 / certainty, surplus)


def weight_of(opponent: Rating) -> float:
    """Return the weight of a result against an opponent, from 0 to 1; Glickman calls it g.

    An opponent with an uncertain rating weighs less.
    """
    return 1 / sqrt(1 + 3 * (opponent.phi / SCALE) ** 2 / pi**2)


def lead_over(strength: float, opponent: Rating) -> float:
    """Return the weighted difference between a bot's strength and an opponent's."""
    return weight_of(opponent) * (strength - (opponent.mu - BEGINNER) / SCALE)


def expected_score(rating: Rating, opponents: Sequence[Rating]) -> float:
    """Return the total score that `update` expects of a rating, at most one point per opponent.

    >>> round(expected_score(Rating(1500), [Rating(1500), Rating(1700, 50)]), 2)
    0.74
    """
    strength = (rating.mu - BEGINNER) / SCALE
    return sum(chance(lead_over(strength, opponent)) for opponent in opponents)


def chance(lead: float) -> float:
    """Return the win probability for a lead, from 0 to 1, without overflow."""
    return 1 / (1 + exp(-lead)) if lead >= 0 else exp(lead) / (1 + exp(lead))


def new_sigma(deviation: float, sigma: float, performance: Evidence) -> float:
    """Return the volatility after a period's results: the root of Glickman's function."""
    # Step 5 of Glickman's paper; he calls it delta squared.
    surprise = (performance.variance * performance.surplus) ** 2
    spread = deviation**2 + performance.variance
    at_first = log(sigma**2)

    def slope(x: float) -> float:
        total = spread + exp(x)
        return exp(x) / total * (surprise / total - 1) / 2 - (x - at_first) / TAU**2

    return exp(zero_of(slope, at_first, other_end(slope, at_first, surprise - spread)) / 2)


def other_end(slope: Callable[[float], float], at_first: float, excess: float) -> float:
    """Return the other end of an interval that contains the root."""
    if excess > 0:
        return log(excess)
    steps = 1
    while slope(at_first - steps * TAU) < 0:
        steps += 1
    return at_first - steps * TAU


def zero_of(slope: Callable[[float], float], a: float, b: float) -> float:
    """Return the root of a function between two ends (regula falsi, Illinois variant)."""
    at_a, at_b = slope(a), slope(b)
    while abs(b - a) > TOLERANCE:
        c = a + (a - b) * at_a / (at_b - at_a)
        at_c = slope(c)
        if at_c * at_b <= 0:
            a, at_a = b, at_b
        else:
            at_a /= 2
        b, at_b = c, at_c
    return a
