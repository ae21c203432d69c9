"""The rules of Circuit Wars written down plainly, to hold the engine against."""

from __future__ import annotations

Cell = tuple[int, int]
Line = frozenset[Cell]
"""A segment as the two squares that it separates; one may lie outside the board."""

BITS = {"top": (1, 0, -1), "right": (2, 1, 0), "bottom": (4, 0, 1), "left": (8, -1, 0)}


class Reference:
    """A board on which areas are found by flooding from the outside, and nothing is clever."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.squares = [(x, y) for y in range(size) for x in range(size)]
        self.drawn: set[Line] = set()
        self.owners: dict[Cell, int] = {}

    def line(self, move: str) -> Line:
        x, y, border = move.split(",")
        _, dx, dy = BITS[border]
        return frozenset({(int(x), int(y)), (int(x) + dx, int(y) + dy)})

    def names(self) -> list[str]:
        """Every name of every segment."""
        return [f"{x},{y},{border}" for x, y in self.squares for border in BITS]

    def is_free(self, line: Line) -> bool:
        return line not in self.drawn and not any(cell in self.owners for cell in line)

    def free(self) -> list[str]:
        """One name of each free segment."""
        names = {self.line(name): name for name in self.names()}
        return [name for line, name in names.items() if self.is_free(line)]

    def draw(self, move: str, player: int) -> None:
        self.drawn.add(self.line(move))
        outside = self.outside()
        for cell in self.squares:
            if cell not in outside:
                self.owners.setdefault(cell, player)

    def outside(self) -> set[Cell]:
        """All cells that the outside can be reached from across undrawn segments."""
        size = self.size
        reached = {(-1, -1)}
        queue = [(-1, -1)]
        while queue:
            x, y = queue.pop()
            for cell in ((x, y - 1), (x + 1, y), (x, y + 1), (x - 1, y)):
                inside = -1 <= cell[0] <= size and -1 <= cell[1] <= size
                if inside and cell not in reached and frozenset({(x, y), cell}) not in self.drawn:
                    reached.add(cell)
                    queue.append(cell)
        return reached

    def board(self) -> list[list[int]]:
        """The squares in the seed's representation."""
        return [[self.square(x, y) for x in range(self.size)] for y in range(self.size)]

    def square(self, x: int, y: int) -> int:
        lines = [(bit, frozenset({(x, y), (x + dx, y + dy)})) for bit, dx, dy in BITS.values()]
        return 16 * self.owners.get((x, y), 0) + sum(b for b, line in lines if line in self.drawn)

    def scores(self) -> tuple[int, int]:
        owners = list(self.owners.values())
        return owners.count(1), owners.count(2)
