"""Shortest ways on the torus: breadth-first search in whole sets of tiles, held as bits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Final

from cw.games.code_battle.torus import DIRECTIONS, Direction, Tile, Torus

FAR: Final = 10**6
"""A distance that no way has."""


def bits(tiles: Iterable[Tile]) -> int:
    """Return a set of tiles as bits."""
    found = 0
    for tile in tiles:
        found |= 1 << tile
    return found


def tiles_of(found: int) -> Iterator[Tile]:
    """Return the tiles of a set, in ascending order."""
    while found:
        lowest = found & -found
        yield lowest.bit_length() - 1
        found ^= lowest


class Spread:
    """Moves whole sets of tiles by one step."""

    def __init__(self, torus: Torus) -> None:
        """Prepare the columns at the seam."""
        self.cols = torus.cols
        self.wrap = torus.tiles - torus.cols
        self.everything = (1 << torus.tiles) - 1
        first_column = bits(range(0, torus.tiles, torus.cols))
        self.not_first = self.everything ^ first_column
        self.not_last = self.everything ^ first_column << torus.cols - 1

    def around(self, found: int) -> int:
        """Return all tiles one step from any of some tiles."""
        cols, wrap = self.cols, self.wrap
        inner_east, inner_west = found & self.not_last, found & self.not_first
        return (
            (found << cols | found >> cols | found << wrap | found >> wrap) & self.everything
            | inner_east << 1
            | (found ^ inner_east) >> cols - 1
            | inner_west >> 1
            | (found ^ inner_west) << cols - 1
        )


@lru_cache(maxsize=8)
def spread(torus: Torus) -> Spread:
    """Return the steps on a torus."""
    return Spread(torus)


class Field:
    """How far tiles are from the nearest of some goals, round the walls."""

    def __init__(self, torus: Torus, walls: int, goals: int) -> None:
        """Aim at goals; tiles that are no walls are open."""
        self.torus = torus
        self.spread = spread(torus)
        self.unreached = self.spread.everything & ~walls & ~goals
        self.levels = [goals]
        """Number of steps -> the tiles from which that many are needed."""

    def _widen(self) -> bool:
        """Work out one more level; False when there is none."""
        level = self.spread.around(self.levels[-1]) & self.unreached
        if not level:
            return False
        self.levels.append(level)
        self.unreached ^= level
        return True

    def distances(self, wanted: int, most: int = FAR) -> dict[Tile, int]:
        """Return the steps from each of some tiles that are at most `most` away."""
        found: dict[Tile, int] = {}
        steps = 0
        while wanted and steps <= most and (steps < len(self.levels) or self._widen()):
            met = wanted & self.levels[steps]
            wanted ^= met
            for tile in tiles_of(met):
                found[tile] = steps
            steps += 1
        return found

    def distance(self, tile: Tile) -> int:
        """Return the steps from one tile, FAR if there is no way."""
        return self.distances(1 << tile).get(tile, FAR)

    def ways(self, tile: Tile) -> list[tuple[int, Direction, Tile]]:
        """Return the neighbours of a tile that have a way, the nearest to the goals first."""
        beside = {way: self.torus.ahead[way][tile] for way in DIRECTIONS}
        steps = self.distances(bits(beside.values()), self.distance(tile) + 1)
        return sorted((steps[near], way, near) for way, near in beside.items() if near in steps)


class Steps:
    """The number of steps between tiles if there were no walls."""

    def __init__(self, torus: Torus) -> None:
        """Measure on a torus."""
        self.torus = torus

    @cached_property
    def across(self) -> list[int]:
        """Columns apart -> steps."""
        return [min(n, self.torus.cols - n) for n in range(self.torus.cols)]

    @cached_property
    def along(self) -> list[int]:
        """Rows apart -> steps."""
        return [min(n, self.torus.rows - n) for n in range(self.torus.rows)]

    def __call__(self, a: Tile, b: Tile) -> int:
        """Count the steps."""
        cols = self.torus.cols
        return self.along[abs(a // cols - b // cols)] + self.across[abs(a % cols - b % cols)]
