"""States and actions of Paint as JSON (document, "JSON of a state and of actions")."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from cw.errors import ProtocolError
from cw.games.paint.state import Action, Square, State
from cw.games.rules import Json

PLAYER_ID: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
KEYS: Final = ("width", "height", "players", "player_positions", "colors", "turns_left")


def judge(document: Json) -> Action | None:
    """Read an action as an answer is judged; None for any JSON value that is no valid one."""
    if not isinstance(document, dict) or "fault" in document:
        return None
    kind, direction = document.get("type"), document.get("direction")
    if kind not in ("walk", "shoot") or not isinstance(direction, list) or len(direction) != 2:
        return None
    if not all(type(part) in (int, float) and part in (-1, 0, 1) for part in direction):
        return None
    down, right = map(int, direction)
    return Action(kind, (down, right)) if (down, right) != (0, 0) else None


def action_document(action: Action) -> dict[str, Json]:
    """Return the document of an action."""
    return {"type": action.type, "direction": list(action.direction)}


def state_message(state: State, turns_shown: int | None = None) -> dict[str, Json]:
    """Return the state as sent to players; `turns_shown` limits the history to the latest turns."""
    width, players = state.width, state.players
    owners = [None if color is None else players[color] for color in state.colors]
    shown = state.previous if turns_shown is None else latest(state.previous, turns_shown)
    message: dict[str, Json] = {
        "width": width,
        "height": state.height,
        "player_positions": {
            player: list(square) for player, square in zip(players, state.positions, strict=True)
        },
        "colors": [owners[row * width : (row + 1) * width] for row in range(state.height)],
        "turns_left": state.turns_left,
        "previous_actions": [turn_document(players, turn) for turn in shown],
    }
    if state.obstacles:
        message["obstacles"] = [list(square) for square in sorted(state.obstacles)]
    return message


def latest(turns: Sequence[Any], number: int) -> Sequence[Any]:
    """Return the last `number` turns."""
    return turns[len(turns) - min(number, len(turns)) :]


def turn_document(players: Sequence[str], turn: Sequence[Action | None]) -> dict[str, Json]:
    """Return the valid actions of a turn by player."""
    return {
        player: action_document(action)
        for player, action in zip(players, turn, strict=True)
        if action is not None
    }


def state_document(state: State) -> dict[str, Json]:
    """Return the whole state: the message and the players in seat order."""
    message = state_message(state)
    head = {key: message.pop(key) for key in ("width", "height")}
    return head | {"players": list(state.players)} | message


def read_state(document: Json) -> State:
    """Read a state; raise ProtocolError that names the place of what is wrong."""
    if not isinstance(document, dict):
        raise ProtocolError(f"a state must be an object, not {document!r}")
    for key in KEYS:
        if key not in document:
            raise ProtocolError(f"the state has no {key!r}")
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
    raise ProtocolError(f"{name} must be a whole number from {low} to {high}, not {value!r}")


def check_ids(players: Json) -> tuple[str, ...]:
    """Return player ids; raise ProtocolError unless they are at least 2, valid and distinct."""
    if not isinstance(players, list | tuple):
        raise ProtocolError(f"players must be a list of ids, not {players!r}")
    if len(players) < 2:
        raise ProtocolError(f"at least 2 players are needed, not {len(players)}")
    for number, player in enumerate(players):
        if not isinstance(player, str) or not PLAYER_ID.fullmatch(player):
            raise ProtocolError(
                f"player id {player!r} must be 1 to 64 letters, digits or the signs _ . -"
            )
        if player in players[:number]:
            raise ProtocolError(f"two players have the id {player!r}")
    return tuple(players)


def read_square(place: str, value: Json) -> Square:
    """Read `[row, col]`."""
    if isinstance(value, list) and len(value) == 2 and all(type(part) is int for part in value):
        return value[0], value[1]
    raise ProtocolError(f"{place} must be [row, col], not {value!r}")


def read_positions(value: Json, ids: Sequence[str]) -> tuple[Square, ...]:
    """Read the avatars' squares in seat order."""
    if not isinstance(value, dict):
        raise ProtocolError(f"player_positions must be an object, not {value!r}")
    for player in value:
        if player not in ids:
            raise ProtocolError(f"player_positions names {player!r}, who is no player")
    for player in ids:
        if player not in value:
            raise ProtocolError(f"player {player!r} has no position")
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
                raise ProtocolError(f"colors[{row}][{col}] is {owner!r}, who is no player")
            colors.append(None if owner is None else seats[owner])
    return tuple(colors)


def read_obstacles(value: Json, width: int, height: int) -> frozenset[Square]:
    """Read the obstacles; null or absent is none."""
    if value is None:
        return frozenset()
    if not isinstance(value, list):
        raise ProtocolError(f"obstacles must be a list of squares, not {value!r}")
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


def read_player(ids: Sequence[str], name: Json) -> str:
    """Read a player id; raise ProtocolError if there is none such."""
    if not isinstance(name, str) or name not in ids:
        raise ProtocolError(f"unknown player {name!r}")
    return name


def read_actions(state: State, document: Mapping[str, Json]) -> dict[str, Action | None]:
    """Read the actions of a turn; an unknown player and a game that is over are errors."""
    if state.turns_left == 0:
        raise ProtocolError("the game is over: turns_left is 0")
    return {read_player(state.players, name): judge(said) for name, said in document.items()}
