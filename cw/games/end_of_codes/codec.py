"""The JSON format of End of Codes states (rule book, "State and actions as JSON")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

import msgspec
import numpy as np
from msgspec import Meta

from cw.errors import FaultKind, ProtocolError, short
from cw.games.codec import actions_by_player, from_json, is_fault, player_named
from cw.games.end_of_codes.rules import EndOfCodes
from cw.games.end_of_codes.state import Column, Expelled, PlayerState, State
from cw.games.rules import Fault, Json, Player

MOST_CELLS: Final = 4 * 1_000_000
"""The cells of a map made for the maximum number of creatures in a game."""

CREATURE: Final = ("creatureid", "userid", "x", "y", "hp")

Id = Annotated[int, Meta(ge=1, le=2**63 - 1)]
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Side = Annotated[int, Meta(ge=1, lt=2**31)]
"""The width or height of the map in cells; the bound keeps cell numbers within 64 bits."""


class EndOfCodesCodec:
    """Converts End of Codes states and replies to and from JSON."""

    def __init__(self, rules: EndOfCodes) -> None:
        """Initialize the codec with the rules of the game."""
        self.rules = rules

    def state_to_json(self, state: State) -> dict[str, Json]:
        """Return the state as JSON."""
        return {
            "round": state.round,
            "W": state.width,
            "H": state.height,
            "MAX_HP": state.most_hp,
            "players": [player_document(player) for player in state.players],
            "creatures": creatures(state),
        }

    def state_from_json(self, document: Json, /, **options: Json) -> State:
        """Read a state; the only option used is `max_rounds`."""
        return read_state(document, options.get("max_rounds", 10_000))

    def view_to_json(self, view: State) -> dict[str, Json]:
        """Return the state as JSON."""
        return self.state_to_json(view)

    def player_from_json(self, state: State, name: Json) -> Player:
        """Read a userid."""
        return player_named(self.rules.players(state), name)

    def action_to_json(self, action: Json) -> Json:
        """Return the reply unchanged: it is already JSON."""
        return action

    def actions_from_json(
        self, state: State, document: Mapping[str, Json]
    ) -> dict[Player, Json | Fault]:
        """Read replies and faults; the rules check the replies."""
        return actions_by_player(self.rules.players(state), document, read_action)

    def result_to_json(self, state: State) -> dict[str, Json]:
        """Return the outcome with the round in which the game ended."""
        outcome = self.rules.outcome(state)
        if outcome is None:
            return {"outcome": None}
        members = outcome.to_json()
        head = {"reason": members.pop("reason"), "winner": members.pop("winner")}
        ended = None if outcome.reason == "no_players" else state.round
        ranks = {"ranks": members["ranks"], "scores": members["scores"]}
        return {"outcome": head | {"round": ended} | ranks}


def creatures(state: State) -> list[dict[str, int]]:
    """Return all creatures in the format that bots receive."""
    columns = (state.ids, state.owners, state.x, state.y, state.hp)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [
        {"creatureid": creature, "userid": owner, "x": x, "y": y, "hp": hp}
        for creature, owner, x, y, hp in rows
    ]


def player_document(player: PlayerState) -> dict[str, Json]:
    """Return a player as JSON."""
    fault = None if player.fault is None else player.fault._asdict()
    return player._asdict() | {"fault": fault}


class CreatureDocument(msgspec.Struct, frozen=True):
    """A creature of a state."""

    creatureid: Id
    userid: Id
    x: Count
    y: Count
    hp: Count


class FaultDocument(msgspec.Struct, frozen=True):
    """The fault for which a player was thrown out."""

    kind: FaultKind
    round: Count
    error: str | None = None


class PlayerDocument(msgspec.Struct, frozen=True):
    """A player, as listed in a state document."""

    userid: Id
    username: str
    died: int | None = None
    fault: FaultDocument | None = None


class StateDocument(msgspec.Struct, frozen=True):
    """A state."""

    round: Count
    W: Side
    H: Side
    MAX_HP: Id
    players: list[PlayerDocument]
    creatures: list[CreatureDocument]


def read_state(document: Json, max_rounds: Json = 10_000) -> State:
    """Read a state; raise ProtocolError with the location of an error."""
    payload = from_json("state of end-of-codes", document, StateDocument)
    if payload.W * payload.H > MOST_CELLS:
        raise ProtocolError(f"W*H must be at most {MOST_CELLS}, not {payload.W * payload.H}")
    columns = {
        name: np.array([getattr(creature, name) for creature in payload.creatures], dtype=np.int64)
        for name in CREATURE
    }
    check_creatures(payload, columns)
    order = np.argsort(columns["creatureid"], kind="stable")
    ids, owners, x, y, hp = (column[order] for column in columns.values())
    alive = set(owners[hp > 0].tolist())
    state = State(
        round=payload.round,
        width=payload.W,
        height=payload.H,
        most_hp=payload.MAX_HP,
        players=tuple(
            sorted(read_player(player, payload.round, alive) for player in payload.players)
        ),
        ids=ids,
        owners=owners,
        x=x,
        y=y,
        hp=hp,
        max_rounds=read_cap(max_rounds),
    )
    check_world(state)
    return state


def read_cap(value: Json) -> int:
    """Read the option `max_rounds`."""
    if type(value) is int and 1 <= value <= 1_000_000:
        return value
    raise ProtocolError(f"max_rounds must be an integer from 1 to 1000000, not {short(value)}")


def check_creatures(document: StateDocument, columns: Mapping[str, Column]) -> None:
    """Raise ProtocolError for the first creature off the map or with too many hit points."""
    off = (columns["x"] >= document.W) | (columns["y"] >= document.H)
    if off.any():
        raise ProtocolError(f"creatures[{int(off.argmax())}] stands off the map")
    healthy = columns["hp"] > document.MAX_HP
    if healthy.any():
        place = f"creatures[{int(healthy.argmax())}]"
        raise ProtocolError(f"{place}: hp must be from 0 to {document.MAX_HP}")


def read_player(document: PlayerDocument, now: int, alive: set[int]) -> PlayerState:
    """Read a player; without a living creature and without `died` it counts as having died now."""
    if document.died is not None and document.userid in alive:
        raise ProtocolError(
            f"player {document.userid}: died is {short(document.died)}, but a creature of it lives"
        )
    died = now if document.died is None and document.userid not in alive else document.died
    fault = document.fault
    expelled = None if fault is None else Expelled(fault.kind, fault.error, fault.round)
    return PlayerState(document.userid, document.username, died, expelled)


def check_world(state: State) -> None:
    """Raise ProtocolError for duplicate ids, unknown owners or shared cells."""
    userids = [player.userid for player in state.players]
    if len(set(userids)) < len(userids):
        raise ProtocolError("two players have the same userid")
    if len(set(state.ids.tolist())) < len(state.ids):
        raise ProtocolError("two creatures have the same creatureid")
    strangers = set(state.owners.tolist()) - set(userids)
    if strangers:
        raise ProtocolError(f"a creature belongs to {min(strangers)}, who is not a player")
    alive = state.hp > 0
    cells = (state.y * state.width + state.x)[alive]
    if len(np.unique(cells)) < len(cells):
        raise ProtocolError("two living creatures stand in one cell")


def read_action(_player: Player, value: Json) -> Json | Fault:
    """Read a fault that the grader recorded, or return a reply unchanged."""
    return Fault.from_json(value) if is_fault(value) else value
