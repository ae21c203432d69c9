"""Contests played to the end with made-up results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from random import Random

from cw.league.contests import Contest
from cw.league.fixtures import Fixture, Result, Results, Round, open_fixtures

SQUARES = 49


def names(count: int) -> tuple[str, ...]:
    return tuple(f"t{number:03}" for number in range(1, count + 1))


def of_two(first: str, second: str, score: int, other: int) -> Result:
    """Return the result of a match of two that ended with this score."""
    ranks = (1 + (score < other), 1 + (other < score))
    return Result((first, second), ranks, (score, other))


def won_by_first(fixture: Fixture, score: int = 30) -> Result:
    return Result(fixture.players, (1, 2), (score, SQUARES - score))


def won_by_second(fixture: Fixture, score: int = 30) -> Result:
    return Result(fixture.players, (2, 1), (SQUARES - score, score))


def won_by(team: str, fixture: Fixture, score: int = 30) -> Result:
    won = won_by_first if fixture.players[0] == team else won_by_second
    return won(fixture, score)


def draw(fixture: Fixture) -> Result:
    return Result(fixture.players, (1,) * len(fixture.players), (24,) * len(fixture.players))


def chance(fixture: Fixture, seed: int) -> Result:
    """Decide a match by chance, but the same match always in the same way."""
    rng = Random(f"{seed} {fixture}")
    scores = tuple(rng.randint(0, SQUARES) for _ in fixture.players)
    ranks = tuple(1 + sum(other > score for other in scores) for score in scores)
    return Result(fixture.players, ranks, scores)


def play(contest: Contest, seed: int) -> dict[Fixture, Result]:
    """Play a contest round by round."""
    results: dict[Fixture, Result] = {}
    while fixtures := open_fixtures(contest.rounds(results), results):
        results |= {fixture: chance(fixture, seed) for fixture in fixtures}
    return results


def played(rounds: Iterable[Round], results: Results) -> list[Result]:
    return [results[fixture] for fixture in chain.from_iterable(rounds)]


def players_of(fixtures: Iterable[Fixture]) -> Iterator[str]:
    return chain.from_iterable(fixture.players for fixture in fixtures)


def nobody_plays_twice(fixtures: Round) -> bool:
    seated = list(players_of(fixtures))
    return len(seated) == len(set(seated))
