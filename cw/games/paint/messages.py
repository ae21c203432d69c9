"""The JSON messages between referee and bots (rule book, "On the wire")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cw.games.paint.state import Action, State
from cw.games.rules import Json


def judge(document: Json) -> Action | None:
    """Return the action of an answer; None for any JSON value that is not a valid action."""
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
    """Return the message of a state, with the history of the latest `turns_shown` turns or all."""
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
    """Return the valid actions of a turn by player id."""
    return {
        player: action_document(action)
        for player, action in zip(players, turn, strict=True)
        if action is not None
    }
