"""A mutable bitboard for playouts: two integers for the free segments, and a union-find.

Squares are the bits of an integer, in rows of size + 1 bits: the extra bit of each row, and one row
above and one below, represent the outside. Bit i of `horizontal` is set if the top segment of
square i is free, bit i of `vertical` if its left segment is. Shifting by 1 or by a row moves to the
neighbouring squares, so a whole area grows by one step in a few operations.

Drawn segments join grid points. A segment closes an area exactly when its two ends are already
connected (it completes a cycle), which the union-find answers without looking at the squares.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from cw.games.circuit_wars import board
from cw.games.circuit_wars.board import Move, Squares, all_segments


class FastSegment(NamedTuple):
    """A segment of a board of one size, in the bit numbering of the fast board."""

    number: int
    """Its index among the segments of the board; they sort by it."""
    horizontal: bool
    bit: int
    """Its bit in `FastBoard.horizontal` or `FastBoard.vertical`."""
    ends: tuple[int, int]
    """Its two grid points, numbered in reading order."""
    sides: tuple[int, int]
    """The two squares on its sides, as bits; one may be outside."""
    move: Move
    """One of its names."""


class Geometry(NamedTuple):
    """The lookup tables of a board size."""

    size: int
    row: int
    """Bits in a row of squares: size + 1."""
    outside: int
    """The bits that are not squares of the board."""
    segments: tuple[FastSegment, ...]
    by_move: dict[Move, FastSegment]
    """Each segment, under both of its names."""
    around: dict[int, tuple[tuple[FastSegment, int], ...]]
    """Bit of a square, 0 for the outside -> its segments, each with the square beyond it."""
    horizontal: int
    """All horizontal segments, as bits."""
    vertical: int
    """All vertical segments, as bits."""


@cache
def geometry(size: int) -> Geometry:
    """Return the lookup tables for a board of size x size squares."""
    row = size + 1
    moves = enumerate(all_segments(size))
    segments = tuple(_segment(size, number, move) for number, move in moves)
    inside = sum(_square(size, x, y) for y in range(size) for x in range(size))
    by_move = {segment.move: segment for segment in segments}
    by_move |= {segment.move.from_across(): segment for segment in segments}
    around: dict[int, list[tuple[FastSegment, int]]] = {}
    for segment in segments:
        here, beyond = (side if side & inside else 0 for side in segment.sides)
        around.setdefault(here, []).append((segment, beyond))
        around.setdefault(beyond, []).append((segment, here))
    return Geometry(
        size=size,
        row=row,
        outside=((1 << row * (size + 2) + 1) - 1) & ~inside,
        segments=segments,
        by_move=by_move,
        around={square: tuple(edges) for square, edges in around.items()},
        horizontal=sum(segment.bit for segment in segments if segment.horizontal),
        vertical=sum(segment.bit for segment in segments if not segment.horizontal),
    )


def _square(size: int, x: int, y: int) -> int:
    return 1 << (y + 1) * (size + 1) + x + 1


def _segment(size: int, number: int, move: Move) -> FastSegment:
    x = move.x + (move.border == "right")
    y = move.y + (move.border == "bottom")
    horizontal = move.border in ("top", "bottom")
    point = y * (size + 1) + x
    bit = _square(size, x, y)
    return FastSegment(
        number=number,
        horizontal=horizontal,
        bit=bit,
        ends=(point, point + 1 if horizontal else point + size + 1),
        sides=(bit, bit >> (size + 1 if horizontal else 1)),
        move=move,
    )


class FastBoard:
    """A position for playouts, without owners and scores; `draw` returns each move's points."""

    __slots__ = ("_free", "_root", "geometry", "horizontal", "vertical")

    def __init__(self, size: int = 7) -> None:
        """Start with an empty board of size x size squares."""
        self.geometry = geometry(size)
        self.horizontal = self.geometry.horizontal
        self.vertical = self.geometry.vertical
        self._root = list(range((size + 1) ** 2))
        self._free: list[FastSegment] | None = None

    @classmethod
    def from_squares(cls, squares: Squares) -> FastBoard:
        """Return the position of a board of 6-bit squares."""
        fast = cls(len(squares))
        for segment in fast.geometry.segments:
            if board.is_drawn(squares, segment.move):
                fast._join(*segment.ends)
            if not board.is_free(squares, segment.move):
                fast._take(segment)
        return fast

    def copy(self) -> FastBoard:
        """Return an independent copy."""
        copy = FastBoard.__new__(FastBoard)
        copy.geometry = self.geometry
        copy.horizontal = self.horizontal
        copy.vertical = self.vertical
        copy._root = self._root.copy()
        copy._free = None if self._free is None else self._free.copy()
        return copy

    @property
    def key(self) -> int:
        """The free segments as one integer, which determines everything that can still be won."""
        return self.horizontal << self.geometry.outside.bit_length() | self.vertical

    def is_over(self) -> bool:
        """Return whether no free segment is left."""
        return not self.horizontal | self.vertical

    def is_free(self, segment: FastSegment) -> bool:
        """Return whether the segment is free."""
        return bool((self.horizontal if segment.horizontal else self.vertical) & segment.bit)

    def free(self) -> Sequence[FastSegment]:
        """Return all free segments by ascending number, in a list that changes with the board.

        The list is built on the first call, and kept up to date afterwards.
        """
        if self._free is None:
            self._free = self._free_of(self.geometry.segments)
        return self._free

    def _free_of(self, segments: Sequence[FastSegment]) -> list[FastSegment]:
        horizontal, vertical = self.horizontal, self.vertical
        return [
            segment
            for segment in segments
            if (horizontal if segment.horizontal else vertical) & segment.bit
        ]

    def draw(self, segment: FastSegment) -> int:
        """Draw a free segment; return its points, the number of squares that it encloses."""
        _, horizontal, bit, (a, b), sides, _ = segment
        if horizontal:
            self.horizontal ^= bit
        else:
            self.vertical ^= bit
        free = self._free
        if free is not None:
            del free[bisect_left(free, segment)]
        # Only a segment that completes a cycle closes an area, so most moves need no look at the
        # squares.
        return 0 if self._join(a, b) else self._close(sides)

    def _take(self, segment: FastSegment) -> None:
        if segment.horizontal:
            self.horizontal &= ~segment.bit
        else:
            self.vertical &= ~segment.bit

    def _join(self, a: int, b: int) -> bool:
        """Join two grid points; return False if they were already connected."""
        # Neither ranks nor path compression: on a 7 x 7 board a path has two steps on average,
        # and without ranks copying a board copies only one list.
        root = self._root
        while a != root[a]:
            a = root[a]
        while b != root[b]:
            b = root[b]
        root[a] = b
        return a != b

    def _close(self, sides: tuple[int, int]) -> int:
        """Take the segments inside the area just closed on one side; return the area's size."""
        area = self._area(sides[0]) or self._area(sides[1])
        # A segment is inside if the area contains both adjacent squares.
        self.horizontal &= ~(area & area << self.geometry.row)
        self.vertical &= ~(area & area << 1)
        # An area of one square has no segments inside.
        if self._free is not None and area & (area - 1):
            self._free[:] = self._free_of(self._free)
        return area.bit_count()

    def _area(self, area: int) -> int:
        """Return the closed area around a square, as bits; 0 if it reaches the outside.

        Flood-fills all squares together: each pass adds the neighbours of the whole area that no
        drawn segment separates from it, in the four directions.
        """
        horizontal, vertical = self.horizontal, self.vertical
        row, outside = self.geometry.row, self.geometry.outside
        grown = 0
        while area != grown:
            # The outside is a sentinel, so no test for the edge of the board is needed.
            if area & outside:
                return 0
            grown = area
            area |= (
                (grown & horizontal) >> row
                | (grown << row) & horizontal
                | (grown & vertical) >> 1
                | (grown << 1) & vertical
            )
        return area

    def scoring(self) -> list[tuple[FastSegment, int]]:
        """Return every free segment that closes an area, with its points.

        Squares and the outside are the nodes of a graph, free segments its edges: a segment scores
        exactly when it is a bridge, and what it cuts off is the subtree below it in a depth-first
        search from the outside. Tarjan's low-links find all bridges in one pass; the stack is
        explicit, because a path may be as long as the number of squares.
        """
        order = {0: 0}
        low = {0: 0}
        size = {0: 0}
        bridges: list[tuple[FastSegment, int]] = []
        path: list[tuple[int, FastSegment | None, Iterator[tuple[FastSegment, int]]]]
        path = [(0, None, iter(self.geometry.around[0]))]
        while path:
            node, entry, edges = path[-1]
            for segment, beyond in edges:
                if segment is entry or not self.is_free(segment):
                    continue
                if beyond not in order:
                    order[beyond] = low[beyond] = len(order)
                    size[beyond] = 1
                    path.append((beyond, segment, iter(self.geometry.around[beyond])))
                    break
                low[node] = min(low[node], order[beyond])
            else:
                path.pop()
                if entry is not None:
                    parent = path[-1][0]
                    low[parent] = min(low[parent], low[node])
                    size[parent] += size[node]
                    if low[node] == order[node]:
                        bridges.append((entry, size[node]))
        return bridges
