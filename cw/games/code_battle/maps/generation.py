"""Map generation: cores and nodes, then walls (steps 3 to 5: grow, connect, reach the density).

Tiles are numbered row * cols + col. Every change applies to whole orbits, so the map stays
symmetric at every step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count as count_from
from random import Random
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cw.errors import UsageError
from cw.games.code_battle.maps.map_file import Map, check_map, read_map_id, wall_target
from cw.games.code_battle.maps.symmetry import (
    UNREACHED,
    Numbers,
    RowCol,
    Symmetry,
    Table,
    check_players,
    density,
    path_lengths,
    ring_table,
    step_table,
    symmetry_for,
    whole,
)
from cw.games.rules import Json

CORE_D2: Final = 26
"""The minimum d2 between two cores."""

NODE_TO_CORE_D2: Final = 9
"""The minimum d2 between a node and a core."""

NODE_TO_NODE_D2: Final = 5
"""The minimum d2 between two nodes."""


def place_cores(symmetry: Symmetry, count: int, rng: Random) -> list[int]:
    """Return one or two random cores for slot 0; raise UsageError if there is no room."""
    cores = [draw(first_places(symmetry), rng)]
    if count == 2:
        places = second_places(symmetry, cores[0])
        if not places.any():
            raise UsageError("map: no place for 2 cores per player, use a larger map")
        cores.append(draw(places, rng))
    return cores


def first_places(symmetry: Symmetry) -> NDArray[np.bool_]:
    """Return for every tile whether its images are far enough apart for the first cores.

    Under a rotation they must be at least a third of the shorter side apart; under translations all
    tiles are equally far from their images.
    """
    nearest = symmetry.image_distances()
    far = nearest >= CORE_D2
    if symmetry.group.name in ("rot180", "rot90"):
        far &= 9 * nearest >= min(symmetry.rows, symmetry.cols) ** 2
    return far


def second_places(symmetry: Symmetry, core: int) -> NDArray[np.bool_]:
    """Return for every tile whether it may be slot 0's second core, given its first.

    It must be at least a sixth of the shorter side from all other cores, and nearer to slot 0's
    first core than to that of any other slot.
    """
    to_firsts = to_images(symmetry, core)
    nearest = np.minimum(symmetry.image_distances(), to_firsts.min(axis=0))
    far = (nearest >= CORE_D2) & (36 * nearest >= min(symmetry.rows, symmetry.cols) ** 2)
    places: NDArray[np.bool_] = far & (to_firsts[0] < to_firsts[1:].min(axis=0))
    return places


def place_nodes(symmetry: Symmetry, cores: list[int], count: int, rng: Random) -> list[int]:
    """Return one tile each of `count` random node orbits; raise UsageError if they do not fit."""
    free = symmetry.image_distances() >= NODE_TO_NODE_D2
    for core in cores:
        free &= to_images(symmetry, core).min(axis=0) >= NODE_TO_CORE_D2
    nodes: list[int] = []
    while len(nodes) < count:
        if not free.any():
            number = count * symmetry.players
            raise UsageError(
                f"map: no place for {number} energy nodes, use fewer nodes or a larger map"
            )
        nodes.append(draw(free, rng))
        free &= to_images(symmetry, nodes[-1]).min(axis=0) >= NODE_TO_NODE_D2
    return nodes


def to_images(symmetry: Symmetry, number: int) -> Numbers:
    """Return d2 from each image of a tile (axis 0, by slot) to every tile (axis 1)."""
    return np.stack([symmetry.distances(image) for image in orbit_of(symmetry, number)])


def orbit_of(symmetry: Symmetry, number: int) -> tuple[RowCol, ...]:
    """Return the images of a numbered tile."""
    return symmetry.images(symmetry.tile(number))


def draw(places: NDArray[np.bool_], rng: Random) -> int:
    """Return a random tile for which `places` is true."""
    candidates = np.flatnonzero(places)
    return int(candidates[rng.randrange(len(candidates))])


Walls: TypeAlias = bytearray
"""For every tile, 1 if it is a wall, otherwise 0."""

WALL_PROBABILITY: Final = 0.45
"""The probability that an orbit starts as walls, before the cellular automaton runs."""

ITERATIONS: Final = 4
"""The number of steps of the cellular automaton."""

PROTECTED_D2: Final = 4
"""The squared distance around a core within which there are no walls."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The parts of a map that are fixed before its walls: its symmetry, cores and nodes."""

    players: int
    rows: int
    cols: int
    orbits: Table
    """For every tile, its distinct images, starting with the tile itself."""
    representatives: tuple[int, ...]
    """For every tile, the smallest of its images, which identifies the orbit."""
    protected: Sequence[bool]
    """For every tile, whether it must never be a wall."""
    required: tuple[int, ...]
    """The tiles that must be connected, slot 0's first core first: cores, nodes, small orbits."""


