"""The names that students' programs import: a turn's time limit, and a board for trying moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from cw.errors import IllegalAction, ProtocolError
from cw.games.circuit_wars import board
from cw.games.circuit_wars.board import Move

TIMEOUT = 3
"""The time limit of a turn in seconds; -1 for none."""


class Board:
    """A board on which segments can be drawn.

    `x` counts from 0 to the right and `y` from 0 downwards; `border` is one of the keys of BORDERS;
    `player` is 1 or 2. A segment between two squares has two names, and both are accepted.

    >>> board = Board(3)
    >>> for border in ("top", "right", "bottom"):
    ...     board.add_border(0, 0, border, player=1)
    >>> trial = board.copy()
    >>> trial.add_border(0, 0, "left", player=2)
    >>> trial.get_colored(), board.get_colored()
    ([0, 1], [0, 0])
    """

    BORDERS: ClassVar[Mapping[str, int]] = board.BORDERS

    def __init__(self, size: int = 7) -> None:
        """Start with an empty board; raise UsageError unless size is odd and from 1 to 31."""
        self._squares = board.empty(board.check_size(size))

    @classmethod
    def from_status(cls, document: Mapping[str, Any]) -> Board:
        """Return the board from a status document; raise ProtocolError if it has none."""
        try:
            squares = tuple(tuple(int(square) for square in row) for row in document["board"])
        except (KeyError, TypeError, ValueError):
            raise ProtocolError("the status document has no board of numbers") from None
        board = cls(len(squares))
        if any(len(row) != len(squares) for row in squares):
            raise ProtocolError("the board of the status document is not square")
        board._squares = squares
        return board

    def copy(self) -> Board:
        """Return an independent copy, to try moves on."""
        board = Board.__new__(Board)
        board._squares = self._squares
        return board

    def get_size(self) -> int:
        """Return the number of squares in a row."""
        return len(self._squares)

    def get_board(self) -> list[list[int]]:
        """Return the squares as `[y][x]`, each a 6-bit number as in the status document."""
        return [list(row) for row in self._squares]

    def get_colored(self) -> list[int]:
        """Return the numbers of squares of player 1 and of player 2."""
        return list(board.scores(self._squares))

    def is_occupied(self, x: int, y: int) -> int:
        """Return the player who owns the square: 1 or 2, or 0 if it has no owner."""
        return board.owner(self._squares[self._on_board(Move(x, y, "top")).y][x])

    def has_border(self, x: int, y: int, border: str) -> bool:
        """Return whether this side of the square is drawn."""
        return board.is_drawn(self._squares, self._on_board(Move(x, y, border)))

    def is_free(self, x: int, y: int, border: str) -> bool:
        """Return whether the segment is free: on the board, not drawn, not in a closed area."""
        move = Move(x, y, border)
        return move.is_on(self.get_size()) and board.is_free(self._squares, move)

    def free_borders(self) -> list[tuple[int, int, str]]:
        """Return every free segment once, as (x, y, border).

        >>> len(Board(3).free_borders())
        24
        """
        return [(move.x, move.y, move.border) for move in board.free_moves(self._squares)]

    def add_border(self, x: int, y: int, border: str, player: int) -> None:
        """Draw a free segment for a player, who gets the area that it closes.

        Raises IllegalAction if the segment is not free, or if there is no such player.
        """
        if player not in board.OWNED:
            raise IllegalAction(f"there is no player {player!r}, only 1 and 2")
        move = Move(x, y, border)
        board.check_free(self._squares, move)
        self._squares = board.draw(self._squares, move, player)

    def _on_board(self, move: Move) -> Move:
        if not move.is_on(self.get_size()):
            raise IllegalAction(f"there is no {move} on a board of size {self.get_size()}")
        return move


__all__: Sequence[str] = ("TIMEOUT", "Board")
