"""A position as a graph: nodes are components of drawn segments, edges are free segments.

Drawn segments join grid points into components; an isolated point is a component too. A free
segment between two components merges them and scores nothing; one within a component is a loop, and
closes an area. So once one of several parallel edges is drawn, the others become loops that score,
and an edge with no parallel is safe to draw.

A closed line encloses, in each row, the squares with an odd number of its vertical segments to
their left (the even-odd rule). Therefore a vertical segment is labelled with the set of the squares
to its right, and a horizontal one with the empty set: the XOR along a closed line is the area that
it encloses. As in a weighted union-find, each component has a root, and the label of an edge is the
XOR along the path from root to root through its segment. The label of a loop is then the area that
it closes, and the XOR of two parallel labels is the area between the edges; both are known without
visiting any square.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple, TypeAlias

from cw.games.circuit_wars import board
from cw.games.circuit_wars.board import Move, Squares, all_segments

Pair: TypeAlias = tuple[int, int]
"""Two components, each identified by its root point, smaller one first; equal for a loop."""


class GridSegment(NamedTuple):
    """A segment of a board of one size, as a line between two grid points."""

    move: Move
    bit: int
    """Its bit in the set of free segments."""
    ends: tuple[int, int]
    """Its two grid points, numbered in reading order."""
    sides: int
    """The squares on both sides of it, as bits."""
    right: int
    """The squares to its right in its row, as bits; 0 for a horizontal segment."""


class Edge(NamedTuple):
    """A free segment between two components, or within one."""

    segment: GridSegment
    label: int
    """The XOR of `right` along the path through the segment from root to root."""


class Candidate(NamedTuple):
    """A legal move with its points and the captures that it allows, computed without drawing it."""

    value: int
    """Its points, minus the most that the opponent can capture with the next move."""
    points: int
    edge: Edge
    pair: Pair


class Position(NamedTuple):
    """Everything that can still be won: the edges between components, and the unowned squares."""

    edges: Mapping[Pair, tuple[Edge, ...]]
    unowned: int
    """The unowned squares, as bits."""
    free: int
    """The free segments, as bits; they alone determine the rest of the game."""

    @staticmethod
    def from_squares(squares: Squares) -> Position:
        """Return the position of a board of 6-bit squares."""
        size = len(squares)
        drawn = [part for part in segments(size) if board.is_drawn(squares, part.move)]
        free = [part for part in segments(size) if board.is_free(squares, part.move)]
        roots = _roots(size, drawn)
        edges: dict[Pair, tuple[Edge, ...]] = {}
        for segment in free:
            (a, label_a), (b, label_b) = (roots[end] for end in segment.ends)
            pair = (min(a, b), max(a, b))
            edges[pair] = (*edges.get(pair, ()), Edge(segment, label_a ^ label_b ^ segment.right))
        unowned = (
            1 << y * size + x
            for y, row in enumerate(squares)
            for x, square in enumerate(row)
            if not board.owner(square)
        )
        return Position(edges, sum(unowned), sum(segment.bit for segment in free))

    def draw(self, candidate: Candidate) -> Position:
        """Return the position after one of its candidates."""
        if candidate.points:
            return self._capture(candidate.edge.label)
        return self._merge(candidate.pair, candidate.edge)

    def is_safe(self, candidate: Candidate) -> bool:
        """Return whether a candidate scores nothing and allows no new capture."""
        return not candidate.points and len(self.edges[candidate.pair]) == 1

    def _capture(self, area: int) -> Position:
        """Return the position without the free segments in an area or on its border.

        A loop joins no components, so all other edges keep their pairs and labels.
        """
        edges: dict[Pair, tuple[Edge, ...]] = {}
        free = 0
        for pair, parallel in self.edges.items():
            remaining = tuple([edge for edge in parallel if not edge.segment.sides & area])
            if remaining:
                edges[pair] = remaining
                for edge in remaining:
                    free |= edge.segment.bit
        return Position(edges, self.unowned & ~area, free)

    def _merge(self, pair: Pair, drawn: Edge) -> Position:
        """Return the position after drawing an edge that scores nothing.

        The second component takes the root of the first, and the label of the drawn edge is the
        path between the two roots. It is XORed into every edge that leaves the second component; a
        loop there would get it twice, so its label stays.
        """
        survivor, merged = pair
        edges: dict[Pair, tuple[Edge, ...]] = {}
        for (a, b), parallel in self.edges.items():
            if merged not in (a, b):
                key, moved = (a, b), parallel
            elif a == b:
                key, moved = (survivor, survivor), parallel
            else:
                other = b if a == merged else a
                key = (survivor, other) if survivor < other else (other, survivor)
                moved = tuple(
                    [
                        Edge(segment, label ^ drawn.label)
                        for segment, label in parallel
                        if segment is not drawn.segment
                    ]
                )
            if moved:
                edges[key] = edges[key] + moved if key in edges else moved
        return Position(edges, self.unowned, self.free ^ drawn.segment.bit)

    def candidates(self) -> list[Candidate]:
        """Return all legal moves with their points and values."""
        loops = [
            (pair, edge)
            for pair, parallel in self.edges.items()
            if _is_loop(pair)
            for edge in parallel
        ]
        outermost = _outermost([loop.label & self.unowned for _, loop in loops])
        candidates = [self._capturing(pair, loop, outermost) for pair, loop in loops]
        available = max([area.bit_count() for area in outermost], default=0)
        for pair, parallel in self.edges.items():
            if not _is_loop(pair):
                candidates += self._quiet(pair, parallel, available)
        return candidates

    def _capturing(self, pair: Pair, loop: Edge, outermost: list[int]) -> Candidate:
        area = loop.label & self.unowned
        points = area.bit_count()
        remaining = max([(other & ~area).bit_count() for other in outermost])
        return Candidate(points - remaining, points, loop, pair)

    def _quiet(self, pair: Pair, parallel: tuple[Edge, ...], available: int) -> list[Candidate]:
        """Return the candidates of parallel edges; `available` squares can already be captured.

        The graph is planar, so parallel edges lie side by side, and the area between two of them
        is the sum of the areas in between: they are points on a line. The farthest from any edge
        is one of the two ends, which a double sweep finds: the farthest from the first edge, then
        the farthest from that one.
        """
        labels = [edge.label & self.unowned for edge in parallel]
        first = _farthest(labels, labels[0])
        last = _farthest(labels, first)
        return [
            Candidate(
                -max(available, (label ^ first).bit_count(), (label ^ last).bit_count()),
                0,
                edge,
                pair,
            )
            for label, edge in zip(labels, parallel, strict=True)
        ]


def _is_loop(pair: Pair) -> bool:
    return pair[0] == pair[1]


def _farthest(labels: list[int], start: int) -> int:
    return max(labels, key=lambda label: (label ^ start).bit_count())


def _outermost(areas: list[int]) -> list[int]:
    """Return the areas that are not nested in another.

    Loops do not cross, so any two areas are disjoint or nested. In order of decreasing size, each
    is either inside an area already selected or disjoint from all of them.
    """
    outermost: list[int] = []
    for area in sorted(areas, key=int.bit_count, reverse=True):
        # Laminar family: a single common square proves nesting.
        if not any(area & other for other in outermost):
            outermost.append(area)
    return outermost


@cache
def segments(size: int) -> tuple[GridSegment, ...]:
    """Return all segments of a board of size x size squares."""
    return tuple(_segment(size, number, move) for number, move in enumerate(all_segments(size)))


def _segment(size: int, number: int, move: Move) -> GridSegment:
    x = move.x + (move.border == "right")
    y = move.y + (move.border == "bottom")
    point = y * (size + 1) + x
    horizontal = move.border in ("top", "bottom")
    return GridSegment(
        move=move,
        bit=1 << number,
        ends=(point, point + 1 if horizontal else point + size + 1),
        sides=_squares(size, [move, move.from_across()]),
        right=0 if horizontal else _squares(size, [Move(i, y, "left") for i in range(x, size)]),
    )


def _squares(size: int, moves: list[Move]) -> int:
    return sum(1 << move.y * size + move.x for move in moves if move.is_on(size))


def _roots(size: int, drawn: list[GridSegment]) -> dict[int, tuple[int, int]]:
    """Return for each grid point the root of its component, and the XOR along the path to it.

    The choice of path does not matter: two paths differ by closed lines, whose areas are already
    owned.
    """
    adjacent: dict[int, list[tuple[int, int]]] = {}
    for segment in drawn:
        a, b = segment.ends
        adjacent.setdefault(a, []).append((b, segment.right))
        adjacent.setdefault(b, []).append((a, segment.right))
    roots: dict[int, tuple[int, int]] = {}
    for root in range((size + 1) ** 2):
        if root not in roots:
            roots[root] = (root, 0)
            stack = [root]
            while stack:
                point = stack.pop()
                for end, right in adjacent.get(point, ()):
                    if end not in roots:
                        roots[end] = (root, roots[point][1] ^ right)
                        stack.append(end)
    return roots
