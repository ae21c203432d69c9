"""Maps are made from a seed (document, "Maps"): the same options and seed give the same map."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count as count_from
from random import Random
from typing import Final

from cw.errors import UsageError
from cw.games.code_battle.maps import Map, check_map, read_map_id, wall_target
from cw.games.code_battle.placement import orbit_of, place_cores, place_nodes
from cw.games.code_battle.ranges import density, whole
from cw.games.code_battle.symmetry import Symmetry, check_players, symmetry_for
from cw.games.code_battle.walls import Walls, connect, grow, lay_ground, reach
from cw.games.rules import Json

DEFAULTS: Final = {
    "rows": 60,
    "cols": 60,
    "wall_density": 0.15,
    "energy_nodes": 20,
    "cores_per_player": 1,
}
ATTEMPTS: Final = 100


@dataclass(frozen=True, slots=True)
class Plan:
    """The options of a map, all in their ranges."""

    symmetry: Symmetry
    seed: int
    wall_density: float
    node_orbits: int
    cores_per_player: int

    @property
    def target(self) -> int:
        """Return the number of walls that is aimed at."""
        return wall_target(self.symmetry.rows, self.symmetry.cols, self.wall_density)


def make_maps(players: int, number: int, seed: int, **options: Json) -> Iterator[Map]:
    """Return maps m4_001, m4_002 and so on, of the seeds from `seed` on.

    Raises UsageError as make_map does.
    """
    for map_id, each in zip(map_ids(players, number), count_from(seed), strict=False):
        yield make_map(map_id, players, each, **options)


def map_ids(players: int, number: int) -> list[str]:
    """Name the maps of a series."""
    return [f"m{check_players(players)}_{n:03d}" for n in range(1, number + 1)]


def make_map(map_id: str, players: int, seed: int, **options: Json) -> Map:
    """Make a map; options: rows, cols, wall_density, energy_nodes, cores_per_player.

    Raises UsageError for an option that is unknown or out of its range, and where no map is found.
    """
    read_map_id(map_id)
    plan = read_plan(players, seed, options)
    rng = Random(plan.seed)
    for _ in range(ATTEMPTS):
        try:
            return attempt(map_id, plan, rng)
        except UsageError as error:
            reason = error
    raise reason


def read_plan(players: int, seed: int, options: dict[str, Json]) -> Plan:
    """Read the options of a map."""
    check_players(players)
    for name in options:
        if name not in DEFAULTS:
            raise UsageError(f"unknown option: {name}")
    chosen = DEFAULTS | options
    rows, cols, nodes, cores = (
        whole(name, chosen[name]) for name in ("rows", "cols", "energy_nodes", "cores_per_player")
    )
    return Plan(
        symmetry=symmetry_for(players, rows, cols),
        seed=whole("seed", seed),
        wall_density=density(chosen["wall_density"]),
        node_orbits=nodes // players,
        cores_per_player=cores,
    )


def attempt(map_id: str, plan: Plan, rng: Random) -> Map:
    """Try to make a map; raise UsageError where the draws lead to none."""
    symmetry = plan.symmetry
    cores = place_cores(symmetry, plan.cores_per_player, rng)
    nodes = place_nodes(symmetry, cores, plan.node_orbits, rng)
    walls = raise_walls(plan, cores, nodes, rng)
    made = Map(
        map_id=map_id,
        players=symmetry.players,
        rows=symmetry.rows,
        cols=symmetry.cols,
        group=symmetry.group,
        seed=plan.seed,
        wall_density=plan.wall_density,
        wall_density_real=round(sum(walls) / len(walls), 4),
        cores_per_player=plan.cores_per_player,
        walls=tuple(symmetry.tile(number) for number, wall in enumerate(walls) if wall),
        nodes=tuple(sorted(tile for node in nodes for tile in orbit_of(symmetry, node))),
        cores=tuple(
            (orbit_of(symmetry, core)[slot], slot)
            for slot in range(symmetry.players)
            for core in cores
        ),
    )
    check_map(made)
    return made


def raise_walls(plan: Plan, cores: list[int], nodes: list[int], rng: Random) -> Walls:
    """Return the walls around cores and nodes; raise UsageError if the density is not reached."""
    ground = lay_ground(plan.symmetry, cores, nodes)
    walls = grow(ground, rng)
    connect(ground, walls)
    if not reach(ground, walls, plan.target, rng):
        raise UsageError(f"map: density {plan.wall_density:.2f} not reached")
    return walls
