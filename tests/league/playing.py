"""Contests played to the end with made-up results."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from cw.league.fixtures import Fixture, Result, Results, Round, open_fixtures
from cw.league.formats import Contest

SQUARES = 49


def names(count: int) -> tuple[str, ...]:
    return tuple(f"t{number:03}" for number in range(1, count + 1))


def won_by_first(game: Fixture, score: int = 30) -> Result:
    return Result(game.first, game.second, game.first, (score, SQUARES - score))


def won_by_second(game: Fixture, score: int = 30) -> Result:
    return Result(game.first, game.second, game.second, (SQUARES - score, score))


def won_by(team: str, game: Fixture, score: int = 30) -> Result:
    return won_by_first(game, score) if game.first == team else won_by_second(game, score)


def chance(game: Fixture, seed: int) -> Result:
    """Decide a game by chance, but the same game always in the same way."""
    rng = Random(f"{seed} {game}")
    return rng.choice((won_by_first, won_by_second))(game, rng.randint(25, 49))


def play(contest: Contest, seed: int) -> dict[Fixture, Result]:
    """Play a contest round by round."""
    results: dict[Fixture, Result] = {}
    while games := open_fixtures(contest.rounds(results), results):
        results |= {game: chance(game, seed) for game in games}
    return results


def played(rounds: Iterable[Round], results: Results) -> list[Result]:
    return [results[game] for games in rounds for game in games]


def nobody_plays_twice(games: Round) -> bool:
    seated = [team for game in games for team in (game.first, game.second)]
    return len(seated) == len(set(seated))
