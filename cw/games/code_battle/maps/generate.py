"""The map maker (rule book, "Maps"): the same options and seed give the same map."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count as count_from
from random import Random
from typing import Final

from cw.errors import UsageError
from cw.games.code_battle.maps.map_file import Map, check_map, read_map_id, wall_target
from cw.games.code_battle.maps.placement import orbit_of, place_cores, place_nodes
from cw.games.code_battle.maps.ranges import density, whole
from cw.games.code_battle.maps.symmetry import Symmetry, check_players, symmetry_for
from cw.games.code_battle.maps.walls import (
    Walls,
    connect_required,
    grow_walls,
    layout_of,
    reach_density,
)
from cw.games.rules import Json

DEFAULTS: Final = {
    "rows": 60,
    "cols": 60,
    "wall_density": 0.15,
    "energy_nodes": 20,
    "cores_per_player": 1,
}
ATTEMPTS: Final = 100
"""Attempts at a map before the maker gives up."""


@dataclass(frozen=True, slots=True)
class MapSpec:
    """The validated options and the seed of a map."""

    symmetry: Symmetry
    seed: int
    wall_density: float
    node_orbits: int
    cores_per_player: int

    @property
    def target(self) -> int:
        """The number of walls required by the density."""
        return wall_target(self.symmetry.rows, self.symmetry.cols, self.wall_density)


def make_maps(players: int, number: int, seed: int, **options: Json) -> Iterator[Map]:
    """Yield maps m4_001, m4_002 and so on (for 4 players), with seeds counted up from `seed`.

    Raises UsageError as make_map does.
    """
    for map_id, each in zip(map_ids(players, number), count_from(seed), strict=False):
        yield make_map(map_id, players, each, **options)


def map_ids(players: int, number: int) -> list[str]:
    """Return the ids of a series of maps; raise UsageError if the number of players is invalid."""
    return [f"m{check_players(players)}_{n:03d}" for n in range(1, number + 1)]


def make_map(map_id: str, players: int, seed: int, **options: Json) -> Map:
    """Return a random map; its options are those of DEFAULTS.

    Raises UsageError if an option is unknown or out of range, or with the last reason if every
    attempt fails.
    """
    read_map_id(map_id)
    spec = read_map_spec(players, seed, options)
    rng = Random(spec.seed)
    for _ in range(ATTEMPTS):
        try:
            return try_map(map_id, spec, rng)
        except UsageError as error:
            reason = error
    raise reason


def read_map_spec(players: int, seed: int, options: dict[str, Json]) -> MapSpec:
    """Return the validated options; raise UsageError if one is unknown or out of range."""
    check_players(players)
    for name in options:
        if name not in DEFAULTS:
            raise UsageError(f"unknown option: {name}")
    values = DEFAULTS | options
    rows, cols, nodes, cores = (
        whole(name, values[name]) for name in ("rows", "cols", "energy_nodes", "cores_per_player")
    )
    return MapSpec(
        symmetry=symmetry_for(players, rows, cols),
        seed=whole("seed", seed),
        wall_density=density(values["wall_density"]),
        node_orbits=nodes // players,
        cores_per_player=cores,
    )


def try_map(map_id: str, spec: MapSpec, rng: Random) -> Map:
    """Return a map from the next random draws; raise UsageError if they yield none."""
    symmetry = spec.symmetry
    cores = place_cores(symmetry, spec.cores_per_player, rng)
    nodes = place_nodes(symmetry, cores, spec.node_orbits, rng)
    walls = make_walls(spec, cores, nodes, rng)
    game_map = Map(
        map_id=map_id,
        players=symmetry.players,
        rows=symmetry.rows,
        cols=symmetry.cols,
        group=symmetry.group,
        seed=spec.seed,
        wall_density=spec.wall_density,
        wall_density_real=round(sum(walls) / len(walls), 4),
        cores_per_player=spec.cores_per_player,
        walls=tuple(symmetry.tile(number) for number, wall in enumerate(walls) if wall),
        nodes=tuple(sorted(tile for node in nodes for tile in orbit_of(symmetry, node))),
        cores=tuple(
            (orbit_of(symmetry, core)[slot], slot)
            for slot in range(symmetry.players)
            for core in cores
        ),
    )
    check_map(game_map)
    return game_map


def make_walls(spec: MapSpec, cores: list[int], nodes: list[int], rng: Random) -> Walls:
    """Return the walls of a map; raise UsageError if the density is not reached."""
    layout = layout_of(spec.symmetry, cores, nodes)
    walls = grow_walls(layout, rng)
    connect_required(layout, walls)
    if not reach_density(layout, walls, spec.target, rng):
        raise UsageError(f"map: density {spec.wall_density:.2f} not reached")
    return walls
