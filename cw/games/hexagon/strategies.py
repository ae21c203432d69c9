"""The built-in strategies of Hexagon."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Final

from cw.games.base import Player, StrategyFactory
from cw.games.hexagon.fast_board import Choice, FastBoard
from cw.games.hexagon.rules import legal_moves
from cw.games.hexagon.state import Move, State

ALWAYS: Final = Move((0, 2), (0, 3))
CERTAIN: Final = 1000
"""Added to the lead of a battle that is over: the end counts more than any lead before it."""


class Seated:
    """A strategy in one seat."""

    def __init__(self, player: Player, rng: Random) -> None:
        """Take a seat."""
        self.rng = rng


class Constant(Seated):
    """Always gives the same move, for testing the referee."""

    def act(self, view: State) -> Move:
        """Give it, legal or not."""
        return ALWAYS


class RandomMoves(Seated):
    """Draws any legal move."""

    def act(self, view: State) -> Move:
        """Draw a move, each pair of cells equally likely."""
        return self.rng.choice(legal_moves(view))


class Greedy(Seated):
    """The training bot: a multiplication is worth 1, each captured chip 2."""

    def act(self, view: State) -> Move:
        """Draw one of the moves of the highest value."""
        board = FastBoard.from_state(view)
        choices = board.choices()
        highest = max(choice.value for choice in choices)
        best = [choice for choice in choices if choice.value == highest]
        return board.as_move(self.rng.choice(best))


class Expert(Seated):
    """Looks ahead, deeper and deeper, until its budget of positions is spent."""

    budget: Final = 5000
    deepest: Final = 30

    def act(self, view: State) -> Move:
        """Give the best move of the deepest search that was finished."""
        board = FastBoard.from_state(view)
        best = max(board.choices(), key=lambda choice: choice.value)
        search = Search(self.budget)
        try:
            for depth in range(1, self.deepest):
                best = search.best(board, depth, best)
        except Spent:
            pass
        return board.as_move(best)


class Spent(Exception):
    """The budget is spent."""


class Search:
    """Alpha-beta over whole positions, with a table of what was best in each."""

    def __init__(self, budget: int) -> None:
        """Start knowing nothing; `budget` is the number of positions that may be looked at."""
        self.budget = budget
        self.known: dict[tuple[int, ...], Choice] = {}

    def best(self, board: FastBoard, depth: int, first: Choice) -> Choice:
        """Give the best move at this depth, trying `first` before the others."""
        alpha, best = -2 * CERTAIN, first
        for choice in ordered(board, first):
            value = -self.value(board.move(choice), depth - 1, -2 * CERTAIN, -alpha)
            if value > alpha:
                alpha, best = value, choice
        return best

    def value(self, board: FastBoard, depth: int, alpha: int, beta: int) -> int:
        """Give the lead that the mover can reach in `depth` moves, exact between alpha and beta."""
        self.budget -= 1
        if self.budget < 0:
            raise Spent
        if depth <= 0:
            return board.lead()
        key = board[1:]
        choices = ordered(board, self.known.get(key))
        if not choices:
            return self._passed(board, depth, alpha, beta)
        for choice in choices:
            value = -self.value(board.move(choice), depth - 1, -beta, -alpha)
            if value > alpha:
                alpha = value
                self.known[key] = choice
                if alpha >= beta:
                    break
        return alpha

    def _passed(self, board: FastBoard, depth: int, alpha: int, beta: int) -> int:
        other = board.turned()
        if other.choices():
            return -self.value(other, depth - 1, -beta, -alpha)
        lead = board.lead()
        return lead + (CERTAIN if lead > 0 else -CERTAIN if lead < 0 else 0)


def ordered(board: FastBoard, first: Choice | None) -> list[Choice]:
    """List the moves, the one that was best before first, then by their value."""
    return sorted(board.choices(), key=lambda choice: (choice == first, choice.value), reverse=True)


STRATEGIES: Final[Mapping[str, StrategyFactory[State, Move]]] = {
    "constant": Constant,
    "random": RandomMoves,
    "greedy": Greedy,
    "expert": Expert,
}
"""By name, the weakest first."""
