"""The game as searchers see it: free segments link walls, and what lines enclose is an XOR.

A wall is a set of grid points joined by drawn segments; a lone point is one too. A segment between
two walls makes them one and scores nothing; a segment from a wall to itself closes an area. So
where several segments link the same two walls, drawing one lets the others score, and a segment
that links its two walls alone is safe.

A closed line encloses in each row the squares that have an odd number of its vertical segments to
their left. So let every vertical segment bear the set of squares to its right, and every horizontal
one no square: the XOR along a closed line is what it encloses. Each wall has a root point, and a
link knows the XOR along the way from root to root through its segment. Then two links of the same
walls enclose the XOR of the two, and no square need be visited.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple, TypeAlias

from cw.games.circuit_wars import board
from cw.games.circuit_wars.board import Squares
from cw.games.circuit_wars.segments import Move, all_segments

Walls: TypeAlias = tuple[int, int]
"""Two walls by their roots, the smaller first; twice the same for a segment that scores."""


class Segment(NamedTuple):
    """One segment of an empty board."""

    move: Move
    bit: int
    """Its place in the set of free segments."""
    ends: Walls
    """Its two grid points, numbered in reading order."""
    sides: int
    """The squares beside it, as bits."""
    right: int
    """The squares to its right in its row, as bits; none for a horizontal segment."""


class Link(NamedTuple):
    """A free segment, and the XOR along the way through it from root to root."""

    segment: Segment
    way: int


class Choice(NamedTuple):
    """A legal move with all that can be told without drawing it."""

    value: int
    """Its points, less the most that the opponent can capture at once."""
    points: int
    link: Link
    walls: Walls


class Position(NamedTuple):
    """What is still to be won: the links between the walls, and the squares nobody owns."""

    links: Mapping[Walls, tuple[Link, ...]]
    open: int
    """The unowned squares, as bits."""
    free: int
    """The free segments, as bits; they alone decide all the rest."""

    @staticmethod
    def from_squares(squares: Squares) -> Position:
        """Take over a position in the seed's representation."""
        size = len(squares)
        drawn = [part for part in segments(size) if board.is_drawn(squares, part.move)]
        free = [part for part in segments(size) if board.is_free(squares, part.move)]
        roots = _roots(size, drawn)
        links: dict[Walls, tuple[Link, ...]] = {}
        for segment in free:
            (a, way_a), (b, way_b) = (roots[end] for end in segment.ends)
            walls = (min(a, b), max(a, b))
            links[walls] = (*links.get(walls, ()), Link(segment, way_a ^ way_b ^ segment.right))
        unowned = (
            1 << y * size + x
            for y, row in enumerate(squares)
            for x, square in enumerate(row)
            if not board.owner(square)
        )
        return Position(links, sum(unowned), sum(segment.bit for segment in free))

    def draw(self, choice: Choice) -> Position:
        """Return the position after one of its choices."""
        if choice.points:
            return self._capture(choice.link.way)
        return self._join(choice.walls, choice.link)

    def is_safe(self, choice: Choice) -> bool:
        """Return whether a choice scores nothing and lets nothing new be captured."""
        return not choice.points and len(self.links[choice.walls]) == 1

    def _capture(self, area: int) -> Position:
        links: dict[Walls, tuple[Link, ...]] = {}
        free = 0
        for walls, group in self.links.items():
            kept = tuple([link for link in group if not link.segment.sides & area])
            if kept:
                links[walls] = kept
                for link in kept:
                    free |= link.segment.bit
        return Position(links, self.open & ~area, free)

    def _join(self, walls: Walls, drawn: Link) -> Position:
        kept, gone = walls
        links: dict[Walls, tuple[Link, ...]] = {}
        for (a, b), group in self.links.items():
            if gone not in (a, b):
                key, moved = (a, b), group
            elif a == b:
                key, moved = (kept, kept), group
            else:
                other = b if a == gone else a
                key = (kept, other) if kept < other else (other, kept)
                moved = tuple(
                    [
                        Link(part, way ^ drawn.way)
                        for part, way in group
                        if part is not drawn.segment
                    ]
                )
            if moved:
                links[key] = links[key] + moved if key in links else moved
        return Position(links, self.open, self.free ^ drawn.segment.bit)

    def choices(self) -> list[Choice]:
        """Value all legal moves."""
        captures = [
            (walls, link) for walls, group in self.links.items() if _scores(walls) for link in group
        ]
        outermost = _outermost([link.way & self.open for _, link in captures])
        choices = [self._capturing(walls, link, outermost) for walls, link in captures]
        there = max([area.bit_count() for area in outermost], default=0)
        for walls, group in self.links.items():
            if not _scores(walls):
                choices += self._quiet(walls, group, there)
        return choices

    def _capturing(self, walls: Walls, link: Link, outermost: list[int]) -> Choice:
        area = link.way & self.open
        points = area.bit_count()
        left = max([(other & ~area).bit_count() for other in outermost])
        return Choice(points - left, points, link, walls)

    def _quiet(self, walls: Walls, group: tuple[Link, ...], there: int) -> list[Choice]:
        """Value the links of a group: the most that is left is there already, or up to one end.

        The links of a group lie side by side, so the one furthest from any of them is one of the
        two at the ends, and is the furthest from anywhere.
        """
        ways = [link.way & self.open for link in group]
        first = _furthest(ways, ways[0])
        last = _furthest(ways, first)
        return [
            Choice(-max(there, (way ^ first).bit_count(), (way ^ last).bit_count()), 0, link, walls)
            for way, link in zip(ways, group, strict=True)
        ]


