"""Distances as strategies ask for them."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from cw.games.code_battle.maps.symmetry import UNREACHED, path_lengths, step_table
from cw.games.code_battle.rules import CodeBattle
from cw.games.code_battle.rules.state import DIRECTIONS, Torus, torus
from cw.games.code_battle.rules.turn import view_of
from cw.games.code_battle.strategies.knowledge import (
    FAR,
    DistanceField,
    Knowledge,
    TorusDistance,
    bits,
)

ROWS, COLS = 31, 34


def plain_steps(grid: Torus, walls: set[int], goals: set[int]) -> list[int]:
    flags = [int(tile in walls) for tile in range(grid.tiles)]
    lengths = path_lengths(step_table(grid.rows, grid.cols), flags, goals)
    return [FAR if length == UNREACHED else length for length in lengths]


@pytest.mark.parametrize("seed", range(4))
def test_distances_and_approaches_are_those_of_a_plain_search(seed: int) -> None:
    grid, rng = torus(ROWS, COLS), Random(seed)
    walls = set(rng.sample(range(grid.tiles), grid.tiles * (seed + 1) // 10))
    goals = set(rng.sample(sorted(set(range(grid.tiles)) - walls), 2))
    expected = plain_steps(grid, walls, goals)
    field = DistanceField(grid, bits(walls), bits(goals))
    for tile in rng.sample(range(grid.tiles), 200):
        assert field.distance(tile) == expected[tile]
        near = {way: grid.ahead[way][tile] for way in DIRECTIONS}
        approaches = {way: steps for steps, way, _ in field.approaches(tile, expected[tile])}
        assert approaches == {
            way: expected[other] for way, other in near.items() if expected[other] < FAR
        }


def test_steps_without_walls_are_the_same_one_by_one_and_in_bulk() -> None:
    grid, rng = torus(ROWS, COLS), Random(1)
    steps, expected = TorusDistance(grid), plain_steps(grid, set(), {5})
    tiles = rng.sample(range(grid.tiles), 300)
    assert [steps(5, tile) for tile in tiles] == [expected[tile] for tile in tiles]
    assert steps.to_all(5, np.array(tiles)).tolist() == [expected[tile] for tile in tiles]


def test_distances_are_kept_until_another_wall_is_known() -> None:
    state = CodeBattle().new(2, 1)
    knowledge = Knowledge(view_of(state, 0))
    field = knowledge.distance_field(1)
    assert field.distance(2) == 2
    assert knowledge.distance_field(1) is field
    knowledge.walls |= 1 << 1
    assert knowledge.distance_field(1).distance(2) == 4
