"""The built-in strategies of Circuit Wars, weakest first."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from random import Random
from typing import Final

from cw.games.circuit_wars import board
from cw.games.circuit_wars.board import ACROSS, Move, parse_move
from cw.games.circuit_wars.components import Candidate, Position
from cw.games.circuit_wars.rules import Action, State
from cw.games.circuit_wars.search import WideningSolver, gains
from cw.games.rules import Player, StrategyFactory


class CandidateStrategy(ABC):
    """A strategy that compares the candidates of a position and breaks ties at random."""

    def __init__(self, player: Player, rng: Random) -> None:
        """Initialize the strategy for a seat; `rng` makes all random choices."""
        self.rng = rng

    def act(self, view: State) -> Action:
        """Return the chosen move."""
        return str(self.choose(Position.from_squares(view.board)).edge.segment.move)

    @abstractmethod
    def choose(self, position: Position) -> Candidate:
        """Return the candidate to play, in a position that is not over."""

    def any_best(self, valued: Iterable[tuple[int, Candidate]]) -> Candidate:
        """Return a random candidate among those with the highest value."""
        valued = list(valued)
        highest = max(value for value, _ in valued)
        return self.rng.choice([candidate for value, candidate in valued if value == highest])


class RandomMoves(CandidateStrategy):
    """Plays a random free segment."""

    def choose(self, position: Position) -> Candidate:
        """Return a random candidate."""
        return self.rng.choice(position.candidates())


class Mirror:
    """Answers each move with its image through the centre of the board (rule 7).

    As player 2 on an empty board it cannot lose. Without a last move, or if its image is not free,
    it plays a random free segment.
    """

    def __init__(self, player: Player, rng: Random) -> None:
        """Initialize the strategy for a seat; `rng` makes all random choices."""
        self.rng = rng

    def act(self, view: State) -> Action:
        """Return the image of the last move if it is free, otherwise a random free segment."""
        if view.last_move:
            image = opposite(parse_move(view.last_move), view.size)
            if board.is_free(view.board, image):
                return str(image)
        return str(self.rng.choice(board.free_moves(view.board)))


class Greedy(CandidateStrategy):
    """Captures the largest area that it can; otherwise plays a random free segment."""

    def choose(self, position: Position) -> Candidate:
        """Return a candidate with the most points."""
        return self.any_best((candidate.points, candidate) for candidate in position.candidates())


class Safe(CandidateStrategy):
    """Maximises its capture minus the largest capture that the opponent can make next."""

    def choose(self, position: Position) -> Candidate:
        """Return a candidate with the highest value."""
        return self.any_best((candidate.value, candidate) for candidate in position.candidates())


class Search(CandidateStrategy):
    """Searches two moves ahead, over the most promising candidates."""

    width: Final = 8
    depth: Final = 2

    def choose(self, position: Position) -> Candidate:
        """Return a candidate with the highest gain."""
        return self.any_best(gains(position, self.width, self.depth))


class Expert(Search):
    """Plays like Search until few safe moves are left, then searches to the end of the game."""

    few: Final = 24
    """Number of safe moves at or below which the end of the game is searched."""
    budget: Final = 80_000
    """The budget of the endgame search; see Solver."""

    def __init__(self, player: Player, rng: Random) -> None:
        """Initialize the strategy for a seat, with an empty solver."""
        super().__init__(player, rng)
        self.solver = WideningSolver()

    def choose(self, position: Position) -> Candidate:
        """Return the solver's candidate, or Search's if the solver does not finish."""
        if sum(map(position.is_safe, position.candidates())) <= self.few:
            solved = self.solver.best(position, self.budget)
            if solved is not None:
                return solved
        return super().choose(position)


def opposite(move: Move, size: int) -> Move:
    """Return a segment's image through the centre of the board."""
    return Move(size - 1 - move.x, size - 1 - move.y, ACROSS[move.border][2])


STRATEGIES: Final[Mapping[str, StrategyFactory[State, Action]]] = {
    "random": RandomMoves,
    "mirror": Mirror,
    "greedy": Greedy,
    "safe": Safe,
    "search": Search,
    "expert": Expert,
}
