"""The built-in strategies of Hexagon."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Final

from cw.games.hexagon.fast_board import FastBoard
from cw.games.hexagon.rules import legal_moves
from cw.games.hexagon.state import Move, State
from cw.games.rules import Player, StrategyFactory

CONSTANT_MOVE: Final = Move((0, 2), (0, 3))

WIN: Final = 1000
"""Added to the lead when a battle is over: a win outweighs any lead before the end."""

POSITION_COST: Final = 10
"""The cost of expanding a position, in moves, in addition to its own: it takes about as long."""


class SeededStrategy:
    """A strategy that makes all random choices with one generator."""

    def __init__(self, player: Player, rng: Random) -> None:
        """Initialize the strategy for a seat; `rng` makes all random choices."""
        self.rng = rng


class Constant(SeededStrategy):
    """Always returns the same move, legal or not, for testing the referee."""

    def act(self, view: State) -> Move:
        """Return the constant move."""
        return CONSTANT_MOVE


class RandomMoves(SeededStrategy):
    """Plays a random legal move."""

    def act(self, view: State) -> Move:
        """Return a random move, each legal pair of cells equally likely."""
        return self.rng.choice(legal_moves(view))


class Greedy(SeededStrategy):
    """The training bot: maximises its lead, 1 for a multiplication and 2 for each capture."""

    def act(self, view: State) -> Move:
        """Return a random move among those with the highest gain."""
        board = FastBoard.from_state(view)
        gains = {move: board.gain(move) for move in board.moves()}
        highest = max(gains.values())
        best = [move for move, gain in gains.items() if gain == highest]
        return board.as_move(self.rng.choice(best))


class Expert(SeededStrategy):
    """Searches by iterative deepening until its budget is spent."""

    budget: Final = 250_000
    """The budget of the search; see Search."""
    deepest: Final = 30
    """The depth before which it always stops: near the end the budget is never spent."""

    def act(self, view: State) -> Move:
        """Return the best move of the deepest search that finished."""
        board = FastBoard.from_state(view)
        best = max(board.moves(), key=board.gain)
        search = Search(self.budget)
        try:
            for depth in range(2, self.deepest):
                best = search.best(board, depth, best)
        except BudgetExceeded:
            pass
        return board.as_move(best)


class BudgetExceeded(Exception):
    """The budget is too small to finish a search."""


class Search:
    """Alpha-beta search (negamax) with a table of the best move of each position.

    The table only orders moves: the best move of a shallower search is tried first, which makes
    most of the others fail low immediately. It supplies no values.
    """

    def __init__(self, budget: int) -> None:
        """Initialize the search with an empty table.

        `budget` is the number of moves that may be evaluated, with each position counted as
        POSITION_COST, a measure of effort that does not depend on the machine.
        """
        self.budget = budget
        self.best_moves: dict[tuple[int, ...], int] = {}

    def best(self, board: FastBoard, depth: int, first: int) -> int:
        """Return the best move at a depth of at least 2, trying `first` before the others.

        Raises BudgetExceeded.
        """
        alpha, best = -2 * WIN, first
        for move in ordered(board, self._moves(board), first):
            value = -self.value(board.moved(move), depth - 1, -2 * WIN, -alpha)
            if value > alpha:
                alpha, best = value, move
        return best

    def value(self, board: FastBoard, depth: int, alpha: int, beta: int) -> int:
        """Return the lead in chips that the mover can reach in `depth` moves (at least 1).

        The value is exact between alpha and beta, otherwise only a bound. A pass does not count as
        a move. It does not examine whether the last move ends the battle. Raises BudgetExceeded.
        """
        moves = self._moves(board)
        if not moves:
            return self._passed(board, depth, alpha, beta)
        if depth == 1:
            # The leaves need not be built: a gain is the difference that a move makes.
            return board.lead() + max(map(board.gain, moves))
        key = board[1:]
        for move in ordered(board, moves, self.best_moves.get(key)):
            value = -self.value(board.moved(move), depth - 1, -beta, -alpha)
            if value > alpha:
                alpha = value
                self.best_moves[key] = move
                if alpha >= beta:
                    break
        return alpha

    def _passed(self, board: FastBoard, depth: int, alpha: int, beta: int) -> int:
        other = board.turned()
        if other.moves():
            return -self.value(other, depth, -beta, -alpha)
        lead = board.lead()
        return lead + (WIN if lead > 0 else -WIN if lead < 0 else 0)

    def _moves(self, board: FastBoard) -> list[int]:
        moves = board.moves()
        self.budget -= len(moves) + POSITION_COST
        if self.budget < 0:
            raise BudgetExceeded
        return moves


def ordered(board: FastBoard, moves: list[int], first: int | None) -> list[int]:
    """Return the moves, sorted in place by decreasing gain, with `first` moved to the front."""
    moves.sort(key=board.gain, reverse=True)
    if first is not None:
        moves.remove(first)
        moves.insert(0, first)
    return moves


STRATEGIES: Final[Mapping[str, StrategyFactory[State, Move]]] = {
    "constant": Constant,
    "random": RandomMoves,
    "greedy": Greedy,
    "expert": Expert,
}
"""The strategies by name, weakest first."""
