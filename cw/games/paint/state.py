"""The position of a game of Paint, and the actions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

Square: TypeAlias = tuple[int, int]
"""Row and column, both from 0; row grows downward, column to the right."""

Direction: TypeAlias = tuple[int, int]
"""Change of row and of column, each -1, 0 or 1, not both 0."""

DIRECTIONS: Final[tuple[Direction, ...]] = tuple(
    (down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if (down, right) != (0, 0)
)


class Action(NamedTuple):
    """What an avatar does in a turn."""

    type: Literal["walk", "shoot"]
    direction: Direction


ACTIONS: Final = tuple(
    Action(kind, direction) for kind in ("walk", "shoot") for direction in DIRECTIONS
)
"""All sixteen actions; each is always valid."""


@dataclass(frozen=True, slots=True)
class State:
    """The board before a turn; players are numbered in seat order."""

    width: int
    height: int
    players: tuple[str, ...]
    positions: tuple[Square, ...]
    """Where each player's avatar stands."""
    colors: tuple[int | None, ...]
    """The owner of each square in reading order; None for neutral squares and obstacles."""
    obstacles: frozenset[Square]
    turns_left: int
    previous: tuple[tuple[Action | None, ...], ...] = ()
    """The valid actions of all turns so far, one for each player, the oldest turn first."""
    history: int | None = None
    """How many of the latest turns players are shown; None for all."""

    def is_free(self, square: Square) -> bool:
        """Return whether a square lies on the board and is no obstacle."""
        row, col = square
        on_board = 0 <= row < self.height and 0 <= col < self.width
        return on_board and square not in self.obstacles

    def score(self, player: int) -> int:
        """Count the squares of a player."""
        return self.colors.count(player)
