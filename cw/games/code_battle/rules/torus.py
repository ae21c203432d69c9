"""The grid of Code Battle: a torus of tiles, numbered row by row."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Final, Literal, TypeAlias

Tile: TypeAlias = int
"""row * cols + col; rows grow downwards (south), columns to the right (east), both from 0."""

Direction: TypeAlias = Literal["N", "E", "S", "W"]

DIRECTIONS: Final[dict[Direction, tuple[int, int]]] = {
    "N": (-1, 0),
    "E": (0, 1),
    "S": (1, 0),
    "W": (0, -1),
}
"""Change of row and of column."""


class Discs(dict[Tile, tuple[Tile, ...]]):
    """Tile -> all tiles within a squared distance; entries are computed on first access."""

    def __init__(self, torus: Torus, radius2: int) -> None:
        """Start without entries, with the offsets shared by all discs."""
        super().__init__()
        self.torus = torus
        self.offsets = [
            (down, right)
            for down in torus.spans(torus.rows)
            for right in torus.spans(torus.cols)
            if down * down + right * right <= radius2
        ]

    def __missing__(self, tile: Tile) -> tuple[Tile, ...]:
        """Compute, store and return the disc of a tile."""
        rows, cols = self.torus.rows, self.torus.cols
        row, col = divmod(tile, cols)
        disc = tuple(
            (row + down) % rows * cols + (col + right) % cols for down, right in self.offsets
        )
        self[tile] = disc
        return disc


class BitDiscs(dict[Tile, int]):
    """Tile -> bitset of the tiles within a squared distance; entries are computed on first access.

    The tiles that several bots see are the OR of their discs.
    """

    def __init__(self, discs: Discs) -> None:
        """Start without entries."""
        super().__init__()
        self.discs = discs

    def __missing__(self, tile: Tile) -> int:
        """Compute, store and return the bitset of a tile's disc."""
        self[tile] = bits = sum(1 << seen for seen in self.discs[tile])
        return bits


class Torus:
    """The lookup tables of a grid size."""

    def __init__(self, rows: int, cols: int) -> None:
        """Create a torus of rows x cols tiles."""
        self.rows = rows
        self.cols = cols
        self.tiles = rows * cols
        self._discs: dict[int, Discs] = {}
        self._bit_discs: dict[int, BitDiscs] = {}

    @staticmethod
    def spans(length: int) -> range:
        """Return the offsets from a tile along an axis, each tile once, by the shorter way around.

        If both ways are equally long, only the positive offset is included, so that no tile is in a
        disc twice.
        """
        return range(-((length - 1) // 2), length // 2 + 1)

    @cached_property
    def ahead(self) -> dict[Direction, list[Tile]]:
        """Direction -> tile -> the next tile in that direction."""
        rows, cols = self.rows, self.cols
        return {
            direction: [
                (row + down) % rows * cols + (col + right) % cols
                for row in range(rows)
                for col in range(cols)
            ]
            for direction, (down, right) in DIRECTIONS.items()
        }

    @cached_property
    def down2(self) -> list[int]:
        """Difference of rows -> the square of the shorter way around.

        A negative difference indexes from the end of the list, which is the other way around.
        """
        return [min(n, self.rows - n) ** 2 for n in range(self.rows)]

    @cached_property
    def right2(self) -> list[int]:
        """Difference of columns -> the square of the shorter way around; negative ones work too."""
        return [min(n, self.cols - n) ** 2 for n in range(self.cols)]

    def discs(self, radius2: int) -> Discs:
        """Return the discs of a squared radius."""
        if radius2 not in self._discs:
            self._discs[radius2] = Discs(self, radius2)
        return self._discs[radius2]

    def bit_discs(self, radius2: int) -> BitDiscs:
        """Return the discs of a squared radius as bitsets."""
        if radius2 not in self._bit_discs:
            self._bit_discs[radius2] = BitDiscs(Discs(self, radius2))
        return self._bit_discs[radius2]

    def distance2(self, a: Tile, b: Tile) -> int:
        """Return the squared distance between two tiles: d2 of the rule book."""
        down, right = a // self.cols - b // self.cols, a % self.cols - b % self.cols
        return self.down2[down] + self.right2[right]


@lru_cache(maxsize=8)
def torus(rows: int, cols: int) -> Torus:
    """Return the torus of a size; the most recent ones are cached with their tables."""
    return Torus(rows, cols)
