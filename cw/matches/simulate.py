"""Games between built-in strategies in this process, without bots, wires and clocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from time import perf_counter

from cw.errors import UsageError
from cw.games.registry import load_game, load_strategies
from cw.games.rules import Json, Outcome


@dataclass(frozen=True, slots=True)
class SimulatedGame:
    """A game that is over; strategies are numbered as they were given, not by seat."""

    seed: int
    outcome: Outcome
    turns: int
    winner: int | None
    """The number of the strategy that won, None if nobody did."""
    seconds: tuple[tuple[float, ...], ...]
    """The time of every action of each strategy."""


def simulate(
    game: str, names: Sequence[str], games: int, seed: int, options: Mapping[str, Json]
) -> Iterator[SimulatedGame]:
    """Play games one after the other; the seats rotate, and the seed changes with each round."""
    for number in range(games):
        yield play(game, names, seed, number, options)


def play(
    game: str, names: Sequence[str], seed: int, number: int, options: Mapping[str, Json]
) -> SimulatedGame:
    """Play the game with this number of a series, between strategies that the game has.

    Raises UsageError for options that the game refuses.
    """
    rules, strategies = load_game(game).rules, load_strategies(game)
    start = seed + number // len(names)
    state = rules.new(len(names), start, **options)
    seats = list(rules.players(state))
    seated = {player: (seat + number) % len(names) for seat, player in enumerate(seats)}
    playing = {
        player: strategies[names[index]](player, Random(f"{seed} {number} {index}"))
        for player, index in seated.items()
    }
    seconds: list[list[float]] = [[] for _ in names]
    turns = 0
    while (outcome := rules.outcome(state)) is None:
        actions = {}
        for player in rules.to_move(state):
            began = perf_counter()
            actions[player] = playing[player].act(rules.observe(state, player))
            seconds[seated[player]].append(perf_counter() - began)
        state = rules.step(state, actions)
        turns += 1
    winner = None if outcome.winner is None else seated[outcome.winner]
    return SimulatedGame(start, outcome, turns, winner, tuple(map(tuple, seconds)))


def check_names(game: str, names: Sequence[str]) -> None:
    """Raise UsageError for a name that is no built-in strategy of the game."""
    strategies = load_strategies(game)
    for name in names:
        if name not in strategies:
            raise UsageError(f"{game} has no strategy {name!r}; there are: {', '.join(strategies)}")
