"""Benchmark of End of Codes: rounds, mostly of attacks, compared to the tests' dict reference."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Final

from bench.rows import Effort, Goal, Row, medians, rate
from cw.games.end_of_codes.codec import creatures
from cw.games.end_of_codes.rules import EndOfCodes
from cw.games.end_of_codes.rules.resolution import resolve
from cw.games.end_of_codes.state import DIRECTIONS, Intent, State
from tests.games.end_of_codes.end_of_codes_reference import reference_round

EACH: Final = 150
GOALS: Final = {10: Goal(">=", 4.0), 100: Goal(">=", 8.0), 1000: None}
"""Players -> the goal beside the reference."""

LARGE: Final = 3
"""Rounds that are enough for the largest map, which takes a second in the reference."""


def rows(effort: Effort) -> list[Row]:
    """Compare rounds per second, and the time per creature of the two largest maps."""
    measured = [row(players, goal, effort) for players, goal in GOALS.items()]
    per_creature = [
        players * EACH * (figure.ours or 0.0)
        for players, figure in zip(GOALS, measured, strict=True)
    ]
    growth = Row(
        "end-of-codes",
        "creatures a second, 150,000",
        per_creature[2],
        "creatures/s",
        "15,000",
        per_creature[1],
        Goal(">=", 1.0),
    )
    return [*measured, growth]


def row(players: int, goal: Goal | None, effort: Effort) -> Row:
    """Measure rules 3 to 8 on one recorded round; both are given intents that have been read."""
    state, intents = record(players)
    world = creatures(state)
    runs: dict[str, Callable[[], float]] = {
        "ours": partial(rate, lambda: len([resolve(state, intents, {})]), effort.seconds),
        "reference": partial(
            rate,
            lambda: len([reference_round(world, state.width, state.height, intents, set())]),
            effort.seconds,
        ),
    }
    figures = medians(runs, LARGE if players > 100 else effort.repeats)
    what = f"{players * EACH:,} creatures"
    return Row(
        "end-of-codes",
        what,
        figures["ours"],
        "rounds/s",
        "dictionaries",
        figures["reference"],
        goal,
    )


def record(players: int) -> tuple[State, list[Intent]]:
    """Return a crowded round in which three of four creatures attack and the others move."""
    rng = Random(1)
    state = EndOfCodes().new(players, 1, M=EACH, MAX_HP=100)
    ways = tuple(DIRECTIONS)
    intents = [
        Intent(creature, "attack" if rng.random() < 0.75 else "move", rng.choice(ways))
        for creature in state.ids.tolist()
    ]
    return state, intents
