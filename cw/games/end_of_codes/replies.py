"""The checks of a reply (document, "Faults"): the first that fails names the fault."""

from __future__ import annotations

from typing import Final, NamedTuple

from cw.errors import FaultKind
from cw.games.end_of_codes.state import DIRECTIONS, Intent, State
from cw.games.rules import Fault, Json

ACTIONS: Final = ("move", "attack")
FIELDS: Final = ("creatureid", "direction", "action")


class WrongReply(Exception):
    """A reply that throws its player out."""

    def __init__(self, error: str, kind: FaultKind = "malformed") -> None:
        """Name the fault as in the tables of the document, without `round_`."""
        super().__init__(error)
        self.fault = Fault(kind, f"round_{error}")


class Owned(NamedTuple):
    """What a player may command."""

    state: State
    userid: int


def read_reply(state: State, userid: int, reply: Json) -> list[Intent] | Fault:
    """Return the intents of a reply, or the fault that it is."""
    try:
        intents = read_list(reply)
        for said in intents:
            check_fields(said)
        return check_intents(Owned(state, userid), intents)
    except WrongReply as wrong:
        return wrong.fault


def read_list(reply: Json) -> list[Json]:
    """Return the list of intents of a reply."""
    if reply is None:
        raise WrongReply("invalid_json")
    if isinstance(reply, dict) and list(reply) == ["error"]:
        raise WrongReply("error_key", "crashed")
    if not isinstance(reply, dict) or reply.get("intent") is None:
        raise WrongReply("intent_not_set")
    if len(reply) > 1:
        raise WrongReply("additional_data")
    intents = reply["intent"]
    if not isinstance(intents, list):
        raise WrongReply("wrong_type")
    return intents


def check_fields(said: Json) -> None:
    """Pass 1: an intent is a dictionary with all its keys."""
    if not isinstance(said, dict):
        raise WrongReply("response_not_object")
    for field in FIELDS:
        if said.get(field) is None:
            raise WrongReply(f"{field}_not_set")


def check_intents(owned: Owned, intents: list[Json]) -> list[Intent]:
    """Pass 2: each intent has the right types and means something that its player may do."""
    seen: set[int] = set()
    read = []
    for said in intents:
        check_types(said)
        creature = said["creatureid"]
        check_creature(owned, creature)
        if said["action"] not in ACTIONS:
            raise WrongReply("action_invalid", "illegal")
        if said["direction"] not in DIRECTIONS:
            raise WrongReply("direction_invalid", "illegal")
        if creature in seen:
            raise WrongReply("intent_duplicate", "illegal")
        seen.add(creature)
        read.append(Intent(creature, said["action"], said["direction"]))
    return read


def check_types(said: dict[str, Json]) -> None:
    """Raise WrongReply for a fourth key and for values of a wrong type."""
    if len(said) > len(FIELDS):
        raise WrongReply("intent_additional_data")
    texts = isinstance(said["action"], str) and isinstance(said["direction"], str)
    if type(said["creatureid"]) is not int or not texts:
        raise WrongReply("wrong_type")


def check_creature(owned: Owned, creature: int) -> None:
    """Raise WrongReply unless the creature is the player's and alive in this round."""
    state, userid = owned
    place = state.index.get(creature)
    if place is None:
        raise WrongReply("invalid_creatureid", "illegal")
    if state.owners[place] != userid:
        raise WrongReply("intent_not_own_creature", "illegal")
    if state.hp[place] <= 0:
        raise WrongReply("intent_dead_creature", "illegal")
