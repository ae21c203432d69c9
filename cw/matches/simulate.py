"""Simulating matches between built-in strategies in this process, without protocols and clocks."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from random import Random
from statistics import median
from time import perf_counter
from typing import Any

import msgspec

from cw.arena.bots import BotSpec
from cw.errors import UsageError
from cw.games.registry import load_game, load_play_options, load_strategy
from cw.games.rules import Json, Outcome, Player
from cw.league.strength_tests import Interval, wilson
from cw.matches.run import check_number
from cw.matches.spec import MatchResult, MatchSpec
from cw.matches.verdict import tie_breaks


def series(
    game: str, names: Sequence[str], games: int, seed: int, options: Mapping[str, Json]
) -> Iterator[MatchSpec]:
    """Yield the matches of a series; the seats rotate, and the seed changes with each round.

    Bots are named by their number in `names`, so that results can be counted by strategy. Raises
    UsageError for an unknown strategy, or if that many cannot play the game.
    """
    for name in names:
        load_strategy(game, name)
    check_number(game, load_game(game).rules.seats, len(names))
    bots = [BotSpec(str(number), "builtin", name) for number, name in enumerate(names)]
    for number in range(games):
        shift = number % len(bots)
        order = (*bots[shift:], *bots[:shift])
        yield MatchSpec(
            f"{seed} {number}", game, tuple(order), seed + number // len(bots), dict(options)
        )


def simulate_all(specs: Sequence[MatchSpec], jobs: int) -> Iterator[MatchResult]:
    """Play matches on `jobs` processes, in this one if it is one; yield the results in order.

    Apart from the times of actions, they do not depend on the number of processes. Raises
    UsageError for options that the game refuses.
    """
    jobs = min(jobs, len(specs))
    if jobs == 1:
        yield from map(simulate, specs)
        return
    # Ctrl-C reaches all processes of a terminal; this one ends the others.
    deaf = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)
    with ProcessPoolExecutor(jobs, initializer=deaf) as processes:
        yield from processes.map(simulate, specs)


def simulate(spec: MatchSpec) -> MatchResult:
    """Play a match between strategies as fast as possible; its replay is empty.

    The randomness of a strategy comes from the id of the match and the name of the bot. Raises
    UsageError for options that the game refuses.

    >>> from cw.arena.bots import BotSpec
    >>> bots = (BotSpec("ann", "builtin", "greedy"), BotSpec("bob", "builtin", "random"))
    >>> simulate(MatchSpec("m", "hexagon", bots, seed=7)).winner
    0
    """
    rules = load_game(spec.game).rules
    state = rules.new(len(spec.bots), spec.seed, **spec.options)
    players = rules.players(state)
    playing = {
        player: load_strategy(spec.game, bot.target)(player, Random(f"{spec.id} {bot.name}"))
        for player, bot in zip(players, spec.bots, strict=True)
    }
    seconds: dict[Player, list[float]] = {player: [] for player in players}
    turns = 0
    while (outcome := rules.outcome(state)) is None:
        actions = {}
        for player in rules.to_move(state):
            began = perf_counter()
            actions[player] = playing[player].act(rules.observe(state, player))
            seconds[player].append(perf_counter() - began)
        state = rules.step(state, actions)
        turns += 1
    return result_of(spec, state, outcome, seconds, turns)


def result_of(
    spec: MatchSpec,
    state: Any,
    outcome: Outcome,
    seconds: Mapping[Player, Sequence[float]],
    turns: int,
) -> MatchResult:
    """Return the result of a match without faults."""
    numbers = {player: number for number, player in enumerate(seconds)}
    return MatchResult(
        id=spec.id,
        game=spec.game,
        reason=outcome.reason,
        winner=None if outcome.winner is None else numbers[outcome.winner],
        ranks=tuple(outcome.ranks.get(player) for player in seconds),
        scores=tuple(outcome.scores.get(player) for player in seconds),
        faults=(),
        seconds=tuple(map(tuple, seconds.values())),
        turns=turns,
        stderr=("",) * len(spec.bots),
        replay={},
        tie_breaks=tie_breaks(spec.game, state, seconds),
    )


def named(spec: MatchSpec, names: Sequence[str]) -> MatchSpec:
    """Return a match of a series with names instead of numbers for its bots."""
    bots = (msgspec.structs.replace(bot, name=names[int(bot.name)]) for bot in spec.bots)
    return msgspec.structs.replace(spec, bots=tuple(bots))


def winner_of(spec: MatchSpec, result: MatchResult) -> int | None:
    """Return the number of the winning strategy in its series, or None."""
    return None if result.winner is None else int(spec.bots[result.winner].name)


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
    """Pair each strategy with the previous one, which it should beat, and with the first one."""
    steps = [(stronger, weaker) for weaker, stronger in pairwise(strategies)]
    return steps + [(name, strategies[0]) for name in strategies[2:]]


def measure(
    game: str, pairs: Iterable[tuple[str, str]], games: int, seed: int, jobs: int
) -> Iterator[Strength]:
    """Play `games` matches of each pair on `jobs` processes; yield the statistics of each pair.

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
