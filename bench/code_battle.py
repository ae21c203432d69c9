"""Benchmark of Code Battle: turns of two fighting armies, compared to the tests' reference."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any, Final

from bench.rows import Effort, Goal, Row, medians, rate
from cw.games.code_battle.codec import CodeBattleCodec
from cw.games.code_battle.rules import CodeBattle
from cw.games.code_battle.rules.state import Bot, State
from tests.games.code_battle.rules.code_battle_reference import reference_step

GAME: Final = CodeBattle()
CODEC: Final = CodeBattleCodec(GAME)
EACH: Final = 25
"""Bots of each of two slots."""

FRONT: Final = 12
"""Half the width, in tiles, of the square in which they stand: dense enough for fights."""


def rows(effort: Effort) -> list[Row]:
    """Compare turns per second: the rules and the views of both slots, and the rules alone."""
    state, actions = record()
    document, moves = CODEC.state_to_json(state), {str(slot): m for slot, m in actions.items()}
    runs: dict[str, Callable[[], float]] = {
        "whole": partial(rate, lambda: played(state, actions), effort.seconds),
        "rules": partial(rate, lambda: len([GAME.step(state, actions)]), effort.seconds),
        "reference": partial(rate, lambda: len([reference_step(document, moves)]), effort.seconds),
    }
    figures = medians(runs, effort.repeats)
    return [
        row("rules and both views", figures["whole"], figures["reference"], Goal(">", 2.0)),
        row("rules alone", figures["rules"], figures["reference"]),
        Row(
            "code-battle",
            "60x60, 2 x 25 bots, time of a turn with both views",
            1000 / figures["whole"],
            "ms",
            "reference, rules alone",
            1000 / figures["reference"],
            Goal("<", 1.0, of="ours"),
        ),
    ]


def row(what: str, ours: float, reference: float, goal: Goal | None = None) -> Row:
    """Return a row of turns per second."""
    return Row(
        "code-battle",
        f"60x60, 2 x 25 bots, {what}",
        ours,
        "turns/s",
        "reference, rules alone",
        reference,
        goal,
    )


def played(state: State, actions: dict[Any, Any]) -> int:
    """Play a turn and look at it from both sides; give the number of turns."""
    after = GAME.step(state, actions)
    for slot in GAME.players(after):
        GAME.observe(after, slot)
    return 1


def record() -> tuple[State, dict[Any, Any]]:
    """Return two armies in one square of a usual map, and moves of most bots."""
    rng = Random(1)
    start = GAME.new(2, 1)
    cols, middle = start.config.cols, start.config.rows // 2
    square = [
        row * cols + col
        for row in range(middle - FRONT, middle + FRONT)
        for col in range(middle - FRONT, middle + FRONT)
        if row * cols + col not in start.terrain.blocked
    ]
    bots = tuple(Bot(n, tile, n % 2) for n, tile in enumerate(rng.sample(square, 2 * EACH)))
    state = State(
        config=start.config,
        terrain=start.terrain,
        turn=200,
        nodes=tuple(node._replace(energy=True) for node in start.nodes),
        cores=start.cores,
        bots=bots,
        next_bot_id=len(bots),
        stats=start.stats,
    )
    return state, {slot: GAME.sample(state, slot, rng) for slot in GAME.players(state)}
