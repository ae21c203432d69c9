"""The rules of Hexagon, implementing the arena's `Rules` interface: one battle of two colours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from random import Random
from typing import Final

from cw.errors import IllegalAction, OutOfTurn, UsageError, short
from cw.games.hexagon.state import (
    LARGEST,
    SMALLEST,
    STONE,
    Cell,
    Change,
    DecidingFault,
    Grid,
    Move,
    State,
    distance,
    grid,
    is_cell,
)
from cw.games.rules import Fault, Json, Outcome, Player, refuse_unknown_options

OPTIONS: Final = ("size", "stones", "cells")
MOST_DRAWS: Final = 1000
"""The maximum number of random boards to try for a playable one."""


def start(players: Json, seed: int, options: Mapping[str, Json]) -> State:
    """Return the start of a battle; raise UsageError if an option is unknown or invalid."""
    if players != 2 or isinstance(players, bool):
        raise UsageError(f"Hexagon is for 2 players, got {short(players)}")
    refuse_unknown_options(options, OPTIONS)
    if "cells" in options:
        if len(options) > 1:
            raise UsageError("cells excludes size, stones and seed")
        return from_cells(options["cells"])
    size = number("size", options.get("size", 5), SMALLEST, LARGEST, "")
    empty = 3 * size * (size - 1) - 5
    stones = options.get("stones", usual_stones(empty))
    number("stones", stones, 0, empty // 3, f" for size {size}")
    if type(seed) is not int or seed < 0:
        raise UsageError(f"seed must be a whole number of 0 or more, got {short(seed)}")
    return place_stones(size, stones, Random(seed))


def number(name: str, value: Json, low: int, high: int, why: str) -> int:
    """Return the value if it is a whole number from low to high, otherwise raise UsageError."""
    if type(value) is int and low <= value <= high:
        return value
    raise UsageError(f"{name} must be a whole number from {low} to {high}{why}, got {short(value)}")


def usual_stones(empty: int) -> int:
    """Return the default number of stones: a tenth of `empty`, rounded down, then up to even."""
    return empty // 10 + empty // 10 % 2


def place_stones(size: int, stones: int, rng: Random) -> State:
    """Return the start on a random playable board; raise UsageError if none is found."""
    layout = grid(size)
    corners = {cell for cell, _ in layout.corners}
    empty = [cell for cell in layout.cells if cell not in corners]
    for _ in range(MOST_DRAWS):
        drawn = rng.sample(empty, stones)
        if is_playable(layout, drawn):
            return State(size, board(layout, drawn), (1, 1), (3, 3), 1, None, None)
    raise UsageError(
        f"no playable board of size {size} with {stones} stones in {MOST_DRAWS} draws:"
        " ask for fewer stones"
    )


def is_playable(layout: Grid, stones: Iterable[Cell]) -> bool:
    """Return whether the cells without a stone are connected."""
    unreached = set(layout.cells) - set(stones)
    queue = [unreached.pop()]
    while queue:
        near = unreached.intersection(layout.near[queue.pop()])
        unreached -= near
        queue += near
    return not unreached


def board(layout: Grid, stones: Iterable[Cell]) -> tuple[tuple[int, ...], ...]:
    """Return the cells of a start board as rows."""
    cells = [[STONE] * layout.side for _ in range(layout.side)]
    for row, col in layout.cells:
        cells[row][col] = 0
    for (row, col), color in layout.corners:
        cells[row][col] = color
    for row, col in stones:
        cells[row][col] = STONE
    return tuple(map(tuple, cells))


def from_cells(cells: Json) -> State:
    """Return the start on an explicit board; raise UsageError if `cells` is not a board.

    All chips count as placed, and no jump as spent.
    """
    side = len(cells) if isinstance(cells, list) else 0
    if side not in range(3, 2 * LARGEST, 2):
        raise UsageError(
            f"cells must be a list of rows, an odd number from 3 to {2 * LARGEST - 1},"
            f" got {described(cells, 'rows')}"
        )
    check_cells(cells, (side + 1) // 2)
    rows = tuple(map(tuple, cells))
    chips = tuple(sum(row.count(color) for row in rows) for color in (1, 2))
    if not all(chips):
        raise UsageError("cells must hold at least one chip of each colour")
    first, second = chips
    return State((side + 1) // 2, rows, (first // 2, second // 2), (first, second), 1, None, None)


def described(value: Json, items: str) -> str:
    """Return the length of a list for an error message, or the value if it is not a list."""
    return f"{len(value)} {items}" if isinstance(value, list) else short(value)


def check_cells(cells: Json, size: int) -> None:
    """Raise UsageError unless `cells` is a board of this size, with -1 in all padding."""
    side = 2 * size - 1
    expected = f"cells must be {side} rows of {side} for size {size}"
    if not isinstance(cells, list) or len(cells) != side:
        raise UsageError(f"{expected}, got {described(cells, 'rows')}")
    for i, row in enumerate(cells):
        if not isinstance(row, list) or len(row) != side:
            raise UsageError(f"{expected}, got {described(row, 'values')} in row {i}")
    inside = set(grid(size).cells)
    for i, row in enumerate(cells):
        for j, value in enumerate(row):
            if type(value) is not int or not -1 <= value <= 2:
                raise UsageError(f"cells[{i}][{j}] must be -1, 0, 1 or 2, got {short(value)}")
            if (i, j) not in inside and value != STONE:
                raise UsageError(
                    f"cells[{i}][{j}] lies outside the hexagon and must be -1, got {value}"
                )


class Hexagon:
    """Two colours, one move a turn; a colour that cannot move passes."""

    name = "hexagon"
    seats = range(2, 3)

    def new(self, players: Json, seed: int, /, **options: Json) -> State:
        """Return the start of a battle; the options are `size` and `stones`, or `cells` alone."""
        return passed(start(players, seed, options), 1)

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
        """Apply the move of the colour to move, then a fault; at most one fault counts.

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
    """Return the changes of a move: the cell that a jump leaves, the target, then the captures."""
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
