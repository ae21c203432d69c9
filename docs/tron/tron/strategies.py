"""The built-in players of Tron, the weakest first."""

from __future__ import annotations

from random import Random

from cw.author import Player
from tron.rules import State, Tron, Turn, free_ways, next_square


class RandomRider:
    """Rides anywhere but into a wall that it sees."""

    def __init__(self, player: Player, rng: Random) -> None:
        """Draw from `rng`."""
        self.seat, self.rng = int(player), rng

    def act(self, view: State) -> Turn:
        """Return a random direction."""
        return Tron().sample(view, self.seat, self.rng)


class Roomy(RandomRider):
    """Rides where the most squares can be reached."""

    def act(self, view: State) -> Turn:
        """Return the direction with the most room behind it."""
        ways = free_ways(view, self.seat)
        self.rng.shuffle(ways)
        if not ways:
            return super().act(view)
        return Turn(max(ways, key=lambda way: room(view, next_square(view, self.seat, way))))


def room(view: State, start: tuple[int, int] | None) -> int:
    """Return how many squares can be reached from a free one."""
    free = {(row, column) for row in range(view.size) for column in range(view.size)}
    free -= {square for rider in view.riders for square in rider.wall}
    reached, waiting = 0, [start]
    while waiting:
        square = waiting.pop()
        if square is not None and square in free:
            free.remove(square)
            reached += 1
            row, column = square
            waiting += [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
    return reached


STRATEGIES = {"random": RandomRider, "roomy": Roomy}
