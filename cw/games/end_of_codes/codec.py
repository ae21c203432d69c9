"""States of End of Codes as JSON (document, "JSON of a state and of actions")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cw.errors import ProtocolError, short
from cw.games.codec import actions_by_player, is_fault, player_named
from cw.games.end_of_codes.rules import EndOfCodes
from cw.games.end_of_codes.state import Expelled, Participant, State
from cw.games.rules import FAULT_KINDS, Fault, Json, Player

CREATURE = ("creatureid", "userid", "x", "y", "hp")


class EndOfCodesCodec:
    """Writes and reads the documents of End of Codes."""

    def __init__(self, rules: EndOfCodes) -> None:
        """Speak of games by these rules."""
        self.rules = rules

    def state_to_json(self, state: State) -> dict[str, Json]:
        """Return the state as a document."""
        return {
            "round": state.round,
            "W": state.width,
            "H": state.height,
            "MAX_HP": state.most_hp,
            "players": [player_document(player) for player in state.players],
            "creatures": creatures(state),
        }

    def state_from_json(self, document: Json, **options: Json) -> State:
        """Read a state; of the options, `max_rounds` counts."""
        return read_state(document, options.get("max_rounds", 10_000))

    def view_to_json(self, view: State) -> dict[str, Json]:
        """Return the document of the state."""
        return self.state_to_json(view)

    def player_from_json(self, state: State, name: Json) -> Player:
        """Read a userid."""
        return player_named(self.rules.players(state), name)

    def action_to_json(self, action: Json) -> Json:
        """Return the reply: it is a document already."""
        return action

    def actions_from_json(
        self, state: State, document: Mapping[str, Json]
    ) -> dict[Player, Json | Fault]:
        """Read replies and faults; what a reply says is left to the rules."""
        return actions_by_player(self.rules.players(state), document, read_action)

    def result_to_json(self, state: State) -> dict[str, Json]:
        """Return the outcome with the round in which the game ended."""
        outcome = self.rules.outcome(state)
        if outcome is None:
            return {"outcome": None}
        said = outcome.to_json()
        head = {"reason": said.pop("reason"), "winner": said.pop("winner")}
        ended = None if outcome.reason == "no_players" else state.round
        ranks = {"ranks": said["ranks"], "scores": said["scores"]}
        return {"outcome": head | {"round": ended} | ranks}


def creatures(state: State) -> list[dict[str, int]]:
    """Return all creatures as bots are told them."""
    columns = (state.ids, state.owners, state.x, state.y, state.hp)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [dict(zip(CREATURE, row, strict=True)) for row in rows]


def player_document(player: Participant) -> dict[str, Json]:
    """Return a player as a document."""
    fault = None if player.fault is None else player.fault._asdict()
    return player._asdict() | {"fault": fault}


def read_state(document: Json, max_rounds: Json = 10_000) -> State:
    """Read a state; raise ProtocolError that names the place of what is wrong."""
    whole = read_numbers("state", document, {"round": 0, "W": 1, "H": 1, "MAX_HP": 1})
    rows = [
        read_creature(n, said, whole) for n, said in enumerate(read_list(document, "creatures"))
    ]
    table = np.array(sorted(rows), dtype=np.int64).reshape(-1, 5)
    ids, owners, x, y, hp = (column.copy() for column in table.T)
    alive = set(owners[hp > 0].tolist())
    players = [read_player(said, whole["round"], alive) for said in read_list(document, "players")]
    state = State(
        round=whole["round"],
        width=whole["W"],
        height=whole["H"],
        most_hp=whole["MAX_HP"],
        players=tuple(sorted(players)),
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
    raise ProtocolError("max_rounds must be an integer from 1 to 1000000")


def read_numbers(place: str, document: Json, least: Mapping[str, int]) -> dict[str, int]:
    """Read integers that are not below a bound."""
    if not isinstance(document, dict):
        raise ProtocolError(f"{place} must be an object, not {short(document)}")
    for name, low in least.items():
        value = document.get(name)
        if type(value) is not int or value < low:
            raise ProtocolError(
                f"{place}: {name} must be an integer from {low}, not {short(value)}"
            )
    return {name: document[name] for name in least}


def read_list(document: dict[str, Json], name: str) -> list[Json]:
    """Read a list."""
    if not isinstance(document.get(name), list):
        raise ProtocolError(f"state: {name} must be a list")
    entries: list[Json] = document[name]
    return entries


def read_creature(number: int, said: Json, whole: Mapping[str, int]) -> tuple[int, ...]:
    """Read a creature: its five numbers."""
    place = f"creatures[{number}]"
    least = {"creatureid": 1, "userid": 1, "x": 0, "y": 0, "hp": 0}
    creature = read_numbers(place, said, least)
    if creature["x"] >= whole["W"] or creature["y"] >= whole["H"]:
        raise ProtocolError(f"{place} stands off the map")
    if creature["hp"] > whole["MAX_HP"]:
        raise ProtocolError(f"{place}: hp must be from 0 to {whole['MAX_HP']}")
    return tuple(creature.values())


def read_player(said: Json, now: int, alive: set[Any]) -> Participant:
    """Read a player; without a living creature and `died` it counts as having died now."""
    userid = read_numbers("player", said, {"userid": 1})["userid"]
    username, died = said.get("username"), said.get("died")
    if not isinstance(username, str):
        raise ProtocolError(f"player {userid}: username must be text, not {short(username)}")
    if died is not None and (type(died) is not int or userid in alive):
        raise ProtocolError(f"player {userid}: died is {short(died)}, but that cannot be")
    if died is None and userid not in alive:
        died = now
    return Participant(userid, username, died, read_fault(userid, said.get("fault")))


def read_fault(userid: int, said: Json) -> Expelled | None:
    """Read the fault that threw a player out."""
    if said is None:
        return None
    round_number = read_numbers(f"fault of player {userid}", said, {"round": 0})["round"]
    if said.get("kind") not in FAULT_KINDS:
        raise ProtocolError(f"player {userid}: unknown fault {short(said.get('kind'))}")
    error = said.get("error")
    return Expelled(said["kind"], None if error is None else str(error), round_number)


def check_world(state: State) -> None:
    """Raise ProtocolError for ids that are not distinct, strange owners and shared cells."""
    userids = [player.userid for player in state.players]
    if len(set(userids)) < len(userids):
        raise ProtocolError("two players have the same userid")
    if len(set(state.ids.tolist())) < len(state.ids):
        raise ProtocolError("two creatures have the same creatureid")
    strangers = set(state.owners.tolist()) - set(userids)
    if strangers:
        raise ProtocolError(f"a creature belongs to {min(strangers)}, who is no player")
    alive = state.hp > 0
    cells = (state.y * state.width + state.x)[alive]
    if len(np.unique(cells)) < len(cells):
        raise ProtocolError("two living creatures stand in one cell")


def read_action(_player: Player, said: Json) -> Json | Fault:
    """Read a fault that the grader saw, or leave a reply as it is."""
    return Fault.from_json(said) if is_fault(said) else said
