"""Search a few moves deep, or to the end of the game, over the most promising candidates."""

from __future__ import annotations

from typing import Final

from cw.games.circuit_wars.components import Candidate, Pair, Position

UNLIMITED: Final = 10_000
"""A width that excludes no candidate."""

WIDTHS: Final = (2, 3, 4, 6, 9, UNLIMITED)
"""The widths to try, in order."""

ROOT_WIDTH: Final = 8
"""The minimum number of candidates searched for the move to play now."""


class BudgetExceeded(Exception):
    """The budget is too small to finish a search."""


def promising(position: Position, width: int) -> list[Candidate]:
    """Return up to `width` candidates by decreasing value, or all of them for UNLIMITED.

    Of parallel edges that score nothing only the best is kept: they lie side by side, so drawing
    one leaves much the same position as drawing another.
    """
    candidates = sorted(position.candidates(), key=lambda candidate: -candidate.value)
    if width == UNLIMITED:
        return candidates
    seen: set[Pair] = set()
    best = []
    for candidate in candidates:
        if candidate.points or candidate.pair not in seen:
            best.append(candidate)
            seen.add(candidate.pair)
    return best[:width]


def gains(position: Position, width: int, depth: int) -> list[tuple[int, Candidate]]:
    """Return the promising candidates, each with what the mover gains in `depth` moves.

    A gain is in squares, minus those of the opponent. At the horizon it adds the value of the best
    candidate (one capture and the reply to it) instead of looking further.
    """
    return [
        (candidate.points - _gain(position.draw(candidate), width, depth - 1), candidate)
        for candidate in promising(position, width)
    ]


def _gain(position: Position, width: int, depth: int) -> int:
    if depth == 0:
        return max((candidate.value for candidate in position.candidates()), default=0)
    return max((gain for gain, _ in gains(position, width, depth)), default=0)


class Solver:
    """Alpha-beta search to the end of the game over the `width` most promising candidates.

    With a width of UNLIMITED the values are exact. `budget` limits the total number of free
    segments over all expanded positions, a measure of effort that does not depend on the machine.
    """

    def __init__(self, width: int, budget: int = 0) -> None:
        """Start with an empty transposition table."""
        self.width = width
        self.budget = budget
        # The free segments determine all that can still be won, so they are the key: transposed
        # move orders share an entry, whoever owns the squares. Values are lower and upper bounds.
        self._bounds: dict[int, tuple[int, int]] = {}

    def best(self, position: Position) -> Candidate:
        """Return the candidate with the highest value in a position that is not over.

        Raises BudgetExceeded.
        """
        most = position.unowned.bit_count()
        candidates = promising(position, max(self.width, ROOT_WIDTH))
        top, best = -most - 1, candidates[0]
        for candidate in candidates:
            points = candidate.points
            value = points - self.value(position.draw(candidate), points - most, points - top)
            if value > top:
                top, best = value, candidate
        return best

    def value(self, position: Position, alpha: int, beta: int) -> int:
        """Return the squares that the mover will win from here on, minus those of the opponent.

        The value is exact if it is between alpha and beta; otherwise it is only a bound: an upper
        one at or below alpha, a lower one at or above beta (fail-soft). Raises BudgetExceeded.
        """
        squares = position.unowned.bit_count()
        low, high = self._bounds.get(position.free, (-squares, squares))
        if low >= beta or low == high:
            return low
        if high <= alpha:
            return high
        self._spend(position)
        best = -squares
        for candidate in promising(position, self.width):
            # The opponent moves next: negate the window and shift it by the points just won.
            points, floor = candidate.points, max(alpha, best)
            after = self.value(position.draw(candidate), points - beta, points - floor)
            best = max(best, points - after)
            if best >= beta:
                break
        # A value at or below alpha is only an upper bound, one at or above beta a lower bound.
        self._bounds[position.free] = (
            low if best <= alpha else best,
            high if best >= beta else best,
        )
        return best

    def _spend(self, position: Position) -> None:
        self.budget -= position.free.bit_count()
        if self.budget < 0:
            raise BudgetExceeded


class WideningSolver:
    """Iterative broadening: solvers of growing width that keep their tables between moves.

    A narrow search reaches the end of the game early and always has a move ready; the wider ones
    follow while the budget lasts, and the widest is exact.
    """

    def __init__(self) -> None:
        """Start with empty tables."""
        self._solvers = [Solver(width) for width in WIDTHS]

    def best(self, position: Position, budget: int) -> Candidate | None:
        """Return the choice of the widest solver that finishes, or None if none does."""
        best = None
        for solver in self._solvers:
            solver.budget = budget
            try:
                best = solver.best(position)
            except BudgetExceeded:
                break
            budget = solver.budget
        return best
