"""Maps of Code Battle that are well formed and yet wrong."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from cw.errors import UsageError
from cw.games.code_battle.maps.generation import make_map
from cw.games.code_battle.maps.map_file import Map, map_document, prove_ways, read_map
from cw.games.code_battle.maps.symmetry import RowCol, symmetry_for


def refusal(document: Any) -> str:
    with pytest.raises(UsageError) as refused:
        read_map(document, "m")
    return str(refused.value)


class TestProof:
    """Maps that are well formed and yet wrong."""

    def edited(self, arena_map: Map, edit: Callable[[dict[str, Any]], None]) -> Any:
        document = map_document(arena_map)
        edit(document)
        return document

    def test_m1_a_wall_that_has_moved(self) -> None:
        arena_map = make_map("m", 3, 1, rows=30, cols=30)
        gone = list(arena_map.walls[5])
        document = self.edited(arena_map, lambda d: d["walls"].remove(gone))
        assert refusal(document) == f"map m: not symmetric at tile {gone}"

    def test_m1_a_wall_too_many(self, arena_map: Map) -> None:
        occupied_tiles = {
            *arena_map.walls,
            *arena_map.nodes,
            *(tile for tile, _ in arena_map.cores),
        }
        free = next(tile for tile in product(range(30), range(44)) if tile not in occupied_tiles)
        document = self.edited(arena_map, lambda d: d["walls"].append(list(free)))
        assert refusal(document) == f"map m: not symmetric at tile {list(free)}"

    def test_m1_a_node_that_has_no_image(self, arena_map: Map) -> None:
        node = list(arena_map.nodes[2])
        document = self.edited(arena_map, lambda d: d["energy_nodes"].remove(node))
        assert refusal(document) == f"map m: not symmetric at tile {node}"

    def test_m1_cores_that_are_no_images(self, arena_map: Map) -> None:
        def swap(document: dict[str, Any]) -> None:
            cores = document["cores"]
            cores[1]["pos"], cores[2]["pos"] = cores[2]["pos"], cores[1]["pos"]

        place = list(arena_map.cores[2][0])
        assert refusal(self.edited(arena_map, swap)) == f"map m: not symmetric at tile {place}"

    def test_a_small_orbit_stays_open(self) -> None:
        arena_map = make_map("m", 2, 1, rows=31, cols=31)
        document = self.edited(arena_map, lambda d: d["walls"].append([15, 15]))
        assert refusal(document) == "map m: tile [15, 15] is its own image and must stay open"

    def test_m2_a_walled_in_tile(self) -> None:
        arena_map = make_map("m", 2, 1, rows=30, cols=30, wall_density=0.05)

        def build(document: dict[str, Any]) -> None:
            symmetry = arena_map.symmetry
            core = arena_map.cores[0][0]
            around = [((core[0] + a) % 30, (core[1] + b) % 30) for a, b in DIAMOND]
            new = {i for tile in around for i in symmetry.images(tile)}
            old = {tuple(tile) for tile in document["walls"]}
            document["walls"] = [list(tile) for tile in old | new]
            document["energy_nodes"] = []
            document["wall_density"] = len(document["walls"]) / 900
            document["wall_density_real"] = document["wall_density"]

        assert "cannot be reached from core" in refusal(self.edited(arena_map, build))

    def test_m3_ways_of_other_lengths(self) -> None:
        symmetry = symmetry_for(2, 30, 30)
        cores = [[tile] for tile in symmetry.images((5, 5))]
        with pytest.raises(UsageError) as refused:
            prove_ways(symmetry, [], [(5, 8)], cores)
        assert str(refused.value) == "slot 1 has other path lengths to the energy nodes than slot 0"
        prove_ways(symmetry, [], symmetry.images((5, 8)), cores)

    def test_two_things_on_one_tile(self, arena_map: Map) -> None:
        wall, node = list(arena_map.walls[0]), list(arena_map.nodes[0])
        document = self.edited(arena_map, lambda d: d["energy_nodes"].append(wall))
        assert refusal(document) == f"map m: both wall and energy node at tile {wall}"
        document = self.edited(arena_map, lambda d: d["cores"][0].update(pos=node))
        assert refusal(document) == f"map m: both energy node and core at tile {node}"
        document = self.edited(arena_map, lambda d: d["walls"].append(wall))
        assert refusal(document) == f"map m: both wall and wall at tile {wall}"

    def test_m4_two_orbits_of_walls_too_few(self, arena_map: Map) -> None:
        def thin(document: dict[str, Any]) -> None:
            for _ in range(2):
                for tile in arena_map.symmetry.images(open_edge(document, arena_map)):
                    document["walls"].remove(list(tile))

        document = self.edited(arena_map, thin)
        document["wall_density_real"] = len(document["walls"]) / (30 * 44)
        expected = f"{len(document['walls'])} walls, but wall_density 0.15 asks for 198"
        assert refusal(document) == f"map m: {expected}"


DIAMOND = [(a, b) for a in range(-3, 4) for b in range(-3, 4) if abs(a) + abs(b) in (3, 4)]
"""A closed ring of walls round a core."""


def open_edge(document: dict[str, Any], arena_map: Map) -> RowCol:
    """Return a wall that has an open tile beside it."""
    walls = {tuple(tile) for tile in document["walls"]}
    for row, col in sorted(walls):
        if (row, (col + 1) % arena_map.cols) not in walls:
            return row, col
    raise AssertionError("no wall has an open tile to the east")
