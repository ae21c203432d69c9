"""Maps of Code Battle: groups, the steps of making them, and M1 to M5 by a plain reference."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from random import Random
from typing import Any

import pytest

from cw.errors import UsageError
from cw.games.code_battle.maps.generation import (
    close_orbit,
    connect_required,
    grow_walls,
    is_ring_connected,
    layout_of,
    make_map,
    make_maps,
    map_ids,
    place_nodes,
    reach_density,
)
from cw.games.code_battle.maps.map_file import Map, encode_map
from cw.games.code_battle.maps.symmetry import (
    Group,
    RowCol,
    Symmetry,
    group_for,
    ring_table,
    symmetry_for,
)
from tests.games.code_battle.maps.sizes import SIZES


def image(players: int, rows: int, cols: int, slot: int, tile: RowCol) -> RowCol:
    """Return an image as the document's table writes it, one line per group."""
    r, c = tile
    if players == 2:
        return (rows - 1 - r, cols - 1 - c) if slot else tile
    if players == 4 and rows == cols:
        for _ in range(slot):
            r, c = c, rows - 1 - r
        return r, c
    if players == 4:
        down, right = [(0, 0), (0, cols // 2), (rows // 2, cols // 2), (rows // 2, 0)][slot]
    elif players == 3:
        down, right = (slot * rows // 3, 0) if rows % 3 == 0 else (0, slot * cols // 3)
    elif rows % 3 == 0 and cols % 2 == 0:
        down, right = slot * (rows // 3), slot * (cols // 2)
    else:
        down, right = slot * (rows // 2), slot * (cols // 3)
    return (r + down) % rows, (c + right) % cols


def d2(arena_map: Map, a: RowCol, b: RowCol) -> int:
    down, right = abs(a[0] - b[0]), abs(a[1] - b[1])
    return min(down, arena_map.rows - down) ** 2 + min(right, arena_map.cols - right) ** 2


def walk(arena_map: Map, start: RowCol) -> dict[RowCol, int]:
    """Return the steps to every tile that can be reached."""
    walls, steps, ring, length = set(arena_map.walls), {start: 0}, [start], 0
    while ring:
        length += 1
        around = {
            ((r + dr) % arena_map.rows, (c + dc) % arena_map.cols)
            for (r, c), (dr, dc) in product(ring, ((0, 1), (1, 0), (0, -1), (-1, 0)))
        }
        ring = [tile for tile in around if tile not in walls and tile not in steps]
        steps |= dict.fromkeys(ring, length)
    return steps


def slots_cores(arena_map: Map, slot: int) -> list[RowCol]:
    return [tile for tile, owner in arena_map.cores if owner == slot]


def prove_by_hand(arena_map: Map) -> None:
    """Assert M1 to M4 and the distances of steps 1 to 3."""
    players = range(arena_map.players)

    def images(slot: int, tiles: Iterable[RowCol]) -> set[RowCol]:
        return {
            image(arena_map.players, arena_map.rows, arena_map.cols, slot, tile) for tile in tiles
        }

    for slot in players:
        assert images(slot, arena_map.walls) == set(arena_map.walls)
        assert images(slot, arena_map.nodes) == set(arena_map.nodes)
        assert images(slot, slots_cores(arena_map, 0)) == set(slots_cores(arena_map, slot))
    cores = [tile for tile, _ in arena_map.cores]
    assert len(set(cores)) == len(cores) == arena_map.players * arena_map.cores_per_player
    assert len(set(arena_map.nodes)) == len(arena_map.nodes)
    assert list(arena_map.walls) == sorted(set(arena_map.walls))
    everything = [*arena_map.walls, *arena_map.nodes, *cores]
    assert len(everything) == len(set(everything))

    ways = []
    for slot in players:
        walks = [walk(arena_map, core) for core in slots_cores(arena_map, slot)]
        assert len(walks[0]) == arena_map.rows * arena_map.cols - len(arena_map.walls)
        ways.append(sorted(steps[node] for steps in walks for node in arena_map.nodes))
    assert all(own == ways[0] for own in ways)

    target = round(arena_map.rows * arena_map.cols * arena_map.wall_density)
    assert abs(len(arena_map.walls) - target) < arena_map.players
    share = len(arena_map.walls) / (arena_map.rows * arena_map.cols)
    assert abs(share - arena_map.wall_density) < 0.02
    assert arena_map.wall_density_real == pytest.approx(share, abs=0.0001)
    assert all(d2(arena_map, core, wall) > 4 for core in cores for wall in arena_map.walls)
    assert all(d2(arena_map, core, node) >= 9 for core in cores for node in arena_map.nodes)
    assert all(d2(arena_map, a, b) >= 5 for a in arena_map.nodes for b in arena_map.nodes if a != b)


def prove_core_distances(arena_map: Map) -> None:
    """Assert the distances of step 1."""
    short = min(arena_map.rows, arena_map.cols) ** 2
    firsts = [slots_cores(arena_map, slot)[0] for slot in range(arena_map.players)]
    least = max(26, short / 9) if arena_map.group.name.startswith("rot") else 26
    assert all(d2(arena_map, a, b) >= least for a in firsts for b in firsts if a != b)
    cores = [tile for tile, _ in arena_map.cores]
    if arena_map.cores_per_player == 2:
        assert all(
            d2(arena_map, a, b) >= max(26, short / 36) for a in cores for b in cores if a != b
        )
        second = slots_cores(arena_map, 0)[1]
        assert all(
            d2(arena_map, second, firsts[0]) < d2(arena_map, second, first) for first in firsts[1:]
        )


class TestSymmetry:
    @pytest.mark.parametrize(
        ("players", "rows", "cols", "group"),
        [
            (2, 31, 44, Group("rot180")),
            (4, 31, 31, Group("rot90")),
            (4, 60, 60, Group("rot90")),
            (4, 30, 44, Group("half_shift")),
            (3, 33, 33, Group("shift", (11, 0))),
            (3, 31, 33, Group("shift", (0, 11))),
            (6, 60, 60, Group("shift", (20, 30))),
            (6, 33, 40, Group("shift", (11, 20))),
            (6, 40, 33, Group("shift", (20, 11))),
        ],
    )
    def test_the_group_follows_from_players_and_size(
        self, players: int, rows: int, cols: int, group: Group
    ) -> None:
        assert group_for(players, rows, cols) == group

    @pytest.mark.parametrize(
        ("players", "rows", "cols", "error"),
        [
            (4, 31, 44, "4 players need rows == cols, or rows and cols both even"),
            (4, 44, 31, "4 players need rows == cols, or rows and cols both even"),
            (3, 31, 44, "3 players need rows or cols divisible by 3"),
            (
                6,
                33,
                33,
                "6 players need rows divisible by 3 and cols even, "
                "or cols divisible by 3 and rows even",
            ),
            (5, 60, 60, "players: 5 is not one of 2, 3, 4, 6"),
        ],
    )
    def test_a_size_without_a_group(self, players: int, rows: int, cols: int, error: str) -> None:
        with pytest.raises(UsageError) as refused:
            group_for(players, rows, cols)
        assert str(refused.value) == error

    @pytest.mark.parametrize(("players", "rows", "cols"), SIZES)
    def test_images_are_those_of_the_table(self, players: int, rows: int, cols: int) -> None:
        symmetry = symmetry_for(players, rows, cols)
        table = symmetry.table()
        for number, tile in enumerate(product(range(rows), range(cols))):
            expected = [image(players, rows, cols, slot, tile) for slot in range(players)]
            assert list(symmetry.images(tile)) == expected
            assert [symmetry.tile(n) for n in table[:, number].tolist()] == expected
            assert symmetry.number(tile) == number

    @pytest.mark.parametrize(("players", "rows", "cols"), SIZES)
    def test_only_the_centre_of_odd_maps_is_a_small_orbit(
        self, players: int, rows: int, cols: int
    ) -> None:
        symmetry = symmetry_for(players, rows, cols)
        turned = symmetry.group.name in ("rot180", "rot90")
        centre = [(rows // 2, cols // 2)] if turned and rows % 2 and cols % 2 else []
        small = [
            symmetry.tile(n) for n, d2 in enumerate(symmetry.image_distances().tolist()) if not d2
        ]
        assert small == centre
        sizes = {len(set(symmetry.images(tile))) for tile in product(range(rows), range(cols))}
        assert sizes == {players} | ({1} if centre else set())


class TestMaps:
    @pytest.mark.parametrize(("players", "rows", "cols"), SIZES)
    @pytest.mark.parametrize("cores", [1, 2])
    def test_every_group_and_size(self, players: int, rows: int, cols: int, cores: int) -> None:
        density = (0.05, 0.15, 0.30)[(rows + cols + cores) % 3]
        options = {"wall_density": density, "cores_per_player": cores, "energy_nodes": 23}
        arena_map = make_map("m", players, 7, rows=rows, cols=cols, **options)
        assert (arena_map.players, arena_map.rows, arena_map.cols) == (players, rows, cols)
        assert (arena_map.cores_per_player, len(arena_map.nodes)) == (
            cores,
            23 // players * players,
        )
        prove_by_hand(arena_map)
        prove_core_distances(arena_map)

    @pytest.mark.parametrize("players", [2, 3, 4, 6])
    @pytest.mark.parametrize("density", [0.05, 0.15, 0.30])
    def test_every_density(self, players: int, density: float) -> None:
        for seed in range(3):
            prove_by_hand(make_map("m", players, seed, wall_density=density))

    @pytest.mark.thorough
    def test_the_largest_maps_with_most_things(self) -> None:
        for players in (2, 3, 4, 6):
            options = {"energy_nodes": 50, "cores_per_player": 2, "wall_density": 0.3}
            arena_map = make_map("m", players, 2**63 - 1, rows=120, cols=120, **options)
            assert len(arena_map.nodes) == 50 // players * players
            prove_by_hand(arena_map)
            prove_core_distances(arena_map)

    def test_the_smallest_maps_with_most_things(self) -> None:
        for players, seed in product((2, 3, 4, 6), range(5)):
            options = {"energy_nodes": 50, "cores_per_player": 2, "wall_density": 0.3}
            arena_map = make_map("m", players, seed, rows=30, cols=30, **options)
            prove_by_hand(arena_map)
            prove_core_distances(arena_map)

    def test_m5_the_same_seed_gives_the_same_file(self, arena_map: Map) -> None:
        again = make_map("m4_007", 4, 123, rows=30, cols=44)
        assert encode_map(again) == encode_map(arena_map)
        other = make_map("m4_007", 4, 124, rows=30, cols=44)
        assert (other.walls, other.nodes) != (arena_map.walls, arena_map.nodes)

    def test_defaults(self) -> None:
        plain = make_map("m", 2, 5)
        game_map = make_map(
            "m", 2, 5, rows=60, cols=60, wall_density=0.15, energy_nodes=20, cores_per_player=1
        )
        assert plain == game_map
        assert (plain.rows, plain.cols, len(plain.nodes), len(plain.cores)) == (60, 60, 20, 2)


class TestOptions:
    @pytest.mark.parametrize(
        ("options", "error"),
        [
            ({"rows": 20}, "rows: 20 is not within 30..120"),
            ({"cols": 121}, "cols: 121 is not within 30..120"),
            ({"rows": True}, "rows: True is not within 30..120"),
            ({"rows": 60.0}, "rows: 60.0 is not within 30..120"),
            ({"cols": "60"}, "cols: '60' is not within 30..120"),
            ({"cols": None}, "cols: None is not within 30..120"),
            ({"rows": 10**5000}, "rows: a huge number is not within 30..120"),
            ({"wall_density": 0.31}, "wall_density: 0.31 is not within 0.05..0.30"),
            ({"wall_density": 0}, "wall_density: 0 is not within 0.05..0.30"),
            ({"wall_density": float("nan")}, "wall_density: nan is not within 0.05..0.30"),
            ({"energy_nodes": 7}, "energy_nodes: 7 is not within 8..50"),
            ({"cores_per_player": 3}, "cores_per_player: 3 is not within 1..2"),
            ({"seed": -1}, "seed: -1 is not within 0..9223372036854775807"),
            ({"seed": 2**63}, f"seed: {2**63} is not within 0..9223372036854775807"),
            ({"players": 5}, "players: 5 is not one of 2, 3, 4, 6"),
            ({"players": True}, "players: True is not one of 2, 3, 4, 6"),
            ({"foo": 1}, "unknown option: foo"),
            ({"cols": 61}, "4 players need rows == cols, or rows and cols both even"),
        ],
    )
    def test_what_is_refused(self, options: dict[str, Any], error: str) -> None:
        arguments: dict[str, Any] = {"players": 4, "seed": 1} | options
        with pytest.raises(UsageError) as refused:
            make_map("m", **arguments)
        assert str(refused.value) == error

    def test_a_map_id_can_be_part_of_a_file_name(self) -> None:
        with pytest.raises(UsageError, match=r"^map_id must be"):
            make_map("../m", 2, 1)


class TestSeries:
    def test_ids_and_seeds_go_on(self) -> None:
        series = list(make_maps(3, 2, 40, rows=30, cols=30))
        assert [(arena_map.map_id, arena_map.seed) for arena_map in series] == [
            ("m3_001", 40),
            ("m3_002", 41),
        ]
        assert series[1] == make_map("m3_002", 3, 41, rows=30, cols=30)
        assert map_ids(4, 12)[-1] == "m4_012"


class TestSteps:
    def test_no_place_for_nodes(self) -> None:
        symmetry = Symmetry(6, 30, 30, group_for(6, 30, 30))
        with pytest.raises(UsageError) as refused:
            place_nodes(symmetry, [0], 40, Random(1))
        assert str(refused.value) == (
            "map: no place for 240 energy nodes, use fewer nodes or a larger map"
        )

    def test_a_density_that_cannot_be_reached(self) -> None:
        layout = layout_of(symmetry_for(2, 30, 30), [100], [400])
        walls = grow_walls(layout, Random(1))
        connect_required(layout, walls)
        assert not reach_density(layout, walls, 850, Random(1))
        assert not any(wall and safe for wall, safe in zip(walls, layout.protected, strict=True))

    def test_connect_opens_ways_and_fills_the_rest(self) -> None:
        symmetry = symmetry_for(4, 31, 31)
        layout = layout_of(symmetry, [symmetry.number((5, 5))], [symmetry.number((2, 14))])
        walls = bytearray(not safe for safe in layout.protected)
        walls[symmetry.number((20, 18))] = 0
        connect_required(layout, walls)
        open_tiles = [symmetry.tile(n) for n, wall in enumerate(walls) if not wall]
        closed = tuple(symmetry.tile(n) for n, wall in enumerate(walls) if wall)
        arena_map = replace(make_map("m", 4, 1, rows=31, cols=31), walls=closed)
        reached = walk(arena_map, (5, 5))
        assert set(open_tiles) == set(reached)
        for goal in layout.required:
            assert symmetry.tile(goal) in reached
        assert (15, 15) in reached
        for tile in open_tiles:
            assert set(symmetry.images(tile)) <= set(open_tiles)

    def test_a_ring_is_connected_if_its_open_sides_are_in_one_piece(self) -> None:
        for bits in range(256):
            ring = [bool(bits >> place & 1) for place in range(8)]
            pieces = []
            for place in range(8):
                if ring[place] and not ring[place - 1]:
                    piece = [place]
                    while ring[(piece[-1] + 1) % 8]:
                        piece.append((piece[-1] + 1) % 8)
                    pieces.append(piece)
            with_ways = sum(any(place % 2 == 0 for place in piece) for piece in pieces)
            assert is_ring_connected(ring) == (with_ways <= 1), ring

    def test_an_orbit_that_cuts_a_way_stays_open(self) -> None:
        symmetry = symmetry_for(2, 30, 30)
        rings = ring_table(30, 30)
        walls = bytearray(900)
        for row in (*range(3), *range(4, 26), *range(27, 30)):
            for col in range(30):
                walls[symmetry.number((row, col))] = 1
        walls[symmetry.number((2, 5))] = 0
        walls[symmetry.number((27, 24))] = 0
        before = bytes(walls)
        corridor = [symmetry.number(tile) for tile in symmetry.images((3, 9))]
        assert not close_orbit(rings, walls, corridor)
        assert bytes(walls) == before
        dead_end = [symmetry.number(tile) for tile in symmetry.images((2, 5))]
        assert close_orbit(rings, walls, dead_end)
        assert sum(walls) == sum(before) + 2
