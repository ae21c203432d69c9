"""The built-in strategies of Circuit Wars, each a step up from the one before."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from random import Random
from typing import Final

from cw.games.circuit_wars import board
from cw.games.circuit_wars.components import Choice, Position
from cw.games.circuit_wars.rules import Action, State
from cw.games.circuit_wars.search import WideningSolver, gains
from cw.games.circuit_wars.segments import ACROSS, Move, parse_move
from cw.games.rules import Player, StrategyFactory


class Chooser(ABC):
    """A strategy that looks at the position only, and breaks ties by chance."""

    def __init__(self, player: Player, rng: Random) -> None:
        """Take a seat."""
        self.rng = rng

    def act(self, view: State) -> Action:
        """Name the segment that is chosen."""
        return str(self.choose(Position.from_squares(view.board)).link.segment.move)

    @abstractmethod
    def choose(self, position: Position) -> Choice:
        """Choose a move in a position that is not over."""

    def any_best(self, valued: Iterable[tuple[int, Choice]]) -> Choice:
        """Draw one of the choices that have the highest value."""
        valued = list(valued)
        highest = max(value for value, _ in valued)
        return self.rng.choice([choice for value, choice in valued if value == highest])


class RandomMoves(Chooser):
    """Draws any free segment."""

    def choose(self, position: Position) -> Choice:
        """Draw any choice."""
        return self.rng.choice(position.choices())


class Mirror:
    """Answers each segment with its image through the centre of the board.

    As player 2 on an empty board it cannot lose; where there is no image to draw, any segment does.
    """

    def __init__(self, player: Player, rng: Random) -> None:
        """Take a seat."""
        self.rng = rng

    def act(self, view: State) -> Action:
        """Name the image of the last move if it is free."""
        if view.last_move:
            image = opposite(parse_move(view.last_move), view.size)
            if board.is_free(view.board, image):
                return str(image)
        return str(self.rng.choice(board.free_moves(view.board)))


class Greedy(Chooser):
    """Captures the largest area that it can, else draws any segment."""

    def choose(self, position: Position) -> Choice:
        """Choose by the points of the move."""
        return self.any_best((choice.points, choice) for choice in position.choices())


class Safe(Chooser):
    """Weighs what a move captures against the most that it leaves to be captured."""

    def choose(self, position: Position) -> Choice:
        """Choose by the value of the move."""
        return self.any_best((choice.value, choice) for choice in position.choices())


class Search(Chooser):
    """Weighs its few safest moves by the best answers, and those by what is left after them."""

    width: Final = 8
    depth: Final = 2

    def choose(self, position: Position) -> Choice:
        """Choose by what can be gained two moves ahead."""
        return self.any_best(gains(position, self.width, self.depth))


class Expert(Search):
    """Plays like search until few safe moves are left, and then thinks to the end of the game."""

    few: Final = 24
    budget: Final = 80_000

    def __init__(self, player: Player, rng: Random) -> None:
        """Take a seat, with nothing solved yet."""
        super().__init__(player, rng)
        self.solver = WideningSolver()

    def choose(self, position: Position) -> Choice:
        """Choose by the end of the game where it can be seen."""
        if sum(map(position.is_safe, position.choices())) <= self.few:
            solved = self.solver.best(position, self.budget)
            if solved is not None:
                return solved
        return super().choose(position)


def opposite(move: Move, size: int) -> Move:
    """Return the image of a segment through the centre of the board."""
    return Move(size - 1 - move.x, size - 1 - move.y, ACROSS[move.border][2])


STRATEGIES: Final[Mapping[str, StrategyFactory[State, Action]]] = {
    "random": RandomMoves,
    "mirror": Mirror,
    "greedy": Greedy,
    "safe": Safe,
    "search": Search,
    "expert": Expert,
}