def _scores(walls: Walls) -> bool:
    return walls[0] == walls[1]


def _furthest(ways: list[int], start: int) -> int:
    return max(ways, key=lambda way: (way ^ start).bit_count())


def _outermost(areas: list[int]) -> list[int]:
    """Keep the areas that lie in no other one; any two are apart or one within the other."""
    outermost: list[int] = []
    for area in sorted(areas, key=int.bit_count, reverse=True):
        if not any(area & other for other in outermost):
            outermost.append(area)
    return outermost


@cache
def segments(size: int) -> tuple[Segment, ...]:
    """Return all segments of a board of size x size squares."""
    return tuple(_segment(size, number, move) for number, move in enumerate(all_segments(size)))


def _segment(size: int, number: int, move: Move) -> Segment:
    x = move.x + (move.border == "right")
    y = move.y + (move.border == "bottom")
    point = y * (size + 1) + x
    horizontal = move.border in ("top", "bottom")
    return Segment(
        move=move,
        bit=1 << number,
        ends=(point, point + 1 if horizontal else point + size + 1),
        sides=_squares(size, [move, move.from_across()]),
        right=0 if horizontal else _squares(size, [Move(i, y, "left") for i in range(x, size)]),
    )


def _squares(size: int, moves: list[Move]) -> int:
    return sum(1 << move.y * size + move.x for move in moves if move.is_on(size))


def _roots(size: int, drawn: list[Segment]) -> dict[int, tuple[int, int]]:
    """Return for each grid point the root of its wall and the XOR of the way there."""
    beside: dict[int, list[tuple[int, int]]] = {}
    for segment in drawn:
        a, b = segment.ends
        beside.setdefault(a, []).append((b, segment.right))
        beside.setdefault(b, []).append((a, segment.right))
    roots: dict[int, tuple[int, int]] = {}
    for root in range((size + 1) ** 2):
        if root not in roots:
            roots[root] = (root, 0)
            found = [root]
            while found:
                point = found.pop()
                for end, right in beside.get(point, ()):
                    if end not in roots:
                        roots[end] = (root, roots[point][1] ^ right)
                        found.append(end)
    return roots
