"""The built-in strategies of Paint (docs/strategies.md)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Final

from cw.games.paint.codec import read_state
from cw.games.paint.rules import reach, resolve
from cw.games.paint.state import ACTIONS, DIRECTIONS, Action, Direction, Square, State
from cw.games.rules import Fault, Json, Player, StrategyFactory

NO_ACTION: Final[Fault] = Fault("illegal", "stands still")
"""Passes a turn, like every reply that is not a valid action."""


class PaintStrategy:
    """A strategy for one player, which reads the state from the message of a turn."""

    def __init__(self, player: Player, rng: Random) -> None:
        """Initialize the strategy for a player; `rng` makes all random choices."""
        self.player = player
        self.rng = rng

    def read(self, view: Json) -> tuple[State, int]:
        """Return the state in a message, without its history, and this player's number."""
        players = list(view["player_positions"])
        state = read_state(view | {"players": players, "previous_actions": []})
        return state, players.index(self.player)


class RandomActions(PaintStrategy):
    """Plays one of the sixteen actions at random."""

    def act(self, view: Json) -> Action | Fault:
        """Return a random action."""
        return self.rng.choice(ACTIONS)


class Still(PaintStrategy):
    """Never acts."""

    def act(self, view: Json) -> Action | Fault:
        """Return no valid action."""
        return NO_ACTION


class Walker(PaintStrategy):
    """Walks to the nearest square that is not its own."""

    def act(self, view: Json) -> Action | Fault:
        """Return a random one of the walks that start a shortest path."""
        state, me = self.read(view)
        walks = walks_to_paint(state, me)
        return Action("walk", self.rng.choice(walks)) if walks else self.rng.choice(ACTIONS)


class Greedy(PaintStrategy):
    """Takes the action that gives the largest lead if all others stand still."""

    def act(self, view: Json) -> Action | Fault:
        """Return the best action; see best_at_once."""
        state, me = self.read(view)
        return best_at_once(state, me, self.rng)


class Strong(PaintStrategy):
    """Looks two actions ahead, assuming still or greedy opponents."""

    def act(self, view: Json) -> Action | Fault:
        """Return the first action of the best plan, by the sum of its values against both."""
        state, me = self.read(view)
        others = [
            None if player == me else best_at_once(state, player, self.rng)
            for player in range(len(state.players))
        ]
        still: list[Action | None] = [None] * len(state.players)
        values = {
            action: sum(plan_value(state, me, action, moves) for moves in (still, others))
            for action in ACTIONS
        }
        return any_best(values, self.rng)


def any_best(values: Mapping[Action, float | tuple[float, ...]], rng: Random) -> Action:
    """Return a random action among those with the highest value."""
    highest = max(values.values())
    return rng.choice([action for action, value in values.items() if value == highest])


def after(state: State, player: int, action: Action, others: Sequence[Action | None]) -> State:
    """Return the state after a player's action and the others' (its own entry is ignored)."""
    actions = list(others)
    actions[player] = action
    return resolve(state, actions)


def advantage(state: State, player: int) -> int:
    """Return a player's score minus the highest of the others."""
    scores = [state.score(other) for other in range(len(state.players))]
    score = scores.pop(player)
    return score - max(scores)


def best_at_once(state: State, player: int, rng: Random) -> Action:
    """Return the action that gives a player the largest lead if all others stand still.

    On ties, walks on a shortest path to paint come first; remaining ties are broken at random.
    """
    still: list[Action | None] = [None] * len(state.players)
    walks = set(walks_to_paint(state, player))
    values = {
        action: (
            advantage(after(state, player, action, still), player),
            action.type == "walk" and action.direction in walks,
        )
        for action in ACTIONS
    }
    return any_best(values, rng)


def plan_value(state: State, player: int, first: Action, others: Sequence[Action | None]) -> float:
    """Return the value of the best two actions starting with `first`."""
    middle = after(state, player, first, others)
    if middle.turns_left == 0:
        return advantage(middle, player)
    still: list[Action | None] = [None] * len(state.players)
    ends = max(position_value(after(middle, player, second, still), player) for second in ACTIONS)
    return ends + 0.2 * position_value(middle, player)


def position_value(state: State, player: int) -> float:
    """Return the value of a state: the lead, the best shot from here, and the walk to paint."""
    if state.turns_left == 0:
        return advantage(state, player)
    shot = max(shot_gain(state, player, direction) for direction in DIRECTIONS)
    return advantage(state, player) + 0.5 * shot - 0.3 * steps_to_paint(state, player)


def shot_gain(state: State, player: int, direction: Direction) -> int:
    """Return how many squares a player's shot could newly paint, ignoring avatars."""
    row, col = state.positions[player]
    gain = 0
    for _ in range(reach(state, state.colors, (row, col), direction, player)):
        row, col = row + direction[0], col + direction[1]
        if not state.is_free((row, col)):
            break
        gain += state.colors[row * state.width + col] != player
    return gain


def steps_to_paint(state: State, player: int) -> int:
    """Return the number of walks to the nearest square not the player's own; 0 if there is none."""
    return next((steps for steps, _, _ in paths_to_paint(state, player)), 0)


def walks_to_paint(state: State, player: int) -> list[Direction]:
    """Return the first walks of the shortest paths to squares that are not the player's own."""
    nearest: list[Direction] = []
    shortest = None
    for steps, first, _ in paths_to_paint(state, player):
        if shortest is not None and steps > shortest:
            break
        shortest = steps
        if first not in nearest:
            nearest.append(first)
    return nearest


def paths_to_paint(state: State, player: int) -> Iterator[tuple[int, Direction, Square]]:
    """Yield steps, first walk and square for squares not the player's own, nearest first.

    A breadth-first search over squares and first walks together: a square reached by several first
    walks is yielded once for each. Avatars block only the first step.
    """
    start = state.positions[player]
    others = set(state.positions)
    queue: deque[tuple[int, Direction, Square]] = deque()
    seen: dict[tuple[Square, Direction], None] = {}

    def push(steps: int, first: Direction, square: Square) -> None:
        blocked = steps == 1 and square in others
        if state.is_free(square) and not blocked and (square, first) not in seen:
            seen[square, first] = None
            queue.append((steps, first, square))

    for direction in DIRECTIONS:
        push(1, direction, (start[0] + direction[0], start[1] + direction[1]))
    while queue:
        steps, first, (row, col) = queue.popleft()
        if state.colors[row * state.width + col] != player:
            yield steps, first, (row, col)
        for down, right in DIRECTIONS:
            push(steps + 1, first, (row + down, col + right))


Strategies = Mapping[str, StrategyFactory[Json, "Action | Fault"]]
STRATEGIES: Final[Strategies] = {
    "still": Still,
    "random": RandomActions,
    "walker": Walker,
    "greedy": Greedy,
    "strong": Strong,
}
"""The strategies by name, weakest first."""
