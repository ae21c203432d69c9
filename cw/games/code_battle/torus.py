"""The grid of Code Battle: a torus of tiles, numbered row by row."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Final, Literal, TypeAlias

Tile: TypeAlias = int
"""row * cols + col; row grows downward (south), col to the right (east), both from 0."""

Direction: TypeAlias = Literal["N", "E", "S", "W"]

DIRECTIONS: Final[dict[Direction, tuple[int, int]]] = {
    "N": (-1, 0),
    "E": (0, 1),
    "S": (1, 0),
    "W": (0, -1),
}
"""Change of row and of column."""


class Discs(dict[Tile, tuple[Tile, ...]]):
    """Tile -> all tiles within a squared distance of it; filled in as it is asked."""

    def __init__(self, torus: Torus, radius2: int) -> None:
        """Start empty."""
        super().__init__()
        self.torus = torus
        self.offsets = [
            (down, right)
            for down in torus.spans(torus.rows)
            for right in torus.spans(torus.cols)
            if down * down + right * right <= radius2
        ]

    def __missing__(self, tile: Tile) -> tuple[Tile, ...]:
        """Work out a disc and keep it."""
        rows, cols = self.torus.rows, self.torus.cols
        row, col = divmod(tile, cols)
        disc = tuple(
            (row + down) % rows * cols + (col + right) % cols for down, right in self.offsets
        )
        self[tile] = disc
        return disc


class Sights(dict[Tile, int]):
    """Tile -> the tiles within a squared distance of it, as bits; filled in as it is asked."""

    def __init__(self, discs: Discs) -> None:
        """Start empty."""
        super().__init__()
        self.discs = discs

    def __missing__(self, tile: Tile) -> int:
        """Work out the bits of a disc and keep them."""
        self[tile] = observation = sum(1 << seen for seen in self.discs[tile])
        return observation


class Torus:
    """All that depends on the size of the grid alone."""

    def __init__(self, rows: int, cols: int) -> None:
        """Make a torus of rows x cols tiles."""
        self.rows = rows
        self.cols = cols
        self.tiles = rows * cols
        self._discs: dict[int, Discs] = {}
        self._sights: dict[int, Sights] = {}

    @staticmethod
    def spans(length: int) -> range:
        """Return each distance along one axis once, the shorter way round."""
        return range(-((length - 1) // 2), length // 2 + 1)

    @cached_property
    def ahead(self) -> dict[Direction, list[Tile]]:
        """Direction -> tile -> the next tile that way."""
        rows, cols = self.rows, self.cols
        return {
            way: [
                (row + down) % rows * cols + (col + right) % cols
                for row in range(rows)
                for col in range(cols)
            ]
            for way, (down, right) in DIRECTIONS.items()
        }

    def discs(self, radius2: int) -> Discs:
        """Return the discs of a squared radius."""
        if radius2 not in self._discs:
            self._discs[radius2] = Discs(self, radius2)
        return self._discs[radius2]

    def sights(self, radius2: int) -> Sights:
        """Return the discs of a squared radius as bits."""
        if radius2 not in self._sights:
            self._sights[radius2] = Sights(Discs(self, radius2))
        return self._sights[radius2]

    def distance2(self, a: Tile, b: Tile) -> int:
        """Return the squared distance of two tiles (document, d2)."""
        down = abs(a // self.cols - b // self.cols)
        right = abs(a % self.cols - b % self.cols)
        return min(down, self.rows - down) ** 2 + min(right, self.cols - right) ** 2


@lru_cache(maxsize=8)
def torus(rows: int, cols: int) -> Torus:
    """Return the torus of a size; the last few are kept with what was worked out on them."""
    return Torus(rows, cols)
