"""States and actions of Hexagon as JSON (document, "JSON of a state and of actions")."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final, Literal, cast

from cw.errors import ProtocolError, UsageError, short
from cw.games.codec import actions_by_player, is_fault, plain_result, player_named
from cw.games.hexagon.boards import check_cells
from cw.games.hexagon.grid import LARGEST, SMALLEST
from cw.games.hexagon.rules import Hexagon
from cw.games.hexagon.state import DecidingFault, Move, State, is_cell
from cw.games.rules import FAULT_KINDS, Fault, Json, Player

KEYS: Final = ("size", "cells", "jumps", "placed", "color", "ended", "winner")


class HexagonCodec:
    """Writes and reads the documents of Hexagon."""

    def __init__(self, rules: Hexagon) -> None:
        """Speak of battles by these rules."""
        self.rules = rules

    def state_to_json(self, state: State) -> dict[str, Json]:
        """Return the state as a document."""
        return {
            "size": state.size,
            "cells": [list(row) for row in state.cells],
            "jumps": pair_document(state.jumps),
            "placed": pair_document(state.placed),
            "color": state.color,
            "ended": state.ended,
            "winner": state.winner,
            "fault": None if state.fault is None else state.fault._asdict(),
        }

    def state_from_json(self, document: Json, **options: Json) -> State:
        """Read a state; options have no effect."""
        return read_state(document)

    def view_to_json(self, view: State) -> dict[str, Json]:
        """Return the document of the state."""
        return self.state_to_json(view)

    def player_from_json(self, state: State, name: Json) -> Player:
        """Read colour 1 or 2, as a number or as text."""
        return player_named(self.rules.players(state), name)

    def action_to_json(self, action: Move) -> dict[str, Json]:
        """Return the document of a move."""
        return move_document(action)

    def actions_from_json(
        self, state: State, document: Mapping[str, Json]
    ) -> dict[Player, Move | Fault]:
        """Read the actions of a turn; what cannot be read as a move is the fault `malformed`.

        Raises ProtocolError for a move by a colour that is not to move or after the end, for
        anything after a fault, for no action at all, and for an unknown colour or kind of fault.
        """
        if not document:
            raise ProtocolError("no action at all: one of the colour to move is needed")
        if state.ended == "fault":
            raise ProtocolError("the battle has ended by a fault: nothing can follow")
        return actions_by_player(self.rules.players(state), document, partial(read_action, state))

    def result_to_json(self, state: State) -> dict[str, Json]:
        """Return the outcome and the cells that the last move altered, as bots are told them."""
        changes = [list(change) for change in state.changes]
        return plain_result(self.rules.outcome(state)) | {"changes": changes}


def pair_document(pair: tuple[int, int]) -> dict[str, int]:
    """Return two numbers by colour."""
    return {"1": pair[0], "2": pair[1]}


def read_state(document: Json) -> State:
    """Read a state; raise ProtocolError that names the place of what is wrong."""
    if not isinstance(document, dict):
        raise ProtocolError(f"a state must be an object, got {short(document)}")
    for key in KEYS:
        if key not in document:
            raise ProtocolError(f"the state has no {short(key)}")
    size = document["size"]
    if type(size) is not int or not SMALLEST <= size <= LARGEST:
        raise ProtocolError(
            f"size must be a whole number from {SMALLEST} to {LARGEST}, got {short(size)}"
        )
    try:
        check_cells(document["cells"], size)
    except UsageError as error:
        raise ProtocolError(str(error)) from None
    jumps, placed = (read_pair(key, document[key]) for key in ("jumps", "placed"))
    for color in (0, 1):
        if not 0 <= jumps[color] <= placed[color] // 2:
            raise ProtocolError(
                f"jumps of colour {color + 1} must be from 0 to {placed[color] // 2},"
                f" half of placed, got {jumps[color]}"
            )
    return State(
        size=size,
        cells=tuple(map(tuple, document["cells"])),
        jumps=jumps,
        placed=placed,
        color=one_of("color", document["color"], (1, 2, None)),
        ended=read_ended(document),
        winner=one_of("winner", document["winner"], (1, 2, None)),
        fault=read_fault(document),
    )


def one_of(name: str, value: Json, allowed: tuple[Any, ...]) -> Any:
    """Return a value; raise ProtocolError if it is not among those allowed."""
    if isinstance(value, bool | float) or value not in allowed:
        raise ProtocolError(f"{name} must be one of {allowed}, got {short(value)}")
    return value


def read_ended(document: dict[str, Json]) -> Literal["finished", "fault"] | None:
    """Read how a battle ended; it has a colour to move exactly when it has not."""
    ended = one_of("ended", document["ended"], ("finished", "fault", None))
    if (ended is None) != (document["color"] is not None):
        raise ProtocolError(f"color is {short(document['color'])}, but ended is {short(ended)}")
    return cast(Literal["finished", "fault"] | None, ended)


def read_pair(name: str, value: Json) -> tuple[int, int]:
    """Read two numbers by colour."""
    if isinstance(value, dict) and all(type(value.get(color)) is int for color in ("1", "2")):
        return value["1"], value["2"]
    raise ProtocolError(f'{name} must be {{"1": number, "2": number}}, got {short(value)}')


def read_fault(document: dict[str, Json]) -> DecidingFault | None:
    """Read the fault that ended a battle; it may be missing, but not stand where there is none."""
    value = document.get("fault")
    if value is None:
        return None
    if document["ended"] != "fault":
        raise ProtocolError(f"ended is {short(document['ended'])}, but fault is {short(value)}")
    if not isinstance(value, dict):
        raise ProtocolError(f"fault must be an object or null, got {short(value)}")
    color = one_of("color of the fault", value.get("color"), (1, 2))
    kind = one_of("kind", value.get("kind"), FAULT_KINDS)
    error = value.get("error")
    if not isinstance(error, str):
        raise ProtocolError(f"error of the fault must be text, got {short(error)}")
    return DecidingFault(color, kind, error)


def move_document(move: Move) -> dict[str, Json]:
    """Return the document of a move."""
    return {"move_from": list(move.move_from), "move_to": list(move.move_to)}


def read_action(state: State, color: Player, said: Json) -> Move | Fault:
    """Read the move or the fault of a colour."""
    if is_fault(said):
        return Fault.from_json(said)
    if state.ended:
        raise ProtocolError("the battle has ended: no move can follow")
    if color != state.color:
        raise ProtocolError(f"colour {state.color} is to move, not colour {color}")
    ends: list[Any] = [said.get(key) for key in Move._fields] if isinstance(said, dict) else [None]
    if not all(is_cell(end, list) for end in ends):
        return Fault("malformed", "move_from and move_to must be lists of two integers")
    start, target = map(tuple, ends)
    return Move(start, target)
