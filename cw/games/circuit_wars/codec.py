"""The JSON format of Circuit Wars; a state's members are the fields of State."""

from __future__ import annotations

from typing import Any

from cw.errors import ProtocolError, UsageError, short
from cw.games.circuit_wars import board
from cw.games.circuit_wars.board import ACROSS, BORDERS
from cw.games.circuit_wars.rules import Action, CircuitWars, State
from cw.games.codec import DefaultCodec
from cw.games.rules import Json


class CircuitWarsCodec(DefaultCodec[State, Action, State]):
    """Converts Circuit Wars states and moves to and from JSON; a move is the text that was sent."""

    def __init__(self, rules: CircuitWars) -> None:
        """Initialize the codec with the rules that states are checked against."""
        super().__init__(rules, State, str)

    def state_from_json(self, document: Json, /, **options: Json) -> State:
        """Read a state; raise ProtocolError if the rules could not have produced it."""
        state = super().state_from_json(document)
        check_state(state)
        return state


def check_state(state: State) -> None:
    """Raise ProtocolError unless the board, the scores and the end are consistent."""
    try:
        board.check_size(state.size)
    except UsageError as error:
        raise ProtocolError(str(error)) from None
    check_squares(state)
    if state.scores != board.scores(state.board):
        raise _contradiction("scores", state.scores, f"the board says {board.scores(state.board)}")
    if state.player not in (1, 2):
        raise _contradiction("player", state.player, "it must be 1 or 2")
    if (state.ended is None) != (state.winner is None) or state.winner not in (None, 1, 2):
        raise _contradiction("winner", state.winner, f"with ended {short(state.ended)}")
    if (state.ended == "finished") != (sum(state.scores) == state.size**2):
        raise _contradiction("ended", state.ended, f"{sum(state.scores)} squares are owned")


def check_squares(state: State) -> None:
    """Raise ProtocolError unless the board is square and adjacent squares agree on each segment."""
    size = state.size
    if len(state.board) != size or any(len(row) != size for row in state.board):
        raise _contradiction("board", f"of {len(state.board)} rows", f"expected {size} x {size}")
    for y, row in enumerate(state.board):
        for x, square in enumerate(row):
            if not 0 <= square < 48:
                raise _contradiction(f"board[{y}][{x}]", square, "it must be from 0 to 47")
            for name, (dx, dy, across) in ACROSS.items():
                if 0 <= x + dx < size and 0 <= y + dy < size:
                    other = state.board[y + dy][x + dx]
                    if bool(square & BORDERS[name]) != bool(other & BORDERS[across]):
                        raise _contradiction(
                            f"board[{y}][{x}]",
                            square,
                            f"its {name} differs from [{y + dy}][{x + dx}]",
                        )


def _contradiction(place: str, value: Any, why: str) -> ProtocolError:
    return ProtocolError(
        f"this is not a valid state of circuit-wars: {place} is {short(value)}, but {why}"
    )
