"""The symmetries of maps (document, "Maps"): each tile has one image for every slot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from cw.errors import UsageError
from cw.games.code_battle.ranges import shown
from cw.games.rules import Json

Tile: TypeAlias = tuple[int, int]
"""Row and col, from 0."""

Numbers: TypeAlias = NDArray[np.int64]
Places = TypeVar("Places", int, Numbers)

PLAYERS: Final = (2, 3, 4, 6)


@dataclass(frozen=True, slots=True)
class Group:
    """Which group of symmetries a map has."""

    name: Literal["rot180", "rot90", "half_shift", "shift"]
    shift: Tile | None = None
    """What `shift` adds from one slot to the next; None for the other groups."""

    def to_json(self) -> dict[str, Json]:
        """Return the `symmetry` of a map file."""
        return {"group": self.name} | ({"shift": list(self.shift)} if self.shift else {})


@dataclass(frozen=True, slots=True)
class Symmetry:
    """The symmetries of the torus of one size that turn the slots into each other."""

    players: int
    rows: int
    cols: int
    group: Group

    def images(self, tile: Tile) -> tuple[Tile, ...]:
        """Return a tile's orbit: its image for every slot, slot 0's (the tile itself) first."""
        return tuple(self._image(*tile, slot) for slot in range(self.players))

    def number(self, tile: Tile) -> int:
        """Return the number of a tile, as in all tables: row * cols + col."""
        return tile[0] * self.cols + tile[1]

    def tile(self, number: int) -> Tile:
        """Return the tile of a number."""
        return divmod(number, self.cols)

    def table(self) -> Numbers:
        """Return the numbers of the images of all tiles, shape (players, rows * cols)."""
        row, col = np.divmod(np.arange(self.rows * self.cols, dtype=np.int64), self.cols)
        images = (self._image(row, col, slot) for slot in range(self.players))
        return np.stack([row * self.cols + col for row, col in images])

    def distances(self, tile: Tile) -> Numbers:
        """Return d2 from a tile to every tile, shape (rows * cols,)."""
        down = np.abs(np.arange(self.rows, dtype=np.int64) - tile[0])
        right = np.abs(np.arange(self.cols, dtype=np.int64) - tile[1])
        down, right = np.minimum(down, self.rows - down), np.minimum(right, self.cols - right)
        d2: Numbers = (down[:, None] ** 2 + right[None, :] ** 2).ravel()
        return d2

    def spread(self) -> Numbers:
        """Return each tile's least d2 to its images, shape (rows * cols,); 0 if it is its own."""
        row, col = np.divmod(self.table(), self.cols)
        down, right = np.abs(row[1:] - row[0]), np.abs(col[1:] - col[0])
        down, right = np.minimum(down, self.rows - down), np.minimum(right, self.cols - right)
        spread: Numbers = (down**2 + right**2).min(axis=0)
        return spread

    def _image(self, row: Places, col: Places, slot: int) -> tuple[Places, Places]:
        if self.group.name in ("rot180", "rot90"):
            for _ in range(slot):
                row, col = self._turn(row, col)
            return row, col
        down, right = self._shift(slot)
        return (row + down) % self.rows, (col + right) % self.cols

    def _turn(self, row: Places, col: Places) -> tuple[Places, Places]:
        if self.group.name == "rot180":
            return self.rows - 1 - row, self.cols - 1 - col
        return col, self.rows - 1 - row

    def _shift(self, slot: int) -> Tile:
        if self.group.shift is None:
            down, right = ((0, 0), (0, 1), (1, 1), (1, 0))[slot]
            return down * self.rows // 2, right * self.cols // 2
        return slot * self.group.shift[0], slot * self.group.shift[1]


def check_players(players: Json) -> int:
    """Return a number of players back; raise UsageError if there are no maps for it."""
    if type(players) is int and players in PLAYERS:
        return players
    raise UsageError(f"players: {shown(players)} is not one of {', '.join(map(str, PLAYERS))}")


def symmetry_for(players: int, rows: int, cols: int) -> Symmetry:
    """Return the symmetry of maps of a size; raise UsageError if there is none."""
    return Symmetry(players, rows, cols, group_for(players, rows, cols))


def group_for(players: int, rows: int, cols: int) -> Group:
    """Return the group for a number of players on a torus of a size.

    Raises UsageError, with what the size must be like, if there is none.
    """
    check_players(players)
    if players == 2:
        return Group("rot180")
    if players == 4:
        return four(rows, cols)
    return Group("shift", shift_of_three(rows, cols) if players == 3 else shift_of_six(rows, cols))


def four(rows: int, cols: int) -> Group:
    """Return the group for four players."""
    if rows == cols:
        return Group("rot90")
    if rows % 2 or cols % 2:
        raise UsageError("4 players need rows == cols, or rows and cols both even")
    return Group("half_shift")


def shift_of_three(rows: int, cols: int) -> Tile:
    """Return the shift for three players."""
    if rows % 3 == 0:
        return rows // 3, 0
    if cols % 3 == 0:
        return 0, cols // 3
    raise UsageError("3 players need rows or cols divisible by 3")


def shift_of_six(rows: int, cols: int) -> Tile:
    """Return the shift for six players."""
    if rows % 3 == 0 and cols % 2 == 0:
        return rows // 3, cols // 2
    if cols % 3 == 0 and rows % 2 == 0:
        return rows // 2, cols // 3
    raise UsageError(
        "6 players need rows divisible by 3 and cols even, or cols divisible by 3 and rows even"
    )
