"""The rules of Paint, implementing the arena's `Rules` interface."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Final, TypeAlias

from cw.errors import IllegalAction, OutOfTurn
from cw.games.paint import boards
from cw.games.paint.state import ACTIONS, Action, Direction, Square, State
from cw.games.rules import Fault, Json, Outcome, Player

Colors: TypeAlias = list[int | None]
"""The owner of each square in reading order."""


class Shot:
    """A shot in flight: its square, its direction, and how many squares it may still advance."""

    __slots__ = ("col", "down", "player", "remaining", "right", "row")

    def __init__(self, player: int, square: Square, direction: Direction, reach: int) -> None:
        """Start on the shooter's square."""
        self.player = player
        self.row, self.col = square
        self.down, self.right = direction
        self.remaining = reach


def resolve(state: State, actions: Sequence[Action | None]) -> State:
    """Return the state after a turn; `actions` has None for a player without a valid action."""
    positions = walk(state, actions)
    colors: Colors = list(state.colors)
    paint_under_avatars(state.width, colors, positions)
    shots = aim(state, colors, positions, actions)
    if shots:
        fly(state, colors, shots, set(positions))
    # Twice as fast as `replace`, which looks up the fields each time.
    return State(
        state.width,
        state.height,
        state.players,
        tuple(positions),
        tuple(colors),
        state.obstacles,
        state.turns_left - 1,
        (*state.previous, tuple(actions)),
        state.history,
    )


def walk(state: State, actions: Sequence[Action | None]) -> list[Square]:
    """Return the avatars' squares after phase 1 (rules 1 to 3).

    All walk simultaneously, then walkers are sent back until no two avatars share a square.
    """
    targets = list(state.positions)
    for player, action in enumerate(actions):
        if action is not None and action.type == "walk":
            row, col = targets[player]
            down, right = action.direction
            if state.is_free((row + down, col + right)):
                targets[player] = (row + down, col + right)
    # Each pass permanently sends back at least one walker, so there is at most one pass per player.
    while len(set(targets)) < len(targets):
        arrivals = Counter(targets)
        targets = [
            start if arrivals[target] > 1 else target
            for start, target in zip(state.positions, targets, strict=True)
        ]
    return targets


def paint_under_avatars(width: int, colors: Colors, positions: Sequence[Square]) -> None:
    """Apply phase 2 (rule 4) to `colors`: the square under every avatar takes its colour."""
    for player, (row, col) in enumerate(positions):
        colors[row * width + col] = player


def aim(
    state: State, colors: Colors, positions: Sequence[Square], actions: Sequence[Action | None]
) -> list[Shot]:
    """Return the shots of phase 3 (rule 5), their reach computed before any of them advances."""
    return [
        Shot(
            player,
            positions[player],
            action.direction,
            reach(state, colors, positions[player], action.direction, player),
        )
        for player, action in enumerate(actions)
        if action is not None and action.type == "shoot"
    ]


def reach(
    state: State, colors: Sequence[int | None], start: Square, direction: Direction, player: int
) -> int:
    """Return the number of the player's squares in an unbroken line behind it, at least 1."""
    width, height = state.width, state.height
    down, right = direction
    row, col = start[0] - down, start[1] - right
    count = 0
    while 0 <= row < height and 0 <= col < width and colors[row * width + col] == player:
        count += 1
        row, col = row - down, col - right
    return count or 1


def fly(state: State, colors: Colors, shots: list[Shot], painted: set[Square]) -> None:
    """Apply phase 4 (rules 6 to 9) to `colors`: advance all live shots until none is left.

    `painted` holds the squares painted in this turn, from the start including those under avatars,
    so one test stops shots at avatars and at fresh paint.
    """
    while shots:
        # All shots advance before any of them paints: the result must not depend on their order.
        for shot in shots:
            shot.row += shot.down
            shot.col += shot.right
            shot.remaining -= 1
        entering = Counter([(shot.row, shot.col) for shot in shots]) if len(shots) > 1 else None
        live = [
            shot
            for shot in shots
            if (entering is None or entering[shot.row, shot.col] == 1)
            and (shot.row, shot.col) not in painted
            and state.is_free((shot.row, shot.col))
        ]
        for shot in live:
            painted.add((shot.row, shot.col))
            colors[shot.row * state.width + shot.col] = shot.player
        shots = [shot for shot in live if shot.remaining]


