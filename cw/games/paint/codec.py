"""States and actions of Paint as JSON (document, "JSON of a state and of actions")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from cw.errors import ProtocolError, short
from cw.games.codec import actions_by_player, plain_result, player_named
from cw.games.paint.messages import action_document, judge, state_message
from cw.games.paint.player_ids import check_ids
from cw.games.paint.rules import Paint
from cw.games.paint.state import Action, Square, State
from cw.games.rules import Fault, Json, Player

KEYS: Final = ("width", "height", "players", "player_positions", "colors", "turns_left")


class PaintCodec:
    """Writes and reads the documents of Paint."""

    def __init__(self, rules: Paint) -> None:
        """Speak of games by these rules."""
        self.rules = rules

    def state_to_json(self, state: State) -> dict[str, Json]:
        """Return the whole state: the message and the players in seat order."""
        message = state_message(state)
        head = {key: message.pop(key) for key in ("width", "height")}
        return head | {"players": list(state.players)} | message

    def state_from_json(self, document: Json, **options: Json) -> State:
        """Read a state; options have no effect, the state holds all."""
        return read_state(document)

    def view_to_json(self, view: Json) -> Json:
        """Return the message: it is a document already."""
        return view

    def player_from_json(self, state: State, name: Json) -> Player:
        """Read a player id."""
        return player_named(state.players, name)

    def action_to_json(self, action: Action) -> dict[str, Json]:
        """Return the document of an action."""
        return action_document(action)

    def actions_from_json(
        self, state: State, document: Mapping[str, Json]
    ) -> dict[Player, Action | Fault]:
        """Read the actions of a turn; what is no valid action is a fault, never an error.

        Raises ProtocolError for an unknown player, and for a game that is over.
        """
        if state.turns_left == 0:
            raise ProtocolError("the game is over: turns_left is 0")
        return actions_by_player(state.players, document, read_action)

    def result_to_json(self, state: State) -> dict[str, Json]:
        """Return the outcome."""
        return plain_result(self.rules.outcome(state))


def read_action(_player: Player, document: Json) -> Action | Fault:
    """Read an action, or the fault that stands in its place."""
    return judge(document) or Fault("illegal")


def read_state(document: Json) -> State:
    """Read a state; raise ProtocolError that names the place of what is wrong."""
    if not isinstance(document, dict):
        raise ProtocolError(f"a state must be an object, not {short(document)}")
    for key in KEYS:
        if key not in document:
            raise ProtocolError(f"the state has no {short(key)}")
    width = read_number("width", document["width"], 1, 100)
    height = read_number("height", document["height"], 1, 100)
    if width * height < 2:
        raise ProtocolError("a board has at least 2 squares, not 1")
    ids = check_ids(document["players"])
    obstacles = read_obstacles(document.get("obstacles"), width, height)
    state = State(
        width=width,
        height=height,
        players=ids,
        positions=read_positions(document["player_positions"], ids),
        colors=read_colors(document["colors"], ids, width, height),
        obstacles=obstacles,
        turns_left=read_number("turns_left", document["turns_left"], 0, 5000),
        previous=read_turns(document.get("previous_actions", []), ids),
    )
    check_board(state)
    return state


def read_number(name: str, value: Json, low: int, high: int) -> int:
    """Read a whole number."""
    if type(value) is int and low <= value <= high:
        return value
    raise ProtocolError(f"{name} must be a whole number from {low} to {high}, not {short(value)}")


def read_square(place: str, value: Json) -> Square:
    """Read `[row, col]`."""
    if isinstance(value, list) and len(value) == 2 and all(type(part) is int for part in value):
        return value[0], value[1]
    raise ProtocolError(f"{place} must be [row, col], not {short(value)}")


def read_positions(value: Json, ids: Sequence[str]) -> tuple[Square, ...]:
    """Read the avatars' squares in seat order."""
    if not isinstance(value, dict):
        raise ProtocolError(f"player_positions must be an object, not {short(value)}")
    for player in value:
        if player not in ids:
            raise ProtocolError(f"player_positions names {short(player)}, who is no player")
    for player in ids:
        if player not in value:
            raise ProtocolError(f"player {short(player)} has no position")
    return tuple(read_square(f"position of {player}", value[player]) for player in ids)


def read_colors(value: Json, ids: Sequence[str], width: int, height: int) -> tuple[int | None, ...]:
    """Read the owners of all squares in reading order."""
    rows = value if isinstance(value, list) else []
    if len(rows) != height or not all(isinstance(r, list) and len(r) == width for r in rows):
        raise ProtocolError(f"colors must be {height} rows of {width} entries")
    seats: dict[Json, int] = {player: seat for seat, player in enumerate(ids)}
    colors: list[int | None] = []
    for row, line in enumerate(rows):
        for col, owner in enumerate(line):
            if owner is not None and (not isinstance(owner, str) or owner not in seats):
                raise ProtocolError(f"colors[{row}][{col}] is {short(owner)}, who is no player")
            colors.append(None if owner is None else seats[owner])
    return tuple(colors)


def read_obstacles(value: Json, width: int, height: int) -> frozenset[Square]:
    """Read the obstacles; null or absent is none."""
    if value is None:
        return frozenset()
    if not isinstance(value, list):
        raise ProtocolError(f"obstacles must be a list of squares, not {short(value)}")
    squares = [read_square(f"obstacles[{n}]", square) for n, square in enumerate(value)]
    for number, (row, col) in enumerate(squares):
        if not (0 <= row < height and 0 <= col < width):
            raise ProtocolError(f"obstacle [{row},{col}] is off the board ({width} x {height})")
        if (row, col) in squares[:number]:
            raise ProtocolError(f"obstacle [{row},{col}] is listed twice")
    return frozenset(squares)


def read_turns(value: Json, ids: Sequence[str]) -> tuple[tuple[Action | None, ...], ...]:
    """Read the actions of earlier turns."""
    if not isinstance(value, list) or not all(isinstance(turn, dict) for turn in value):
        raise ProtocolError("previous_actions must be a list of objects")
    return tuple(tuple(judge(turn.get(player)) for player in ids) for turn in value)


def check_board(state: State) -> None:
    """Raise ProtocolError unless avatars and paint stand where they may."""
    size = f"{state.width} x {state.height}"
    holders: dict[Square, str] = {}
    for player, (row, col) in zip(state.players, state.positions, strict=True):
        if not (0 <= row < state.height and 0 <= col < state.width):
            raise ProtocolError(f"avatar of {player} at [{row},{col}] is off the board ({size})")
        if (row, col) in state.obstacles:
            raise ProtocolError(f"avatar of {player} at [{row},{col}] stands on an obstacle")
        if (row, col) in holders:
            raise ProtocolError(f"{holders[row, col]} and {player} both stand on [{row},{col}]")
        holders[row, col] = player
    for row, col in sorted(state.obstacles):
        if state.colors[row * state.width + col] is not None:
            raise ProtocolError(f"obstacle [{row},{col}] is painted")
