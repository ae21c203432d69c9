"""Benchmark of Paint: turns on 20x20, compared to the tests' plain reference."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any, Final

from bench.rows import Effort, Goal, Row, medians, rate
from cw.games.paint.rules import Paint
from cw.games.paint.state import Action, State
from cw.games.rules import Player
from tests.games.paint.paint_reference import reference_turn

TURNS: Final = 60
"""Recorded positions, taken from the middle of random games."""

GOALS: Final = {2: Goal(">=", 1.0), 50: Goal(">=", 1.5)}


def rows(effort: Effort) -> list[Row]:
    """Compare turns per second with 2 and with 50 players."""
    return [row(players, goal, effort) for players, goal in GOALS.items()]


def row(players: int, goal: Goal, effort: Effort) -> Row:
    """Measure the same recorded turns with both."""
    recorded = record(players)
    game = Paint()
    runs = {
        "ours": partial(rate, over(recorded, game.step), effort.seconds),
        "reference": partial(rate, over(recorded, reference_turn), effort.seconds),
    }
    figures = medians(runs, effort.repeats)
    what = f"20x20, {players} players"
    return Row(
        "paint", what, figures["ours"], "turns/s", "plain reference", figures["reference"], goal
    )


def record(players: int) -> list[tuple[State, dict[Player, Action]]]:
    """Play a random game and keep turns from its middle on."""
    game, rng = Paint(), Random(1)
    state = game.new(players, 1, board="large")
    turns = []
    for _ in range(2 * TURNS):
        actions: dict[Player, Action] = {
            player: game.sample(state, player, rng) for player in state.players
        }
        turns.append((state, actions))
        state = game.step(state, dict(actions))
    return turns[TURNS:]


def over(
    recorded: list[tuple[State, dict[Player, Action]]], turn: Callable[[State, Any], object]
) -> Callable[[], int]:
    """Return the step that makes all recorded turns once."""

    def make() -> int:
        for state, actions in recorded:
            turn(state, actions)
        return len(recorded)

    return make
