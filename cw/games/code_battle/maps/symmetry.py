"""The symmetries of maps (rule book, "Maps"): every tile has an image for each slot."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from cw.errors import UsageError
from cw.games.rules import Json

Table: TypeAlias = tuple[tuple[int, ...], ...]
"""For each tile (row * cols + col), a tuple of other tiles."""

RING: Final = ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))
"""The offsets of the 8 neighbours, clockwise: N, NE, E and so on."""

UNREACHED: Final = -1
"""The path length of an unreachable tile."""


@lru_cache(maxsize=8)
def ring_table(rows: int, cols: int) -> Table:
    """Return the 8 neighbours of every tile, in the order of RING."""
    row, col = np.divmod(np.arange(rows * cols), cols)
    columns = [(row + down) % rows * cols + (col + right) % cols for down, right in RING]
    return tuple(map(tuple, np.stack(columns, axis=1).tolist()))


@lru_cache(maxsize=8)
def step_table(rows: int, cols: int) -> Table:
    """Return the 4 neighbours of every tile, in the order north, east, south, west."""
    return tuple(ring[::2] for ring in ring_table(rows, cols))


def path_lengths(steps: Table, walls: Sequence[int], starts: Iterable[int]) -> list[int]:
    """Return the steps to every tile from the nearest start, or UNREACHED if there is no path.

    A breadth-first search around walls; `walls` holds 1 for every wall.
    """
    lengths = [UNREACHED] * len(steps)
    queue = list(starts)
    for start in queue:
        lengths[start] = 0
    for tile in queue:
        further = lengths[tile] + 1
        for neighbour in steps[tile]:
            if lengths[neighbour] < 0 and not walls[neighbour]:
                lengths[neighbour] = further
                queue.append(neighbour)
    return lengths


RANGES: Final[Mapping[str, tuple[int, int]]] = {
    "rows": (30, 120),
    "cols": (30, 120),
    "energy_nodes": (8, 50),
    "cores_per_player": (1, 2),
    "seed": (0, 2**63 - 1),
}
"""Option -> lowest and highest value."""

LEAST_DENSITY: Final = 0.05
MOST_DENSITY: Final = 0.30
"""The minimum and maximum wall density, as a share of all tiles."""


def whole(name: str, value: Json) -> int:
    """Return the value if it is a whole number in its range, otherwise raise UsageError."""
    low, high = RANGES[name]
    if type(value) is int and low <= value <= high:
        return value
    raise UsageError(f"{name}: {short_text(value)} is not within {low}..{high}")


def density(value: Json) -> float:
    """Return the value as a wall density; raise UsageError unless it is a number in range."""
    if type(value) in (int, float) and LEAST_DENSITY <= value <= MOST_DENSITY:
        return float(value)
    limits = f"{LEAST_DENSITY:.2f}..{MOST_DENSITY:.2f}"
    raise UsageError(f"wall_density: {short_text(value)} is not within {limits}")


def short_text(value: Json) -> str:
    """Return a short representation of any value, for error messages."""
    if type(value) is int and abs(value) >= 2**64:
        return "a huge number"
    return reprlib.repr(value)


RowCol: TypeAlias = tuple[int, int]
"""Row and column of a tile, both from 0."""

Numbers: TypeAlias = NDArray[np.int64]
Coordinate = TypeVar("Coordinate", int, Numbers)
"""A row or a column, or an array of them."""

PLAYERS: Final = (2, 3, 4, 6)
"""The numbers of players for which maps exist.

