"""The rules of Hexagon, behind the arena's common interface: one battle of two colours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random

from cw.errors import IllegalAction, OutOfTurn
from cw.games.hexagon.rules import boards
from cw.games.hexagon.rules.grid import distance
from cw.games.hexagon.rules.state import Change, DecidingFault, Move, State, is_cell
from cw.games.rules import Fault, Json, Outcome, Player


class Hexagon:
    """Two colours, one move a turn; a colour that cannot move passes."""

    name = "hexagon"
    seats = range(2, 3)

    def new(self, players: Json, seed: int, /, **options: Json) -> State:
        """Return the start of a battle; options `size`, `stones`, or `cells` alone."""
        return passed(boards.start(players, seed, options), 1)

    def players(self, state: State) -> tuple[int, int]:
        """Return both colours."""
        return (1, 2)

    def to_move(self, state: State) -> tuple[Player, ...]:
        """Return the colour to move, or () when the battle has ended."""
        return () if state.color is None else (state.color,)

    def check(self, state: State, player: Player, action: Move) -> None:
        """Raise IllegalAction unless the move is legal (rules 1 and 3)."""
        if state.color is None:
            raise OutOfTurn("the battle has ended: no move can follow")
        if player != state.color:
            raise OutOfTurn(f"colour {state.color} is to move, not colour {player}")
        start, target = action
        inside = state.grid.near
        if start not in inside or state.at(start) != player:
            raise IllegalAction(f"move_from {list(start)} holds no chip of colour {player}")
        if target not in inside or state.at(target) != 0:
            raise IllegalAction(f"move_to {list(target)} is not an empty cell of the board")
        steps = distance(start, target)
        if steps > 2:
            raise IllegalAction(
                f"{list(start)} and {list(target)} are {steps} steps apart: at most 2 are allowed"
            )
        if steps == 2 and not state.jumps[player - 1]:
            raise IllegalAction(f"colour {player} has no jump left")

    def step(self, state: State, actions: Mapping[Player, Move | Fault]) -> State:
        """Make the move of the colour to move, then apply a fault; at most one fault counts.

        A move of the other colour is its fault `illegal`; a non-move is its fault `malformed`.
        """
        first = state.color or 1
        after = replace(state, changes=())
        for color in (first, 3 - first):
            if color not in actions or after.ended == "fault":
                continue
            action = self._judged(state, color, actions[color])
            if isinstance(action, Fault):
                after = lost(after, color, action)
            else:
                after = moved(after, color, action)
        return after

    def _judged(self, state: State, color: int, action: Move | Fault) -> Move | Fault:
        """Return a legal move or a fault unchanged; for anything else, the fault that it is."""
        if isinstance(action, Fault):
            return action
        if not is_move(action):
            return Fault("malformed", f"an action must be a move or a fault, got {action!r}")
        try:
            self.check(state, color, action)
        except IllegalAction as error:
            return Fault("illegal", str(error))
        return action

    def observe(self, state: State, player: Player | None) -> State:
        """Return the state itself: nothing is hidden."""
        return state

    def outcome(self, state: State) -> Outcome | None:
        """Return the winner, if there is one, and the chips on the board."""
        if state.ended is None:
            return None
        loser_rank = 1 if state.winner is None else 2
        return Outcome(
            reason=state.ended if state.fault is None else state.fault.kind,
            winner=state.winner,
            scores={color: state.chips(color) for color in (1, 2)},
            ranks={color: 1 if color == state.winner else loser_rank for color in (1, 2)},
        )

    def sample(self, state: State, player: Player, rng: Random) -> Move:
        """Return a random legal move, each pair of cells equally likely."""
        return rng.choice(legal_moves(state))


def legal_moves(state: State) -> list[Move]:
    """Return the legal moves of the colour to move."""
    color = state.color
    if color is None:
        return []
    tables = state.grid
    reach = (tables.near, tables.far) if state.jumps[color - 1] else (tables.near,)
    return [
        Move(cell, target)
        for cell in tables.cells
        if state.at(cell) == color
        for around in reach
        for target in around[cell]
        if state.at(target) == 0
    ]


def is_move(action: object) -> bool:
    """Return whether an action is a move from one pair of integers to another."""
    return isinstance(action, Move) and all(is_cell(cell, tuple) for cell in action)


def moved(state: State, color: int, move: Move) -> State:
    """Return the state after a legal move (rules 1 and 2)."""
    changes = tuple(changes_of(state, color, move))
    cells = [list(row) for row in state.cells]
    for row, col, _, new in changes:
        cells[row][col] = new
    jumps, placed = list(state.jumps), list(state.placed)
    count(jumps, placed, color - 1, is_jump=distance(*move) == 2)
    after = replace(
        state,
        cells=tuple(map(tuple, cells)),
        jumps=(jumps[0], jumps[1]),
        placed=(placed[0], placed[1]),
        changes=changes,
    )
    return passed(after, 3 - color)


def changes_of(state: State, color: int, move: Move) -> list[Change]:
    """Return the changes of a move: the cell a jump leaves, the target, the captures in order."""
    (row, col), target = move
    left = [(row, col, color, 0)] if distance(*move) == 2 else []
    captured = [
        (i, j, 3 - color, color)
        for i, j in state.grid.near[target]
        if state.cells[i][j] == 3 - color
    ]
    return [*left, (*target, 0, color), *captured]


def count(jumps: list[int], placed: list[int], index: int, *, is_jump: bool) -> None:
    """Count a move (rule 3): a jump costs one jump, and every second multiplication earns one."""
    if is_jump:
        jumps[index] -= 1
    else:
        placed[index] += 1
        jumps[index] += placed[index] % 2 == 0


def passed(state: State, color: int) -> State:
    """Give the turn to a colour, or to the other if it cannot move; end it if none can (rule 4)."""
    for mover in (color, 3 - color):
        if state.can_move(mover):
            return replace(state, color=mover)
    first, second = state.chips(1), state.chips(2)
    winner = None if first == second else 1 if first > second else 2
    return replace(state, color=None, ended="finished", winner=winner)


def lost(state: State, color: int, fault: Fault) -> State:
    """Return the state in which a colour has lost by a fault; cells and counters stay."""
    error = fault.detail or f"colour {color} made the fault {fault.kind}"
    return replace(
        state,
        color=None,
        ended="fault",
        winner=3 - color,
        fault=DecidingFault(color, fault.kind, error),
    )
