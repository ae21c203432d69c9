"""The board as rows of 6-bit squares (rule book, "Squares as numbers"), and the effect of moves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from cw.errors import IllegalAction, UsageError

BORDERS: Final = MappingProxyType({"top": 1, "right": 2, "bottom": 4, "left": 8})
"""The bit of each border in the low four bits of a square."""

OWNED: Final = MappingProxyType({1: 16, 2: 32})
"""The ownership bit of each player."""

ACROSS: Final = MappingProxyType(
    {
        "top": (0, -1, "bottom"),
        "right": (1, 0, "left"),
        "bottom": (0, 1, "top"),
        "left": (-1, 0, "right"),
    }
)
"""Border -> dx and dy of the square on its other side, and the border's name from there."""

MOVE_PATTERN: Final = re.compile(r"([0-9]{1,3}),([0-9]{1,3}),(top|right|bottom|left)")


class Move(NamedTuple):
    """A segment's name: a square, with (0, 0) at the upper left, and one of its borders."""

    x: int
    y: int
    border: str

    def __str__(self) -> str:
        """Return the move in the wire format: `x,y,border`."""
        return f"{self.x},{self.y},{self.border}"

    def is_on(self, size: int) -> bool:
        """Return whether the move names a square and a border on a board of size x size squares."""
        return 0 <= self.x < size and 0 <= self.y < size and self.border in BORDERS

    def from_across(self) -> Move:
        """Return the segment's other name; its square may be off the board."""
        dx, dy, border = ACROSS[self.border]
        return Move(self.x + dx, self.y + dy, border)


@lru_cache(maxsize=8192)
def parse_move(text: str) -> Move:
    """Parse `x,y,border`; raise IllegalAction for any other text.

    States store moves as they were sent, because the `/status` response repeats them unchanged; the
    cache avoids parsing the same text again.
    """
    match = MOVE_PATTERN.fullmatch(text)
    if match is None:
        raise IllegalAction(
            f"{text[:40]!r} cannot be read as a move: expected x,y,border such as 1,2,top,"
            f" with border one of {', '.join(BORDERS)}"
        )
    return Move(int(match[1]), int(match[2]), match[3])


def all_segments(size: int) -> Iterator[Move]:
    """Yield one name for each segment of the board, in reading order of the squares."""
    for y in range(size):
        for x in range(size):
            yield Move(x, y, "top")
            yield Move(x, y, "left")
            if x == size - 1:
                yield Move(x, y, "right")
            if y == size - 1:
                yield Move(x, y, "bottom")


Squares: TypeAlias = tuple[tuple[int, ...], ...]
"""`squares[y][x]`: bits 1, 2, 4, 8 are drawn borders; 16 and 32 mean owned by player 1 and 2."""

LARGEST: Final = 31
ANY_OWNER: Final = OWNED[1] | OWNED[2]


def check_size(size: object) -> int:
    """Return the size unchanged; raise UsageError unless it is an odd whole number from 1 to 31."""
    if type(size) is int and 1 <= size <= LARGEST and size % 2:
        return size
    raise UsageError(f"size must be an odd number from 1 to {LARGEST}, not {size!r}")


def empty(size: int) -> Squares:
    """Return a board of size x size squares with nothing drawn."""
    return ((0,) * size,) * size


def owner(square: int) -> int:
    """Return the owner of a square: 1 or 2, or 0 if it is unowned."""
    return square >> 4


def scores(squares: Squares) -> tuple[int, int]:
    """Return the numbers of squares that player 1 and player 2 own."""
    owners = [owner(square) for row in squares for square in row]
    return owners.count(1), owners.count(2)


def is_drawn(squares: Squares, move: Move) -> bool:
    """Return whether a player has drawn the segment, which must be on the board."""
    return bool(squares[move.y][move.x] & BORDERS[move.border])


def is_free(squares: Squares, move: Move) -> bool:
    """Return whether the segment, which must be on the board, is neither drawn nor enclosed."""
    return not squares[move.y][move.x] & (BORDERS[move.border] | ANY_OWNER)


def free_moves(squares: Squares) -> list[Move]:
    """Return one name for each free segment, in reading order of the squares."""
    return [move for move in all_segments(len(squares)) if is_free(squares, move)]


def check_free(squares: Squares, move: Move) -> None:
    """Raise IllegalAction unless the move names a free segment of the board."""
    size = len(squares)
    if not move.is_on(size):
        raise IllegalAction(f"{move} is off the board: x and y go from 0 to {size - 1}")
    if is_drawn(squares, move):
        raise IllegalAction(f"{move} is not free: it is already drawn")
    if not is_free(squares, move):
        raise IllegalAction(f"{move} is not free: it lies inside a closed area")


def draw(squares: Squares, move: Move, player: int) -> Squares:
    """Return the board after a player draws a free segment and takes the area that it closes.

    Only drawn segments set border bits: those inside a closed area are no longer free, but their
    bits stay unset (rule 3).
    """
    board = [list(row) for row in squares]
    for side in (move, move.from_across()):
        if side.is_on(len(board)):
            board[side.y][side.x] |= BORDERS[side.border]
    for side in (move, move.from_across()):
        for x, y in closed_area(board, side.x, side.y):
            board[y][x] |= OWNED[player]
    return tuple(map(tuple, board))


def closed_area(board: list[list[int]], x: int, y: int) -> set[tuple[int, int]]:
    """Return the unowned squares of the closed area around (x, y), or none if it is open."""
    size = len(board)
    area = {(x, y)}
    border = [(x, y)]
    while border:
        x, y = border.pop()
        if not (0 <= x < size and 0 <= y < size) or board[y][x] & ANY_OWNER:
            return set()
        for neighbour in neighbours(board[y][x], x, y):
            if neighbour not in area:
                area.add(neighbour)
                border.append(neighbour)
    return area


def neighbours(square: int, x: int, y: int) -> Iterator[tuple[int, int]]:
    """Yield the squares across the undrawn borders of (x, y), including those off the board."""
    for name, bit in BORDERS.items():
        if not square & bit:
            dx, dy, _ = ACROSS[name]
            yield x + dx, y + dy
