"""Looking ahead: a few moves deep, or to the end of the game along the best few choices."""

from __future__ import annotations

from typing import Final

from cw.games.circuit_wars.components import Choice, Position, Walls

EVERY: Final = 10_000
"""A width that leaves out no choice."""

WIDTHS: Final = (2, 3, 4, 6, 9, EVERY)
"""How many choices are looked at in each position, one attempt after the other."""

ROOT_WIDTH: Final = 8
"""How many choices are looked at, at the least, for the move to be made now."""


class Spent(Exception):
    """The budget is spent before the answer is known."""


def promising(position: Position, width: int) -> list[Choice]:
    """Return at most `width` choices, the highest values first, of the quiet ones one per walls.

    The links between two walls lie side by side, so that drawing one is much like drawing another.
    """
    choices = sorted(position.choices(), key=lambda choice: -choice.value)
    if width == EVERY:
        return choices
    seen: set[Walls] = set()
    kept = []
    for choice in choices:
        if choice.points or choice.walls not in seen:
            kept.append(choice)
            seen.add(choice.walls)
    return kept[:width]


def gains(position: Position, width: int, depth: int) -> list[tuple[int, Choice]]:
    """Value the promising choices by what the mover gains in `depth` moves and the best after."""
    return [
        (choice.points - _gain(position.draw(choice), width, depth - 1), choice)
        for choice in promising(position, width)
    ]


def _gain(position: Position, width: int, depth: int) -> int:
    if depth == 0:
        return max((choice.value for choice in position.choices()), default=0)
    return max((gain for gain, _ in gains(position, width, depth)), default=0)


class Solver:
    """Alpha-beta to the end of the game over the `width` most promising choices.

    With a width of EVERY the values are exact. `budget` is how many more free segments may be
    looked at: a measure of time that is the same on every machine.
    """

    def __init__(self, width: int, budget: int = 0) -> None:
        """Start with an empty table of what is known."""
        self.width = width
        self.budget = budget
        self._bounds: dict[int, tuple[int, int]] = {}

    def best(self, position: Position) -> Choice:
        """Return the choice of the highest value in a position that is not over.

        Raises Spent if the budget does not suffice.
        """
        most = position.open.bit_count()
        choices = promising(position, max(self.width, ROOT_WIDTH))
        top, best = -most - 1, choices[0]
        for choice in choices:
            points = choice.points
            value = points - self.value(position.draw(choice), points - most, points - top)
            if value > top:
                top, best = value, choice
        return best

    def value(self, position: Position, alpha: int, beta: int) -> int:
        """Return the points that the mover will win from here on, less those of the other player.

        The value is exact if it lies between alpha and beta, else it is a bound.
        """
        squares = position.open.bit_count()
        low, high = self._bounds.get(position.free, (-squares, squares))
        if low >= beta or low == high:
            return low
        if high <= alpha:
            return high
        self._spend(position)
        best = -squares
        for choice in promising(position, self.width):
            points, floor = choice.points, max(alpha, best)
            after = self.value(position.draw(choice), points - beta, points - floor)
            best = max(best, points - after)
            if best >= beta:
                break
        self._bounds[position.free] = (
            low if best <= alpha else best,
            high if best >= beta else best,
        )
        return best

    def _spend(self, position: Position) -> None:
        self.budget -= position.free.bit_count()
        if self.budget < 0:
            raise Spent


class WideningSolver:
    """Solvers of growing width that remember, from move to move, what they found out."""

    def __init__(self) -> None:
        """Start knowing nothing."""
        self._solvers = [Solver(width) for width in WIDTHS]

    def best(self, position: Position, budget: int) -> Choice | None:
        """Return the choice of the widest solver that finishes; None if not even the first does."""
        best = None
        for solver in self._solvers:
            solver.budget = budget
            try:
                best = solver.best(position)
            except Spent:
                break
            budget = solver.budget
        return best
