"""The JSON format of Paint states and actions (rule book, "State and actions as JSON")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from cw.errors import ProtocolError, short
from cw.games.codec import actions_by_player, from_json, plain_result, player_named
from cw.games.paint.rules import Paint, action_document, judge, state_message
from cw.games.paint.state import Action, Square, State, check_ids
from cw.games.rules import Fault, Json, Player

MOST_TURNS: Final = 5000
Side = Annotated[int, Meta(ge=1, le=100)]


class PaintCodec:
    """Converts Paint states and actions to and from JSON."""

    def __init__(self, rules: Paint) -> None:
        """Initialize the codec with the rules of the game."""
        self.rules = rules

    def state_to_json(self, state: State) -> dict[str, Json]:
        """Return the whole state as JSON: the message and the players in seat order."""
        message = state_message(state)
        head = {key: message.pop(key) for key in ("width", "height")}
        return head | {"players": list(state.players)} | message

    def state_from_json(self, document: Json, /, **options: Json) -> State:
        """Read a state; options have no effect, because the state contains everything."""
        return read_state(document)

    def view_to_json(self, view: Json) -> Json:
        """Return the message unchanged: it is already JSON."""
        return view

    def player_from_json(self, state: State, name: Json) -> Player:
        """Read a player id."""
        return player_named(state.players, name)

    def action_to_json(self, action: Action) -> dict[str, Json]:
        """Return an action as JSON."""
        return action_document(action)

    def actions_from_json(
        self, state: State, document: Mapping[str, Json]
    ) -> dict[Player, Action | Fault]:
        """Read the actions of a turn; an invalid action is a fault, never an error.

        Raises ProtocolError for an unknown player, and for a game that is over.
        """
        if state.turns_left == 0:
            raise ProtocolError("the game is over: turns_left is 0")
        return actions_by_player(state.players, document, read_action)

    def result_to_json(self, state: State) -> dict[str, Json]:
        """Return the outcome."""
        return plain_result(self.rules.outcome(state))


def read_action(_player: Player, document: Json) -> Action | Fault:
    """Read an action, or the fault that replaces it."""
    return judge(document) or Fault("illegal")


class StateDocument(msgspec.Struct, frozen=True):
    """A state; ids and actions are parsed where they are validated."""

    width: Side
    height: Side
    players: Any
    player_positions: dict[str, Any]
    colors: list[list[str | None]]
    turns_left: Annotated[int, Meta(ge=0, le=MOST_TURNS)]
    previous_actions: list[dict[str, Any]] = []
    obstacles: list[Square] | None = None


def read_state(document: Json) -> State:
    """Read a state; raise ProtocolError with the location of an error."""
    payload = from_json("state of paint", document, StateDocument)
    if payload.width * payload.height < 2:
        raise ProtocolError("a board has at least 2 squares, not 1")
    ids = check_ids(payload.players)
    check_obstacles(payload)
    state = State(
        width=payload.width,
        height=payload.height,
        players=ids,
        positions=read_positions(payload.player_positions, ids),
        colors=read_colors(payload, ids),
        obstacles=frozenset(payload.obstacles or ()),
        turns_left=payload.turns_left,
        previous=tuple(
            tuple(judge(turn.get(player)) for player in ids) for turn in payload.previous_actions
        ),
    )
    check_board(state)
    return state


def read_positions(positions: Mapping[str, Json], ids: Sequence[str]) -> tuple[Square, ...]:
    """Read the avatars' squares in seat order."""
    for player in positions:
        if player not in ids:
            raise ProtocolError(f"player_positions names {short(player)}, who is not a player")
    for player in ids:
        if player not in positions:
            raise ProtocolError(f"player {player!r} has no position")
    return tuple(from_json(f"position of {player}", positions[player], Square) for player in ids)


def read_colors(document: StateDocument, ids: Sequence[str]) -> tuple[int | None, ...]:
    """Read the owners of all squares in reading order."""
    if len(document.colors) != document.height or any(
        len(row) != document.width for row in document.colors
    ):
        raise ProtocolError(f"colors must be {document.height} rows of {document.width} entries")
    seats: dict[str | None, int | None] = {player: seat for seat, player in enumerate(ids)}
    seats[None] = None
    try:
        return tuple([seats[owner] for line in document.colors for owner in line])
    except KeyError as error:
        [stranger] = error.args
    row, line = next((row, line) for row, line in enumerate(document.colors) if stranger in line)
    place = f"colors[{row}][{line.index(stranger)}]"
    raise ProtocolError(f"{place} is {short(stranger)}, who is not a player")


def check_obstacles(document: StateDocument) -> None:
    """Raise ProtocolError for an obstacle off the board, and for one listed twice."""
    seen: set[Square] = set()
    for row, col in document.obstacles or ():
        if not (0 <= row < document.height and 0 <= col < document.width):
            raise ProtocolError(
                f"obstacle [{short(row)},{short(col)}] is off the board"
                f" ({document.width} x {document.height})"
            )
        if (row, col) in seen:
            raise ProtocolError(f"obstacle [{row},{col}] is listed twice")
        seen.add((row, col))


def check_board(state: State) -> None:
    """Raise ProtocolError unless avatars and paint are on squares where they may be."""
    size = f"{state.width} x {state.height}"
    holders: dict[Square, str] = {}
    for player, (row, col) in zip(state.players, state.positions, strict=True):
        if not (0 <= row < state.height and 0 <= col < state.width):
            raise ProtocolError(
                f"avatar of {player} at [{short(row)},{short(col)}] is off the board ({size})"
            )
        if (row, col) in state.obstacles:
            raise ProtocolError(f"avatar of {player} at [{row},{col}] stands on an obstacle")
        if (row, col) in holders:
            raise ProtocolError(f"{holders[row, col]} and {player} both stand on [{row},{col}]")
        holders[row, col] = player
    for row, col in sorted(state.obstacles):
        if state.colors[row * state.width + col] is not None:
            raise ProtocolError(f"obstacle [{row},{col}] is painted")
