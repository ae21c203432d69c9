"""Matches between built-in strategies in this process, without bots, wires and clocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from time import perf_counter

from cw.arena.bots import BotSpec
from cw.errors import UsageError
from cw.games.registry import load_game, load_strategies
from cw.games.rules import Json, Outcome, Player
from cw.matches.spec import MatchResult, MatchSpec


def series(
    game: str, names: Sequence[str], games: int, seed: int, options: Mapping[str, Json]
) -> Iterator[MatchSpec]:
    """Yield the matches of a series; the seats rotate, and the seed changes with each round.

    Bots are called by their number in `names`, so that results can be counted by strategy.
    """
    bots = [BotSpec(str(number), "builtin", name) for number, name in enumerate(names)]
    for number in range(games):
        shift = number % len(bots)
        order = (*bots[shift:], *bots[:shift])
        yield MatchSpec(
            f"{seed} {number}", game, tuple(order), seed + number // len(bots), dict(options)
        )


def simulate(spec: MatchSpec) -> MatchResult:
    """Play a match between strategies as fast as it goes; its replay is empty.

    The draws of a strategy come from the id of the match and the name of the bot. Raises UsageError
    for options that the game refuses.
    """
    rules, strategies = load_game(spec.game).rules, load_strategies(spec.game)
    state = rules.new(len(spec.bots), spec.seed, **spec.options)
    players = rules.players(state)
    playing = {
        player: strategies[bot.target](player, Random(f"{spec.id} {bot.name}"))
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
    return result_of(spec, outcome, seconds, turns)


def result_of(
    spec: MatchSpec, outcome: Outcome, seconds: Mapping[Player, Sequence[float]], turns: int
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
    )


def winner_of(spec: MatchSpec, result: MatchResult) -> int | None:
    """Return the number of the strategy in its series that won a match, None if nobody did."""
    return None if result.winner is None else int(spec.bots[result.winner].name)


def check_names(game: str, names: Sequence[str]) -> None:
    """Raise UsageError for a name that is no built-in strategy of the game."""
    strategies = load_strategies(game)
    for name in names:
        if name not in strategies:
            raise UsageError(f"{game} has no strategy {name!r}; there are: {', '.join(strategies)}")
