"""Tron: everybody rides on and leaves a wall behind; whoever rides longest wins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Annotated, Final, Literal

from msgspec import Meta

from cw.author import Fault, Json, Outcome, OutOfTurn, Player, refuse_unknown_options, whole_number

Way = Literal["up", "down", "left", "right"]
WAYS: Final[Mapping[Way, tuple[int, int]]] = {
    "up": (-1, 0),
    "down": (1, 0),
    "left": (0, -1),
    "right": (0, 1),
}
Place = Annotated[int, Meta(ge=0, le=30)]
Square = tuple[Place, Place]
"""Row and column."""


@dataclass(frozen=True)
class Turn:
    """An action: the direction in which a player rides on."""

    way: Way


@dataclass(frozen=True)
class Rider:
    """A player: the squares of its wall, the last of which is where it is."""

    wall: Annotated[tuple[Square, ...], Meta(min_length=1)]
    rides: bool = True


@dataclass(frozen=True)
class State:
    """The board, and the players in seat order."""

    size: Annotated[int, Meta(ge=5, le=31)]
    riders: Annotated[tuple[Rider, ...], Meta(min_length=2, max_length=4)]


class Tron:
    """Two to four players, who all move at once."""

    name = "tron"
    seats = range(2, 5)

    def new(self, players: Json, seed: int, /, **options: Json) -> State:
        """Return players on different squares; option `size` (15) is the squares of a side."""
        refuse_unknown_options(options, ("size",))
        number = whole_number("players", players, self.seats.start, self.seats.stop - 1)
        size = whole_number("size", options.get("size", 15), 5, 31)
        squares = [(row, column) for row in range(size) for column in range(size)]
        starts = Random(seed).sample(squares, number)
        return State(size, tuple(Rider((square,)) for square in starts))

    def players(self, state: State) -> tuple[Player, ...]:
        """Return the numbers of the seats."""
        return tuple(range(len(state.riders)))

    def to_move(self, state: State) -> tuple[Player, ...]:
        """Return all who still ride; () when the match is over."""
        if self.outcome(state):
            return ()
        return tuple(seat for seat, rider in enumerate(state.riders) if rider.rides)

    def check(self, state: State, player: Player, action: Turn) -> None:
        """Raise IllegalAction for somebody who is out; riding into a wall is legal."""
        if player not in self.to_move(state):
            raise OutOfTurn(f"player {player} does not ride any more")

    def step(self, state: State, actions: Mapping[Player, Turn | Fault]) -> State:
        """Return the state after all have ridden on at once; a fault is a crash."""
        riding = self.to_move(state)
        targets = {
            seat: next_square(state, int(seat), action.way)
            for seat, action in actions.items()
            if seat in riding and isinstance(action, Turn)
        }
        walls = {square for rider in state.riders for square in rider.wall}
        riders = list(state.riders)
        for seat in self.players(state):
            square = targets.get(seat)
            if square and square not in walls and list(targets.values()).count(square) == 1:
                riders[int(seat)] = Rider((*riders[int(seat)].wall, square))
            elif seat in targets or isinstance(actions.get(seat), Fault):
                riders[int(seat)] = replace(riders[int(seat)], rides=False)
        return replace(state, riders=tuple(riders))

    def observe(self, state: State, player: Player | None) -> State:
        """Return the state: nothing is hidden."""
        return state

    def outcome(self, state: State) -> Outcome | None:
        """Return the ranking, once at most one player rides: the longest wall comes first."""
        riding = [seat for seat, rider in enumerate(state.riders) if rider.rides]
        if len(riding) > 1:
            return None
        marks = [(rider.rides, len(rider.wall)) for rider in state.riders]
        ranks: dict[Player, int] = {
            seat: 1 + sum(other > mark for other in marks) for seat, mark in enumerate(marks)
        }
        lengths: dict[Player, float] = dict(enumerate(length for _, length in marks))
        first = [seat for seat, rank in ranks.items() if rank == 1]
        if len(first) == 1:
            return Outcome("others_crashed", first[0], lengths, ranks)
        return Outcome("all_crashed", None, lengths, ranks)

    def sample(self, state: State, player: Player, rng: Random) -> Turn:
        """Return a random direction, one that leads to a free square if there is one."""
        return Turn(rng.choice(free_ways(state, int(player)) or list(WAYS)))


def next_square(state: State, seat: int, way: Way) -> Square | None:
    """Return the next square in a direction, None beyond the edge."""
    (row, column), (down, right) = state.riders[seat].wall[-1], WAYS[way]
    row, column = row + down, column + right
    return (row, column) if 0 <= row < state.size and 0 <= column < state.size else None


def free_ways(state: State, seat: int) -> list[Way]:
    """Return the directions that do not lead into a wall or over the edge."""
    walls = {square for rider in state.riders for square in rider.wall} | {None}
    return [way for way in WAYS if next_square(state, seat, way) not in walls]
