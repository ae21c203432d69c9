"""The built-in strategies of Hexagon."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Final

from cw.games.hexagon.fast_board import FastBoard
from cw.games.hexagon.rules import legal_moves
from cw.games.hexagon.state import Move, State
from cw.games.rules import Player, StrategyFactory

ALWAYS: Final = Move((0, 2), (0, 3))
CERTAIN: Final = 1000
"""Added to the lead of a battle that is over: the end counts more than any lead before it."""

POSITION: Final = 10
"""What a position costs of the budget beside its moves: about as long as that many take."""


class Seated:
    """A strategy in one seat."""

    def __init__(self, player: Player, rng: Random) -> None:
        """Take a seat."""
        self.rng = rng


class Constant(Seated):
    """Always gives the same move, for testing the referee."""

    def act(self, view: State) -> Move:
        """Return it, legal or not."""
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
        gains = {move: board.gain(move) for move in board.moves()}
        highest = max(gains.values())
        best = [move for move, gain in gains.items() if gain == highest]
        return board.as_move(self.rng.choice(best))


class Expert(Seated):
    """Looks ahead, deeper and deeper, until its budget of moves to weigh is spent."""

    budget: Final = 250_000
    deepest: Final = 30

    def act(self, view: State) -> Move:
        """Return the best move of the deepest search that was finished."""
        board = FastBoard.from_state(view)
        best = max(board.moves(), key=board.gain)
        search = Search(self.budget)
        try:
            for depth in range(2, self.deepest):
                best = search.best(board, depth, best)
        except Spent:
            pass
        return board.as_move(best)


class Spent(Exception):
    """The budget is spent."""


class Search:
    """Alpha-beta over whole positions, with a table of what was best in each."""

    def __init__(self, budget: int) -> None:
        """Start knowing nothing; `budget` is the number of moves that may be weighed."""
        self.budget = budget
        self.known: dict[tuple[int, ...], int] = {}

    def best(self, board: FastBoard, depth: int, first: int) -> int:
        """Return the best move at this depth of at least 2, trying `first` before the others."""
        alpha, best = -2 * CERTAIN, first
        for move in ordered(board, self._moves(board), first):
            value = -self.value(board.moved(move), depth - 1, -2 * CERTAIN, -alpha)
            if value > alpha:
                alpha, best = value, move
        return best

    def value(self, board: FastBoard, depth: int, alpha: int, beta: int) -> int:
        """Return the lead that the mover can reach in `depth` moves, exact between alpha and beta.

        The depth is at least 1. A pass is no move. That the last move ends the battle is not seen.
        """
        moves = self._moves(board)
        if not moves:
            return self._passed(board, depth, alpha, beta)
        if depth == 1:
            return board.lead() + max(map(board.gain, moves))
        key = board[1:]
        for move in ordered(board, moves, self.known.get(key)):
            value = -self.value(board.moved(move), depth - 1, -beta, -alpha)
            if value > alpha:
                alpha = value
                self.known[key] = move
                if alpha >= beta:
                    break
        return alpha

    def _passed(self, board: FastBoard, depth: int, alpha: int, beta: int) -> int:
        other = board.turned()
        if other.moves():
            return -self.value(other, depth, -beta, -alpha)
        lead = board.lead()
        return lead + (CERTAIN if lead > 0 else -CERTAIN if lead < 0 else 0)

    def _moves(self, board: FastBoard) -> list[int]:
        moves = board.moves()
        self.budget -= len(moves) + POSITION
        if self.budget < 0:
            raise Spent
        return moves


def ordered(board: FastBoard, moves: list[int], first: int | None) -> list[int]:
    """Sort moves by their gain, but the one that was best before to the front."""
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
"""By name, the weakest first."""
