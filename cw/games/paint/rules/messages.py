"""The JSON messages between referee and bots (rule book, "On the wire")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from cw.games.paint.rules.state import ACTIONS, Action, State
from cw.games.rules import Json

NUMBERS: Final = (int, float)
"""The types of JSON numbers; `true` is not one."""

BY_ANSWER: Final[Mapping[tuple[object, ...], Action]] = {
    (action.type, *action.direction): action for action in ACTIONS
}
"""All actions by the contents of an answer; 1.0 matches 1."""


def judge(document: Json) -> Action | None:
    """Return the action of an answer, or None for any other JSON value."""
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
    """Return the document of an action."""
    return {"type": action.type, "direction": list(action.direction)}


def state_message(state: State, history: int | None = None) -> dict[str, Json]:
    """Return the message of a state, with the history of the latest `history` turns or all."""
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
