"""The JSON format of Hexagon states and actions (rule book, "State and actions as JSON")."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from cw.errors import FaultKind, ProtocolError, UsageError
from cw.games.codec import actions_by_player, from_json, is_fault, plain_result, player_named
from cw.games.hexagon.rules import Hexagon, check_cells
from cw.games.hexagon.state import LARGEST, SMALLEST, DecidingFault, Move, State, is_cell
from cw.games.rules import Fault, Json, Player

Color = Literal[1, 2]
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class HexagonCodec:
    """Converts Hexagon states and moves to and from JSON."""

    def __init__(self, rules: Hexagon) -> None:
        """Initialize the codec with the rules of the game."""
        self.rules = rules

    def state_to_json(self, state: State) -> dict[str, Json]:
        """Return the state as JSON."""
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

    def state_from_json(self, document: Json, /, **options: Json) -> State:
        """Read a state; options have no effect."""
        return read_state(document)

    def view_to_json(self, view: State) -> dict[str, Json]:
        """Return the state as JSON."""
        return self.state_to_json(view)

    def player_from_json(self, state: State, name: Json) -> Player:
        """Read colour 1 or 2, given as a number or text."""
        return player_named(self.rules.players(state), name)

    def action_to_json(self, action: Move) -> dict[str, Json]:
        """Return a move as JSON."""
        return move_document(action)

    def actions_from_json(
        self, state: State, document: Mapping[str, Json]
    ) -> dict[Player, Move | Fault]:
        """Read the actions of a turn; anything that is not a move becomes the fault `malformed`.

        Raises ProtocolError for a move by a colour that is not to move or after the end, for
        anything after a fault, for no action at all, and for an unknown colour or kind of fault.
        """
        if not document:
            raise ProtocolError("no action: the colour to move must act")
        if state.ended == "fault":
            raise ProtocolError("the battle has ended by a fault: nothing can follow")
        return actions_by_player(self.rules.players(state), document, partial(read_action, state))

    def result_to_json(self, state: State) -> dict[str, Json]:
        """Return the outcome and the cells changed by the last move, in the format of the bots."""
        changes = [list(change) for change in state.changes]
        return plain_result(self.rules.outcome(state)) | {"changes": changes}


def pair_document(pair: tuple[int, int]) -> dict[str, int]:
    """Return two numbers by colour as JSON."""
    return {"1": pair[0], "2": pair[1]}


class PairDocument(msgspec.Struct, frozen=True, rename={"one": "1", "two": "2"}):
    """Two numbers by colour."""

    one: Count
    two: Count

    @property
    def pair(self) -> tuple[int, int]:
        """The numbers of colours 1 and 2."""
        return self.one, self.two


class FaultDocument(msgspec.Struct, frozen=True):
    """The fault that ended a battle."""

    color: Color
    kind: FaultKind
    error: str


class StateDocument(msgspec.Struct, frozen=True):
    """A state; the cells are read by `check_cells`."""

    size: Annotated[int, Meta(ge=SMALLEST, le=LARGEST)]
    cells: Any
    jumps: PairDocument
    placed: PairDocument
    color: Color | None
    ended: Literal["finished", "fault"] | None
    winner: Color | None
    fault: FaultDocument | None = None


def read_state(document: Json) -> State:
    """Read a state; raise ProtocolError with the location of an error."""
    payload = from_json("state of hexagon", document, StateDocument)
    try:
        check_cells(payload.cells, payload.size)
    except UsageError as error:
        raise ProtocolError(str(error)) from None
    check_jumps(payload.jumps.pair, payload.placed.pair)
    check_end(payload)
    fault = payload.fault
    return State(
        size=payload.size,
        cells=tuple(map(tuple, payload.cells)),
        jumps=payload.jumps.pair,
        placed=payload.placed.pair,
        color=payload.color,
        ended=payload.ended,
        winner=payload.winner,
        fault=None if fault is None else DecidingFault(fault.color, fault.kind, fault.error),
    )


def check_jumps(jumps: tuple[int, int], placed: tuple[int, int]) -> None:
    """Raise ProtocolError if more jumps are left than were earned (rule 3)."""
    for color in (0, 1):
        if jumps[color] > placed[color] // 2:
            raise ProtocolError(
                f"jumps of colour {color + 1} must be from 0 to {placed[color] // 2},"
                f" half of placed, not {jumps[color]}"
            )


def check_end(document: StateDocument) -> None:
    """Raise ProtocolError if the colour to move, the end and the fault contradict each other.

    A colour must be to move exactly before the end. Only a battle that a fault ended may have a
    fault, but it may be missing.
    """
    if (document.ended is None) != (document.color is not None):
        raise ProtocolError(f"color is {document.color!r}, but ended is {document.ended!r}")
    if document.fault is not None and document.ended != "fault":
        raise ProtocolError(f"ended is {document.ended!r}, but there is a fault")


def move_document(move: Move) -> dict[str, Json]:
    """Return a move as JSON."""
    return {"move_from": list(move.move_from), "move_to": list(move.move_to)}


def read_action(state: State, color: Player, value: Json) -> Move | Fault:
    """Read the move or the fault of a colour."""
    if is_fault(value):
        return Fault.from_json(value)
    if state.ended:
        raise ProtocolError("the battle has ended: no move can follow")
    if color != state.color:
        raise ProtocolError(f"colour {state.color} is to move, not colour {color}")
    ends: list[Any] = (
        [value.get(key) for key in Move._fields] if isinstance(value, dict) else [None]
    )
    if not all(is_cell(end, list) for end in ends):
        return Fault("malformed", "move_from and move_to must be lists of two integers")
    start, target = map(tuple, ends)
    return Move(start, target)
