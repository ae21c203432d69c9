"""A strategy's memory of earlier views, since each view shows only what is in sight."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache, reduce
from operator import or_
from typing import Final

import numpy as np
from numpy.typing import NDArray

from cw.games.code_battle.rules.state import DIRECTIONS, Direction, Tile, Torus, torus
from cw.games.code_battle.rules.turn import SeenCore, View

FAR: Final = 10**6
"""A distance longer than any path."""


def bits(tiles: Iterable[Tile]) -> int:
    """Return the bitset of some tiles."""
    result = 0
    for tile in tiles:
        result |= 1 << tile
    return result


def tiles_of(bitset: int) -> Iterator[Tile]:
    """Yield the tiles of a bitset in ascending order."""
    while bitset:
        lowest = bitset & -bitset
        yield lowest.bit_length() - 1
        bitset ^= lowest


class BitShifts:
    """Steps of bitsets on a torus: one integer shift moves every tile of a set."""

    def __init__(self, torus: Torus) -> None:
        """Prepare the masks for the first and the last column."""
        self.cols = torus.cols
        self.wrap = torus.tiles - torus.cols
        self.all_tiles = (1 << torus.tiles) - 1
        first_column = bits(range(0, torus.tiles, torus.cols))
        self.not_first = self.all_tiles ^ first_column
        self.not_last = self.all_tiles ^ first_column << torus.cols - 1

    def neighbours(self, bitset: int) -> int:
        """Return the tiles one step from any tile of a bitset."""
        cols, wrap = self.cols, self.wrap
        inner_east, inner_west = bitset & self.not_last, bitset & self.not_first
        # One row down or up is a shift by cols, or by rows - 1 rows where it wraps around. One
        # column is a shift by 1; the last and the first one wrap around within their row.
        return (
            (bitset << cols | bitset >> cols | bitset << wrap | bitset >> wrap) & self.all_tiles
            | inner_east << 1
            | (bitset ^ inner_east) >> cols - 1
            | inner_west >> 1
            | (bitset ^ inner_west) << cols - 1
        )


@lru_cache(maxsize=8)
def bit_shifts(torus: Torus) -> BitShifts:
    """Return the cached steps of bitsets on a torus."""
    return BitShifts(torus)


class DistanceField:
    """The distance in steps, around walls, from every tile to the nearest of some goals.

    The levels of the search are computed on demand, since most queries are about tiles near the
    goals.
    """

    def __init__(self, torus: Torus, walls: int, goals: int) -> None:
        """Start at the goals; `walls` and `goals` are bitsets."""
        self.torus = torus
        self.shifts = bit_shifts(torus)
        self.unreached = self.shifts.all_tiles & ~walls & ~goals
        self.levels = [goals]
        """Number of steps -> bitset of the tiles at that distance."""

    def _widen(self) -> bool:
        """Compute the next level; return False if it is empty."""
        level = self.shifts.neighbours(self.levels[-1]) & self.unreached
        if not level:
            return False
        self.levels.append(level)
        self.unreached ^= level
        return True

    def distances(self, goals: int, most: int = FAR, least: int = 0) -> dict[Tile, int]:
        """Return the distances of the tiles of a bitset that are between `least` and `most`."""
        result: dict[Tile, int] = {}
        steps = least
        while goals and steps <= most and (steps < len(self.levels) or self._widen()):
            reached = goals & self.levels[steps]
            goals ^= reached
            for tile in tiles_of(reached):
                result[tile] = steps
            steps += 1
        return result

    def distance(self, tile: Tile) -> int:
        """Return the distance of a tile, or FAR if there is no path."""
        goal = 1 << tile
        for steps, level in enumerate(self.levels):
            if level & goal:
                return steps
        while self.unreached & goal and self._widen():
            if self.levels[-1] & goal:
                return len(self.levels) - 1
        return FAR

    def approaches(self, tile: Tile, here: int) -> list[tuple[int, Direction, Tile]]:
        """Return distance, direction and tile of each neighbour with a path, nearest first.

        `here` is the distance of the tile itself.
        """
        beside = {way: self.torus.ahead[way][tile] for way in DIRECTIONS}
        # A path to a neighbour is at most one step longer or shorter.
        least = max(0, here - 1) if here < FAR else 0
        steps = self.distances(bits(beside.values()), here + 1, least)
        return sorted(
            (steps[near], direction, near) for direction, near in beside.items() if near in steps
        )


class TorusDistance:
    """The number of steps between two tiles of a torus without walls."""

    def __init__(self, torus: Torus) -> None:
        """Measure distances on a torus; the tables are built on first use."""
        self.torus = torus

    @cached_property
    def across(self) -> list[int]:
        """Column difference -> steps, the shorter way around.

        A negative difference indexes from the end of the list, which is the other way around.
        """
        return [min(n, self.torus.cols - n) for n in range(self.torus.cols)]

    @cached_property
    def along(self) -> list[int]:
        """Row difference -> steps, the shorter way around; negative ones work too."""
        return [min(n, self.torus.rows - n) for n in range(self.torus.rows)]

    @cached_property
    def places(self) -> list[tuple[int, int]]:
        """Tile -> row and column."""
        return [divmod(tile, self.torus.cols) for tile in range(self.torus.tiles)]

    def __call__(self, a: Tile, b: Tile) -> int:
        """Return the number of steps from `a` to `b`."""
        (row, col), (other_row, other_col) = self.places[a], self.places[b]
        return self.along[row - other_row] + self.across[col - other_col]

    @cached_property
    def tables(self) -> tuple[NDArray[np.int64], ...]:
        """Rows and columns by tile, and steps along both by difference, as arrays."""
        rows, cols = np.array(self.places).T.copy()
        return rows, cols, np.array(self.along), np.array(self.across)

    def to_all(self, a: Tile, others: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of steps from `a` to each of several tiles."""
        row, col = self.places[a]
        rows, cols, along, across = self.tables
        steps: NDArray[np.int64] = along[rows[others] - row] + across[cols[others] - col]
        return steps