def layout_of(symmetry: Symmetry, cores: Sequence[int], nodes: Sequence[int]) -> Layout:
    """Return the layout of a map; `cores` and `nodes` are slot 0's, from which the rest follow."""
    images = symmetry.table()
    small = np.flatnonzero(symmetry.image_distances() == 0)
    every_core, every_node = (images[:, tiles].T.ravel().tolist() for tiles in (cores, nodes))
    protected = np.zeros(symmetry.rows * symmetry.cols, dtype=bool)
    for core in every_core:
        protected |= symmetry.distances(symmetry.tile(core)) <= PROTECTED_D2
    protected[[*every_node, *small]] = True
    return Layout(
        players=symmetry.players,
        rows=symmetry.rows,
        cols=symmetry.cols,
        orbits=tuple(tuple(dict.fromkeys(orbit)) for orbit in images.T.tolist()),
        representatives=tuple(images.min(axis=0).tolist()),
        protected=protected.tolist(),
        required=(*every_core, *every_node, *small.tolist()),
    )


def grow_walls(layout: Layout, rng: Random) -> Walls:
    """Return the walls that a cellular automaton grows from random orbits (step 3).

    A tile with five walls among its 8 neighbours becomes or stays a wall; with four it stays one.
    """
    initial = np.zeros((layout.rows, layout.cols), dtype=np.int8)
    for tile, representative in enumerate(layout.representatives):
        if tile == representative and rng.random() < WALL_PROBABILITY:
            initial.ravel()[list(layout.orbits[tile])] = 1
    allowed = ~np.array(layout.protected).reshape(initial.shape)
    walls = initial * allowed
    for _ in range(ITERATIONS):
        # The 3 x 3 sum is separable: first over three rows, then over three columns.
        lines = walls + np.roll(walls, 1, axis=0) + np.roll(walls, -1, axis=0)
        around = lines + np.roll(lines, 1, axis=1) + np.roll(lines, -1, axis=1) - walls
        walls = ((around + walls >= 5) & allowed).astype(np.int8)
    return bytearray(walls.tobytes())


def connect_required(layout: Layout, walls: Walls) -> None:
    """Open paths until all required tiles are connected, then fill the rest (step 4).

    Filling preserves the symmetry: the connected part holds every slot's first core, so each
    symmetry maps it to itself.
    """
    steps = step_table(layout.rows, layout.cols)
    lengths = path_lengths(steps, walls, layout.required[:1])
    while any(lengths[tile] == UNREACHED for tile in layout.required):
        for tile in path_to_nearest(steps, lengths, layout.required):
            set_walls(walls, layout.orbits[tile], 0)
        lengths = path_lengths(steps, walls, layout.required[:1])
    for tile, length in enumerate(lengths):
        if length == UNREACHED:
            walls[tile] = 1


def path_to_nearest(steps: Table, lengths: Sequence[int], required: Sequence[int]) -> list[int]:
    """Return a shortest path through walls to the nearest required tile that has no length.

    The path starts at that tile and ends at a tile that has a length.
    """
    reached = [tile for tile, length in enumerate(lengths) if length != UNREACHED]
    through = path_lengths(steps, bytes(len(steps)), reached)
    missing = (tile for tile in required if lengths[tile] == UNREACHED)
    path = [min(missing, key=through.__getitem__)]
    while through[path[-1]]:
        path.append(min(steps[path[-1]], key=through.__getitem__))
    return path


def set_walls(walls: Walls, tiles: Iterable[int], wall: int) -> None:
    """Make tiles walls (1) or open them (0)."""
    for tile in tiles:
        walls[tile] = wall


def reach_density(layout: Layout, walls: Walls, target: int, rng: Random) -> bool:
    """Open or close orbits until |walls - target| < players; return whether it was (step 5)."""
    surplus = sum(walls) - target
    if surplus > 0:
        return remove_walls(layout, walls, surplus, rng)
    return add_walls(layout, walls, -surplus, rng)


