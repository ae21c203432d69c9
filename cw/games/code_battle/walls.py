"""Steps 3 to 5 of making a map (document, "Maps"): grow walls, connect, reach the density.

Walls are a bytearray with a 1 for every wall; every change takes whole orbits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, TypeAlias

import numpy as np

from cw.games.code_battle.grid_paths import UNREACHED, Table, path_lengths, ring_table, step_table
from cw.games.code_battle.symmetry import Symmetry

Walls: TypeAlias = bytearray

CHANCE: Final = 0.45
ROUNDS: Final = 4
PROTECTED_D2: Final = 4


@dataclass(frozen=True, slots=True)
class Ground:
    """All of a map that is settled before it gets walls."""

    players: int
    rows: int
    cols: int
    orbits: Table
    """For every tile its distinct images."""
    firsts: tuple[int, ...]
    """For every tile the smallest of its images, which stands for the orbit."""
    protected: Sequence[bool]
    """For every tile whether it may never be a wall."""
    goals: tuple[int, ...]
    """Tiles that all must be reachable; slot 0's first core is the first."""


def lay_ground(symmetry: Symmetry, cores: Sequence[int], nodes: Sequence[int]) -> Ground:
    """Return the ground of a map with these cores and nodes of slot 0, and all their images."""
    images = symmetry.table()
    small = np.flatnonzero(symmetry.spread() == 0)
    every_core, every_node = (images[:, tiles].T.ravel().tolist() for tiles in (cores, nodes))
    protected = np.zeros(symmetry.rows * symmetry.cols, dtype=bool)
    for core in every_core:
        protected |= symmetry.distances(symmetry.tile(core)) <= PROTECTED_D2
    protected[[*every_node, *small]] = True
    return Ground(
        players=symmetry.players,
        rows=symmetry.rows,
        cols=symmetry.cols,
        orbits=tuple(tuple(dict.fromkeys(orbit)) for orbit in images.T.tolist()),
        firsts=tuple(images.min(axis=0).tolist()),
        protected=protected.tolist(),
        goals=(*every_core, *every_node, *small.tolist()),
    )


def grow(ground: Ground, rng: Random) -> Walls:
    """Return walls as a cellular automaton grows them from random orbits."""
    seeds = np.zeros((ground.rows, ground.cols), dtype=np.int8)
    for tile, first in enumerate(ground.firsts):
        if tile == first and rng.random() < CHANCE:
            seeds.ravel()[list(ground.orbits[tile])] = 1
    allowed = ~np.array(ground.protected).reshape(seeds.shape)
    walls = seeds * allowed
    for _ in range(ROUNDS):
        lines = walls + np.roll(walls, 1, axis=0) + np.roll(walls, -1, axis=0)
        around = lines + np.roll(lines, 1, axis=1) + np.roll(lines, -1, axis=1) - walls
        walls = ((around + walls >= 5) & allowed).astype(np.int8)
    return bytearray(walls.tobytes())


def connect(ground: Ground, walls: Walls) -> None:
    """Open ways until every goal can be reached, then fill what cannot be."""
    steps = step_table(ground.rows, ground.cols)
    lengths = path_lengths(steps, walls, ground.goals[:1])
    while any(lengths[goal] == UNREACHED for goal in ground.goals):
        for tile in way_to_nearest(steps, lengths, ground.goals):
            put(walls, ground.orbits[tile], 0)
        lengths = path_lengths(steps, walls, ground.goals[:1])
    for tile, length in enumerate(lengths):
        if length == UNREACHED:
            walls[tile] = 1


def way_to_nearest(steps: Table, lengths: Sequence[int], goals: Sequence[int]) -> list[int]:
    """Return the tiles of a shortest path, through walls, from the reached ones to a goal."""
    reached = [tile for tile, length in enumerate(lengths) if length != UNREACHED]
    through = path_lengths(steps, bytes(len(steps)), reached)
    missing = (goal for goal in goals if lengths[goal] == UNREACHED)
    way = [min(missing, key=through.__getitem__)]
    while through[way[-1]]:
        way.append(min(steps[way[-1]], key=through.__getitem__))
    return way


