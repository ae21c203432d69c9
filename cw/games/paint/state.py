"""The state of a match, and its squares, directions, actions and player ids."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from cw.errors import ProtocolError, short
from cw.games.rules import Json

Square: TypeAlias = tuple[int, int]
"""Row and column, both from 0; rows grow downwards, columns to the right."""

Direction: TypeAlias = tuple[int, int]
"""Change of row and of column, each -1, 0 or 1, not both 0."""

DIRECTIONS: Final[tuple[Direction, ...]] = tuple(
    (down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if (down, right) != (0, 0)
)
"""All eight directions, starting with the upper left."""


class Action(NamedTuple):
    """The action of a player in a turn."""

    type: Literal["walk", "shoot"]
    direction: Direction


ACTIONS: Final = tuple(
    Action(kind, direction) for kind in ("walk", "shoot") for direction in DIRECTIONS
)
"""All sixteen actions; each is valid in every turn."""


@dataclass(frozen=True, slots=True)
class State:
    """The board before a turn; players are numbered in seat order, from 0."""

    width: int
    height: int
    players: tuple[str, ...]
    positions: tuple[Square, ...]
    """The square of each player's avatar."""
    colors: tuple[int | None, ...]
    """The owner of each square in reading order; None for neutral squares and obstacles."""
    obstacles: frozenset[Square]
    turns_left: int
    previous: tuple[tuple[Action | None, ...], ...] = ()
    """The actions of all turns so far, oldest first: by player, None if not valid."""
    history: int | None = None
    """How many of the latest turns players are shown; None for all."""

    def is_free(self, square: Square) -> bool:
        """Return whether a square is on the board and not an obstacle."""
        row, col = square
        on_board = 0 <= row < self.height and 0 <= col < self.width
        return on_board and square not in self.obstacles

    def score(self, player: int) -> int:
        """Return the number of squares of a player."""
        return self.colors.count(player)


PLAYER_ID: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def check_ids(players: Json) -> tuple[str, ...]:
    """Return the ids in a list; raise ProtocolError unless at least 2, all valid and distinct."""
    if not isinstance(players, list | tuple):
        raise ProtocolError(f"players must be a list of ids, not {short(players)}")
    if len(players) < 2:
        raise ProtocolError(f"at least 2 players are needed, not {len(players)}")
    for number, player in enumerate(players):
        if not isinstance(player, str) or not PLAYER_ID.fullmatch(player):
            raise ProtocolError(
                f"player id {short(player)} must be 1 to 64 letters, digits or the characters _ . -"
            )
        if player in players[:number]:
            raise ProtocolError(f"two players have the id {short(player)}")
    return tuple(players)