def remove_walls(layout: Layout, walls: Walls, surplus: int, rng: Random) -> bool:
    """Open random orbits next to open tiles; return whether less than an orbit is left over.

    An orbit next to an open tile joins the part that is already connected.
    """
    steps = step_table(layout.rows, layout.cols)
    removable = RandomSet(rng)
    for tile, representative in enumerate(layout.representatives):
        if walls[tile] and tile == representative and not all(walls[n] for n in steps[tile]):
            removable.add(tile)
    while surplus >= layout.players and removable:
        orbit = layout.orbits[removable.draw()]
        set_walls(walls, orbit, 0)
        surplus -= len(orbit)
        for neighbour in steps[orbit[0]]:
            if walls[neighbour]:
                removable.add(layout.representatives[neighbour])
    return surplus < layout.players


def add_walls(layout: Layout, walls: Walls, missing: int, rng: Random) -> bool:
    """Close random orbits where that cuts no path; return whether less than an orbit is missing.

    Orbits next to a wall are closed first, so that walls grow instead of appearing singly.
    """
    steps, rings = (table(layout.rows, layout.cols) for table in (step_table, ring_table))
    beside, others = RandomSet(rng), RandomSet(rng)
    for tile, representative in enumerate(layout.representatives):
        if tile == representative and not walls[tile] and not layout.protected[tile]:
            (beside if any(walls[n] for n in steps[tile]) else others).add(tile)
    while missing >= layout.players and (beside or others):
        orbit = layout.orbits[(beside or others).draw()]
        if walls[orbit[0]] or not close_orbit(rings, walls, orbit):
            continue
        missing -= len(orbit)
        for near in rings[orbit[0]]:
            if not (walls[near] or layout.protected[near]) and any(walls[n] for n in steps[near]):
                beside.add(layout.representatives[near])
    return missing < layout.players


def close_orbit(rings: Table, walls: Walls, orbit: Sequence[int]) -> bool:
    """Close an orbit unless one of its tiles would cut a path; return whether it was closed.

    The tiles are closed one by one, because one may be in the ring of another. If one would cut a
    path, the earlier ones are reopened.
    """
    for number, tile in enumerate(orbit):
        if not is_ring_connected([not walls[n] for n in rings[tile]]):
            set_walls(walls, orbit[:number], 0)
            return False
        walls[tile] = 1
    return True


def is_ring_connected(ring: Sequence[bool]) -> bool:
    """Return whether a tile's open 4-neighbours are connected within its ring of 8 neighbours.

    `ring` holds whether each neighbour is open, clockwise from north. A tile with a connected ring
    can be closed without cutting any path, since paths can go round it: digital topology calls it a
    simple point. The test is local, so it also rejects some tiles that could be closed.
    """
    # Neighbouring sides are joined by an open corner: a forest has nodes - edges components, and
    # the only cycle, all four joined, gives 0.
    sides = sum(ring[side] for side in (0, 2, 4, 6))
    joints = sum(ring[side] and ring[side + 1] and ring[(side + 2) % 8] for side in (0, 2, 4, 6))
    return sides - joints <= 1


class RandomSet:
    """A set of tiles with constant-time random removal."""

    def __init__(self, rng: Random) -> None:
        """Start empty; `rng` makes all random choices."""
        self._rng = rng
        self._tiles: list[int] = []
        self._known: set[int] = set()

    def __len__(self) -> int:
        """Return the number of tiles."""
        return len(self._tiles)

    def add(self, tile: int) -> None:
        """Add a tile unless it is already in the set."""
        if tile not in self._known:
            self._known.add(tile)
            self._tiles.append(tile)

    def draw(self) -> int:
        """Remove and return a random tile."""
        # Swap the chosen tile with the last one of the list, so that removing it moves no other
        # tile.
        index = self._rng.randrange(len(self._tiles))
        self._tiles[index], self._tiles[-1] = self._tiles[-1], self._tiles[index]
        tile = self._tiles.pop()
        self._known.remove(tile)
        return tile


DEFAULTS: Final = {
    "rows": 60,
    "cols": 60,
    "wall_density": 0.15,
    "energy_nodes": 20,
    "cores_per_player": 1,
}
ATTEMPTS: Final = 100
"""The number of attempts before map generation gives up."""


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
    """Yield maps m4_001, m4_002 and so on (for 4 players), with consecutive seeds from `seed`.

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
    """Return a map made with the next random numbers; raise UsageError if the attempt fails."""
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