def put(walls: Walls, tiles: Iterable[int], wall: int) -> None:
    """Make tiles walls (1) or open (0)."""
    for tile in tiles:
        walls[tile] = wall


def reach(ground: Ground, walls: Walls, target: int, rng: Random) -> bool:
    """Open or close orbits until the number of walls is less than an orbit from the target.

    Tells whether that was possible.
    """
    surplus = sum(walls) - target
    if surplus > 0:
        return thin_out(ground, walls, surplus, rng)
    return thicken(ground, walls, -surplus, rng)


def thin_out(ground: Ground, walls: Walls, surplus: int, rng: Random) -> bool:
    """Open random orbits that touch an open tile."""
    steps = step_table(ground.rows, ground.cols)
    edge = Bag(rng)
    for tile, first in enumerate(ground.firsts):
        if walls[tile] and tile == first and not all(walls[n] for n in steps[tile]):
            edge.add(tile)
    while surplus >= ground.players and edge:
        orbit = ground.orbits[edge.draw()]
        put(walls, orbit, 0)
        surplus -= len(orbit)
        for neighbour in steps[orbit[0]]:
            if walls[neighbour]:
                edge.add(ground.firsts[neighbour])
    return surplus < ground.players


def thicken(ground: Ground, walls: Walls, missing: int, rng: Random) -> bool:
    """Close random orbits where that cuts no way: first those beside a wall, then any."""
    steps, rings = (table(ground.rows, ground.cols) for table in (step_table, ring_table))
    beside, others = Bag(rng), Bag(rng)
    for tile, first in enumerate(ground.firsts):
        if tile == first and not walls[tile] and not ground.protected[tile]:
            (beside if any(walls[n] for n in steps[tile]) else others).add(tile)
    while missing >= ground.players and (beside or others):
        orbit = ground.orbits[(beside or others).draw()]
        if walls[orbit[0]] or not close(rings, walls, orbit):
            continue
        missing -= len(orbit)
        for near in rings[orbit[0]]:
            if not (walls[near] or ground.protected[near]) and any(walls[n] for n in steps[near]):
                beside.add(ground.firsts[near])
    return missing < ground.players


def close(rings: Table, walls: Walls, orbit: Sequence[int]) -> bool:
    """Close an orbit tile by tile; undo it and say False where that could cut a way."""
    for number, tile in enumerate(orbit):
        if not hang_together([not walls[n] for n in rings[tile]]):
            put(walls, orbit[:number], 0)
            return False
        walls[tile] = 1
    return True


def hang_together(ring: Sequence[bool]) -> bool:
    """Return whether the open 4-neighbours among a tile's ring of 8 hang together inside it."""
    ways = sum(ring[side] for side in (0, 2, 4, 6))
    joints = sum(ring[side] and ring[side + 1] and ring[(side + 2) % 8] for side in (0, 2, 4, 6))
    return ways - joints <= 1


class Bag:
    """Distinct tiles, drawn at random."""

    def __init__(self, rng: Random) -> None:
        """Begin empty; all draws come from `rng`."""
        self._rng = rng
        self._tiles: list[int] = []
        self._known: set[int] = set()

    def __len__(self) -> int:
        """Count the tiles."""
        return len(self._tiles)

    def add(self, tile: int) -> None:
        """Put a tile in, unless it is in already."""
        if tile not in self._known:
            self._known.add(tile)
            self._tiles.append(tile)

    def draw(self) -> int:
        """Take a random tile out."""
        place = self._rng.randrange(len(self._tiles))
        self._tiles[place], self._tiles[-1] = self._tiles[-1], self._tiles[place]
        tile = self._tiles.pop()
        self._known.remove(tile)
        return tile
