"""Positions of Hexagon, written down and drawn at random."""

from __future__ import annotations

from random import Random
from typing import Any

from cw.games.hexagon.codec import HexagonCodec
from cw.games.hexagon.rules import Hexagon
from cw.games.hexagon.state import Move, State
from cw.games.hexagon.strategies import STRATEGIES

GAME = Hexagon()
CODEC = HexagonCodec(GAME)

B3 = [[-1, 1, 0, 2, -1], [0, 0, 0, 0, -1], [2, 0, 0, 0, 1], [0, 0, 0, 0, -1], [-1, 1, 0, 2, -1]]

LOST = {
    "color": None,
    "ended": "fault",
    "winner": 2,
    "fault": {"color": 1, "kind": "illegal", "error": "no"},
}
"""What the document of a state holds beside its board when colour 1 has lost by a fault."""


def state(
    cells: list[list[int]], jumps: Any = (1, 1), placed: Any = (3, 3), color: int = 1
) -> State:
    return State((len(cells) + 1) // 2, tuple(map(tuple, cells)), jumps, placed, color, None, None)


def make(position: State, start: tuple[int, int], target: tuple[int, int]) -> State:
    assert position.color is not None
    return GAME.step(position, {position.color: Move(start, target)})


def greedy(color: int) -> Any:
    return STRATEGIES["greedy"](color, Random(color))


def random_positions(seed: int, size: int) -> list[State]:
    rng = Random(seed)
    position = GAME.new(2, seed, size=size)
    positions = []
    while position.color is not None:
        positions.append(position)
        move = GAME.sample(position, position.color, rng)
        position = GAME.step(position, {position.color: move})
    return [*positions, position]