NUMBERS: Final = (int, float)
"""The types of JSON numbers; `true` is not one."""

BY_ANSWER: Final[Mapping[tuple[object, ...], Action]] = {
    (action.type, *action.direction): action for action in ACTIONS
}
"""All actions by the contents of a reply; 1.0 matches 1."""


def judge(document: Json) -> Action | None:
    """Return the action in a reply, or None for any other JSON value."""
    if not isinstance(document, dict) or "fault" in document:
        return None
    kind, direction = document.get("type"), document.get("direction")
    if not isinstance(kind, str) or not isinstance(direction, list) or len(direction) != 2:
        return None
    down, right = direction
    if type(down) not in NUMBERS or type(right) not in NUMBERS:
        return None
    return BY_ANSWER.get((kind, down, right))


def action_document(action: Action) -> dict[str, Json]:
    """Return an action as JSON."""
    return {"type": action.type, "direction": list(action.direction)}


def state_message(state: State, history: int | None = None) -> dict[str, Json]:
    """Return the message of a state, with the latest `history` turns, or all of them."""
    width, players = state.width, state.players
    ids: dict[int | None, str] = dict(enumerate(players))
    owners = list(map(ids.get, state.colors))
    turns = state.previous if history is None else latest(state.previous, history)
    message: dict[str, Json] = {
        "width": width,
        "height": state.height,
        "player_positions": {
            player: list(square) for player, square in zip(players, state.positions, strict=True)
        },
        "colors": [owners[row * width : (row + 1) * width] for row in range(state.height)],
        "turns_left": state.turns_left,
        "previous_actions": [turn_document(players, turn) for turn in turns],
    }
    if state.obstacles:
        message["obstacles"] = [list(square) for square in sorted(state.obstacles)]
    return message


def latest(turns: tuple[Any, ...], number: int) -> tuple[Any, ...]:
    """Return the last `number` turns."""
    return turns[len(turns) - min(number, len(turns)) :]


def turn_document(players: Sequence[str], turn: Sequence[Action | None]) -> dict[str, Json]:
    """Return the valid actions of a turn by player id."""
    return {
        player: action_document(action)
        for player, action in zip(players, turn, strict=True)
        if action is not None
    }


class Paint:
    """Two or more avatars paint a board; all act at the same time."""

    name = "paint"
    seats = range(2, 10_001)

    def new(self, players: Json, seed: int, /, **options: Json) -> State:
        """Return the start state; the options are boards.OPTIONS."""
        return boards.new_state(players, seed, options)

    def players(self, state: State) -> tuple[str, ...]:
        """Return all players in seat order."""
        return state.players

    def to_move(self, state: State) -> tuple[Player, ...]:
        """Return all players while turns are left."""
        return state.players if state.turns_left else ()

    def check(self, state: State, player: Player, action: Action) -> None:
        """Raise IllegalAction unless it is one of the sixteen actions and turns are left."""
        if player not in state.players:
            raise IllegalAction(f"there is no player {player!r}")
        if not state.turns_left:
            raise OutOfTurn("the game is over")
        if action not in ACTIONS:
            raise IllegalAction(f"{action!r} is neither a walk nor a shot in one of 8 directions")

    def step(self, state: State, actions: Mapping[Player, Action | Fault]) -> State:
        """Resolve a turn; a player without a valid action stands still."""
        if not state.turns_left:
            return state
        answers = (actions.get(player) for player in state.players)
        return resolve(
            state, [answer if isinstance(answer, Action) else None for answer in answers]
        )

    def observe(self, state: State, player: Player | None) -> Json:
        """Return the state message; a player sees `history` turns, the referee none."""
        return state_message(state, 0 if player is None else state.history)

    def outcome(self, state: State) -> Outcome | None:
        """Return scores and ranks when no turn is left; equal scores share a rank."""
        if state.turns_left:
            return None
        scores: dict[Player, float] = {
            player: state.score(seat) for seat, player in enumerate(state.players)
        }
        ranked = sorted(scores.values(), reverse=True)
        ranks: dict[Player, int] = {
            player: 1 + ranked.index(score) for player, score in scores.items()
        }
        first = [player for player, rank in ranks.items() if rank == 1]
        return Outcome("turns_over", first[0] if len(first) == 1 else None, scores, ranks)

    def sample(self, state: State, player: Player, rng: Random) -> Action:
        """Return a random one of the sixteen actions."""
        return rng.choice(ACTIONS)