A square grid has no rotations by 60 or 120 degrees, but translations of the torus are exact
symmetries too: they give maps for 3 and 6 players.
"""


@dataclass(frozen=True, slots=True)
class Group:
    """A group of symmetries of the torus, with one element per player.

    `rot180` and `rot90` are the rotations about the centre of the grid, `half_shift` the four
    translations by half of the rows or columns, `shift` the multiples of one translation.
    """

    name: Literal["rot180", "rot90", "half_shift", "shift"]
    shift: RowCol | None = None
    """The rows and columns that `shift` adds from slot to slot; None for the other groups."""

    def to_json(self) -> dict[str, Json]:
        """Return the member `symmetry` of a map file."""
        return {"group": self.name} | ({"shift": list(self.shift)} if self.shift else {})


@dataclass(frozen=True, slots=True)
class Symmetry:
    """The symmetries of maps of one size, which map the slots onto each other."""

    players: int
    rows: int
    cols: int
    group: Group

    def images(self, tile: RowCol) -> tuple[RowCol, ...]:
        """Return the orbit of a tile: its image for every slot; slot 0's is the tile itself."""
        return tuple(self._image(*tile, slot) for slot in range(self.players))

    def number(self, tile: RowCol) -> int:
        """Return the number of a tile: row * cols + col."""
        return tile[0] * self.cols + tile[1]

    def tile(self, number: int) -> RowCol:
        """Return the tile with this number."""
        return divmod(number, self.cols)

    def table(self) -> Numbers:
        """Return the number of every tile's image (axis 1) for each slot (axis 0)."""
        row, col = np.divmod(np.arange(self.rows * self.cols, dtype=np.int64), self.cols)
        images = (self._image(row, col, slot) for slot in range(self.players))
        return np.stack([row * self.cols + col for row, col in images])

    def distances(self, tile: RowCol) -> Numbers:
        """Return the squared distance from a tile to every tile, shape (rows * cols,)."""
        down = np.abs(np.arange(self.rows, dtype=np.int64) - tile[0])
        right = np.abs(np.arange(self.cols, dtype=np.int64) - tile[1])
        down, right = np.minimum(down, self.rows - down), np.minimum(right, self.cols - right)
        d2: Numbers = (down[:, None] ** 2 + right[None, :] ** 2).ravel()
        return d2

    def image_distances(self) -> Numbers:
        """Return every tile's squared distance to the nearest of its images for other slots.

        The shape is (rows * cols,). A tile that is its own image (a small orbit) has 0.
        """
        row, col = np.divmod(self.table(), self.cols)
        down, right = np.abs(row[1:] - row[0]), np.abs(col[1:] - col[0])
        down, right = np.minimum(down, self.rows - down), np.minimum(right, self.cols - right)
        nearest: Numbers = (down**2 + right**2).min(axis=0)
        return nearest

    def _image(self, row: Coordinate, col: Coordinate, slot: int) -> tuple[Coordinate, Coordinate]:
        if self.group.name in ("rot180", "rot90"):
            for _ in range(slot):
                row, col = self._turn(row, col)
            return row, col
        down, right = self._shift(slot)
        return (row + down) % self.rows, (col + right) % self.cols

    def _turn(self, row: Coordinate, col: Coordinate) -> tuple[Coordinate, Coordinate]:
        if self.group.name == "rot180":
            return self.rows - 1 - row, self.cols - 1 - col
        return col, self.rows - 1 - row

    def _shift(self, slot: int) -> RowCol:
        if self.group.shift is None:
            down, right = ((0, 0), (0, 1), (1, 1), (1, 0))[slot]
            return down * self.rows // 2, right * self.cols // 2
        return slot * self.group.shift[0], slot * self.group.shift[1]


def check_players(players: Json) -> int:
    """Return the number of players; raise UsageError if no maps exist for it."""
    if type(players) is int and players in PLAYERS:
        return players
    raise UsageError(f"players: {short_text(players)} is not one of {', '.join(map(str, PLAYERS))}")


def symmetry_for(players: int, rows: int, cols: int) -> Symmetry:
    """Return the symmetry for a map size; raise UsageError if there is none."""
    return Symmetry(players, rows, cols, group_for(players, rows, cols))


def group_for(players: int, rows: int, cols: int) -> Group:
    """Return the group for a number of players on a torus of this size.

    Raises UsageError, stating the sizes that work, if there is none.
    """
    check_players(players)
    if players == 2:
        return Group("rot180")
    if players == 4:
        return group_of_four(rows, cols)
    return Group(
        "shift", shift_for_three(rows, cols) if players == 3 else shift_for_six(rows, cols)
    )


def group_of_four(rows: int, cols: int) -> Group:
    """Return the group for four players; raise UsageError if the size has none."""
    if rows == cols:
        return Group("rot90")
    if rows % 2 or cols % 2:
        raise UsageError("4 players need rows == cols, or rows and cols both even")
    return Group("half_shift")


def shift_for_three(rows: int, cols: int) -> RowCol:
    """Return a translation of order 3, for three players; raise UsageError if there is none."""
    if rows % 3 == 0:
        return rows // 3, 0
    if cols % 3 == 0:
        return 0, cols // 3
    raise UsageError("3 players need rows or cols divisible by 3")


def shift_for_six(rows: int, cols: int) -> RowCol:
    """Return a translation of order 6, for six players; raise UsageError if there is none."""
    if rows % 3 == 0 and cols % 2 == 0:
        return rows // 3, cols // 2
    if cols % 3 == 0 and rows % 2 == 0:
        return rows // 2, cols // 3
    raise UsageError(
        "6 players need rows divisible by 3 and cols even, or cols divisible by 3 and rows even"
    )
