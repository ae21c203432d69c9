"""Benchmark of PettingZoo's AEC interface: random games, compared to PettingZoo's own games."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from random import Random
from typing import Any, Final

from bench.rows import INSTALL, Effort, Row, medians, rate

YARDSTICKS: Final = {
    "PettingZoo connect_four_v3": "pettingzoo.classic.connect_four_v3",
    "PettingZoo tictactoe_v3": "pettingzoo.classic.tictactoe_v3",
}
OURS: Final = "Circuit Wars 3x3, aec_env"


def rows(effort: Effort) -> list[Row]:
    """Compare moves per second in the same loop."""
    envs = installed()
    runs = {
        name: partial(rate, partial(play, env, Random(1)), effort.seconds)
        for name, env in envs.items()
    }
    figures = medians(runs, effort.repeats)
    return [
        Row(
            "envs", OURS, figures.get(OURS), "moves/s", name, figures.get(name),
            note="" if name in figures else INSTALL,
        )
        for name in YARDSTICKS
    ]  # fmt: skip


def installed() -> dict[str, Any]:
    """Make our environment and the yardsticks; without PettingZoo, none."""
    try:
        environments = {OURS: import_module("cw.envs").aec_env("circuit-wars", size=3)}
        return environments | {
            name: import_module(place).env() for name, place in YARDSTICKS.items()
        }
    except ImportError:
        return {}


def play(env: Any, rng: Random) -> int:
    """Play a random game by the action masks; return the number of its moves."""
    env.reset()
    moves = 0
    for _ in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
        else:
            env.step(rng.choice(observation["action_mask"].nonzero()[0]))
            moves += 1
    return moves
