"""The strength of a game's built-in strategies: each pair plays, with seats swapped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from cw.errors import UsageError
from cw.games.registry import load_play_options
from cw.league.statistics.intervals import Interval, wilson
from cw.matches.simulate import series, simulate, winner_of
from cw.matches.spec import MatchResult, MatchSpec


@dataclass(frozen=True, slots=True)
class Strength:
    """The record of a strategy against another one."""

    strategy: str
    opponent: str
    games: int
    wins: int
    median_seconds: float
    """The response time of the strategy, not of its opponent."""
    longest_seconds: float

    @property
    def win_rate(self) -> float:
        """The share of matches won, from 0 to 1."""
        return self.wins / self.games

    @property
    def interval(self) -> Interval:
        """The Wilson interval of the win rate, for 95 %."""
        return wilson(self.wins, self.games)


def ladder(strategies: Sequence[str]) -> list[tuple[str, str]]:
    """Pair each strategy with the one before it, which it should beat, and with the first one."""
    steps = [(stronger, weaker) for weaker, stronger in pairwise(strategies)]
    return steps + [(name, strategies[0]) for name in strategies[2:]]


def measure(
    game: str, pairs: Iterable[tuple[str, str]], games: int, seed: int, jobs: int
) -> Iterator[Strength]:
    """Play `games` matches of each pair on `jobs` processes; yield the figures of each pair.

    Raises UsageError for an odd number of matches: the seats could not be swapped.
    """
    if games < 2 or games % 2:
        raise UsageError(f"the number of matches must be even and at least 2, not {games}")
    options = load_play_options(game).measured
    with ProcessPoolExecutor(jobs) as processes:
        for pair in pairs:
            specs = list(series(game, pair, games, seed, options))
            yield summary(pair, specs, list(processes.map(simulate, specs)))


def summary(
    pair: tuple[str, str], specs: Sequence[MatchSpec], results: Sequence[MatchResult]
) -> Strength:
    """Summarise the matches of a pair."""
    played = list(zip(specs, results, strict=True))
    seats = [[bot.name for bot in spec.bots].index("0") for spec in specs]
    seconds = [
        second
        for seat, result in zip(seats, results, strict=True)
        for second in result.seconds[seat]
    ]
    return Strength(
        strategy=pair[0],
        opponent=pair[1],
        games=len(played),
        wins=sum(winner_of(spec, result) == 0 for spec, result in played),
        median_seconds=median(seconds),
        longest_seconds=max(seconds),
    )
