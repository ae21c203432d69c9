"""A mutable board for playouts and search: the position is two integers and a union-find.

Squares are the bits of an integer, in rows of size + 1: the extra bit of each row and one row
above and below stand for the outside. Bit i of `horizontal` says that the top segment of square i
is free, bit i of `vertical` that its left segment is. Shifting by 1 or by a row moves to the
neighbouring squares, so a whole area grows by one step in a few operations.

Drawn segments join grid points. A segment closes an area exactly when its two ends are joined
already, which the union-find answers without looking at the board.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from cw.games.circuit_wars import board
from cw.games.circuit_wars.board import Squares
from cw.games.circuit_wars.segments import Move, all_segments


class Segment(NamedTuple):
    """One segment as the fast board sees it."""

    horizontal: bool
    bit: int
    """Its bit in `horizontal` or in `vertical`."""
    ends: tuple[int, int]
    """The two grid points, numbered in reading order."""
    sides: tuple[int, int]
    """The two squares, as bits; one may lie outside."""
    move: Move
    """Its name."""


class Geometry(NamedTuple):
    """All that depends on the size of the board alone."""

    size: int
    row: int
    """Bits in a row of squares."""
    outside: int
    """The bits that are no squares of the board."""
    segments: tuple[Segment, ...]
    by_move: dict[Move, Segment]
    """Both names of each segment."""
    around: dict[int, tuple[tuple[Segment, int], ...]]
    """Square or outside (0), as a bit -> its segments, each with the square beyond it."""
    horizontal: int
    vertical: int
    """All horizontal and all vertical segments."""


@cache
def geometry(size: int) -> Geometry:
    """Return the tables for a board of size x size squares."""
    row = size + 1
    segments = tuple(_segment(size, move) for move in all_segments(size))
    inside = sum(_square(size, x, y) for y in range(size) for x in range(size))
    by_move = {segment.move: segment for segment in segments}
    by_move |= {segment.move.from_across(): segment for segment in segments}
    around: dict[int, list[tuple[Segment, int]]] = {}
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


def _segment(size: int, move: Move) -> Segment:
    x = move.x + (move.border == "right")
    y = move.y + (move.border == "bottom")
    horizontal = move.border in ("top", "bottom")
    point = y * (size + 1) + x
    bit = _square(size, x, y)
    return Segment(
        horizontal=horizontal,
        bit=bit,
        ends=(point, point + 1 if horizontal else point + size + 1),
        sides=(bit, bit >> (size + 1 if horizontal else 1)),
        move=move,
    )


class FastBoard:
    """A position without owners and scores; `draw` tells what each segment scores."""

    __slots__ = ("_root", "geometry", "horizontal", "vertical")

    def __init__(self, size: int = 7) -> None:
        """Return the empty board of size x size squares."""
        self.geometry = geometry(size)
        self.horizontal = self.geometry.horizontal
        self.vertical = self.geometry.vertical
        self._root = list(range((size + 1) ** 2))

    @classmethod
    def from_squares(cls, squares: Squares) -> FastBoard:
        """Take over a position in the seed's representation."""
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
        return copy

    @property
    def key(self) -> int:
        """The set of free segments as one integer: it decides all that is still to be won."""
        return self.horizontal << self.geometry.outside.bit_length() | self.vertical

    def is_over(self) -> bool:
        """Return whether no segment is free."""
        return not self.horizontal | self.vertical

    def is_free(self, segment: Segment) -> bool:
        """Return whether the segment can be drawn."""
        return bool((self.horizontal if segment.horizontal else self.vertical) & segment.bit)

    def free(self) -> list[Segment]:
        """Name all free segments."""
        horizontal, vertical = self.horizontal, self.vertical
        return [
            segment
            for segment in self.geometry.segments
            if (horizontal if segment.horizontal else vertical) & segment.bit
        ]

    def draw(self, segment: Segment) -> int:
        """Draw a free segment and give its points, the size of the area that it closes."""
        horizontal, bit, (a, b), sides, _ = segment
        if horizontal:
            self.horizontal ^= bit
        else:
            self.vertical ^= bit
        return 0 if self._join(a, b) else self._close(sides)

    def _take(self, segment: Segment) -> None:
        if segment.horizontal:
            self.horizontal &= ~segment.bit
        else:
            self.vertical &= ~segment.bit

    def _join(self, a: int, b: int) -> bool:
        """Join two grid points; False if they were joined already."""
        root = self._root
        while a != root[a]:
            a = root[a]
        while b != root[b]:
            b = root[b]
        root[a] = b
        return a != b

    def _close(self, sides: tuple[int, int]) -> int:
        """Take the area that has just been closed on one of two sides; give its size."""
        area = self._area(sides[0]) or self._area(sides[1])
        self.horizontal &= ~(area & area << self.geometry.row)
        self.vertical &= ~(area & area << 1)
        return area.bit_count()

    def _area(self, area: int) -> int:
        """Return the closed area around a square, 0 if it reaches the outside."""
        horizontal, vertical = self.horizontal, self.vertical
        row, outside = self.geometry.row, self.geometry.outside
        grown = 0
        while area != grown:
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

    def scoring(self) -> list[tuple[Segment, int]]:
        """Name every free segment that closes an area, with its points.

        Squares and the outside are the nodes of a graph, free segments its edges: a segment scores
        exactly when it is a bridge, and what it cuts off is the subtree below it in a depth-first
        search from the outside. One pass with low-links finds them all.
        """
        order = {0: 0}
        low = {0: 0}
        size = {0: 0}
        bridges: list[tuple[Segment, int]] = []
        path: list[tuple[int, Segment | None, Iterator[tuple[Segment, int]]]]
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