LATTICE: Final = 5
"""The spacing, in rows and columns, of the tiles that are explored."""

MOST_FIELDS: Final = 128
"""The number of cached distance fields: on a large map each takes up to 0.3 MB."""


class Knowledge:
    """What a slot has seen of a match so far."""

    def __init__(self, view: View) -> None:
        """Initialize the knowledge with the match settings only."""
        self.config = view.config
        self.torus = torus(view.config.rows, view.config.cols)
        self.steps = TorusDistance(self.torus)
        self.walls = 0
        self.explored = 0
        """The tiles that have ever been in sight, as a bitset."""
        self.energy: set[Tile] = set()
        """The tiles that held energy when last seen."""
        self.nodes: set[Tile] = set()
        """The tiles that have ever held energy: it reappears there."""
        self.cores: dict[Tile, SeenCore] = {}
        self.seen: dict[Tile, int] = {
            row * view.config.cols + col: -1000
            for row in range(0, view.config.rows, LATTICE)
            for col in range(0, view.config.cols, LATTICE)
        }
        """Tile to explore -> the turn in which it was last in sight; far in the past if never."""
        self._fields: dict[int, DistanceField] = {}
        """Goals -> the distances to them; most goals stay the same for many turns."""
        self._fields_walls = 0
        """The walls for which the distances were computed."""

    def update(self, view: View) -> None:
        """Add the contents of a view."""
        bit_discs = self.torus.bit_discs(self.config.vision_radius2)
        visible = reduce(or_, (bit_discs[tile] for tile, owner in view.bots if owner == 0), 0)
        self.explored |= visible
        self.walls |= bits(view.walls)
        self.energy = {tile for tile in self.energy if not visible >> tile & 1}
        self.energy.update(view.nodes)
        self.nodes.update(view.nodes)
        self.cores.update((core.tile, core) for core in view.cores)
        for goal in self.seen:
            if visible >> goal & 1:
                self.seen[goal] = view.turn

    def cores_of(self, *, enemy: bool) -> list[Tile]:
        """Return the known active cores of the enemies, or the slot's own, in ascending order."""
        return sorted(
            tile for tile, core in self.cores.items() if core.active and (core.owner > 0) == enemy
        )

    def distance_field(self, goals: int) -> DistanceField:
        """Return the distances to a bitset of goals, around known walls."""
        if self._fields_walls != self.walls or len(self._fields) >= MOST_FIELDS:
            self._fields, self._fields_walls = {}, self.walls
        if goals not in self._fields:
            self._fields[goals] = DistanceField(self.torus, self.walls, goals)
        return self._fields[goals]
