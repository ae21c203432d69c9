"""How strong the built-in strategies of a game are: each pair plays, with seats swapped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from statistics import median
from time import perf_counter
from typing import Final

from cw.errors import Refused
from cw.games.catalogue import load_game, load_strategies
from cw.league.statistics import Interval, wilson

OPENINGS: Final = 4
"""Random segments with which each game starts, the same for both games of a pair of games."""


@dataclass(frozen=True, slots=True)
class Played:
    """One game between two strategies: who won, and the seconds of every move of each."""

    won: bool
    """Whether the first strategy of the pair won."""
    ours: tuple[float, ...]
    theirs: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Strength:
    """How a strategy did against another one."""

    strategy: str
    opponent: str
    games: int
    wins: int
    median_seconds: float
    """Of a move of the strategy, not of its opponent."""
    longest_seconds: float

    @property
    def share(self) -> float:
        """The share of games won."""
        return self.wins / self.games

    @property
    def interval(self) -> Interval:
        """The Wilson interval of that share, for 95 %."""
        return wilson(self.wins, self.games)


def ladder(strategies: Sequence[str]) -> list[tuple[str, str]]:
    """Pair each strategy with the one before it, which it should beat, and with the first one."""
    steps = [(stronger, weaker) for weaker, stronger in pairwise(strategies)]
    return steps + [(name, strategies[0]) for name in strategies[2:]]


def measure(
    game: str, pairs: Iterable[tuple[str, str]], games: int, seed: int, jobs: int
) -> Iterator[Strength]:
    """Play an even number of games a pair, on `jobs` processes, and give each pair's figures."""
    if games < 2 or games % 2:
        raise Refused(f"the number of games must be even and at least 2, not {games}")
    with ProcessPoolExecutor(jobs) as processes:
        for ours, theirs in pairs:
            played = processes.map(
                play,
                *zip(*[(game, ours, theirs, seed, number) for number in range(games)], strict=True),
            )
            yield summary(ours, theirs, list(played))


def summary(ours: str, theirs: str, played: Sequence[Played]) -> Strength:
    """Sum up the games of a pair."""
    seconds = [second for game in played for second in game.ours]
    return Strength(
        strategy=ours,
        opponent=theirs,
        games=len(played),
        wins=sum(game.won for game in played),
        median_seconds=median(seconds),
        longest_seconds=max(seconds),
    )


def play(game: str, ours: str, theirs: str, seed: int, number: int) -> Played:
    """Play one game; an odd number swaps the seats of the even one before it."""
    rules, strategies = load_game(game), load_strategies(game)
    opening = seed + number // 2
    state = rules.new(2, opening, openings=OPENINGS)
    first, second = rules.players(state)
    seat, other = (first, second) if number % 2 == 0 else (second, first)
    names = {seat: ours, other: theirs}
    playing = {
        player: strategies[name](player, Random(f"{seed} {number} {player}"))
        for player, name in names.items()
    }
    seconds: dict[object, list[float]] = {seat: [], other: []}
    while movers := rules.to_move(state):
        actions = {}
        for player in movers:
            began = perf_counter()
            actions[player] = playing[player].act(rules.observe(state, player))
            seconds[player].append(perf_counter() - began)
        state = rules.step(state, actions)
    outcome = rules.outcome(state)
    won = outcome is not None and outcome.winner == seat
    return Played(won, tuple(seconds[seat]), tuple(seconds[other]))
