"""The checks of a reply to `/round`, in a fixed order: the first that fails names the fault."""

from __future__ import annotations

from typing import Final, NamedTuple

from cw.errors import FaultKind
from cw.games.end_of_codes.state import DIRECTIONS, Intent, State
from cw.games.rules import Fault, Json

ACTIONS: Final = ("move", "attack")
FIELDS: Final = ("creatureid", "direction", "action")


class WrongReply(Exception):
    """A reply for which its player is thrown out."""

    def __init__(self, error: str, kind: FaultKind = "malformed") -> None:
        """Make the fault; `error` is its name without `round_`."""
        super().__init__(error)
        self.fault = Fault(kind, f"round_{error}")


class Sender(NamedTuple):
    """The player who sent a reply, in the state that it replies to."""

    state: State
    userid: int


def read_reply(state: State, userid: int, reply: Json) -> list[Intent] | Fault:
    """Return the intents of a reply, or the fault for which its player is thrown out."""
    try:
        intents = read_list(reply)
        for said in intents:
            check_fields(said)
        return check_intents(Sender(state, userid), intents)
    except WrongReply as wrong:
        return wrong.fault


def read_list(reply: Json) -> list[Json]:
    """Return the list of intents of a reply; raise WrongReply if it is not one."""
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
    """Raise WrongReply unless an intent is an object with all its members (pass 1)."""
    if not isinstance(said, dict):
        raise WrongReply("response_not_object")
    for field in FIELDS:
        if said.get(field) is None:
            raise WrongReply(f"{field}_not_set")


def check_intents(sender: Sender, intents: list[Json]) -> list[Intent]:
    """Return the intents; raise WrongReply for the first that the sender may not give (pass 2).

    Pass 1 has checked all of them before: a missing member of a later intent is found first.
    """
    seen: set[int] = set()
    read = []
    for said in intents:
        check_types(said)
        creature = said["creatureid"]
        check_creature(sender, creature)
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
    """Raise WrongReply for a fourth member, and for values of a wrong type."""
    if len(said) > len(FIELDS):
        raise WrongReply("intent_additional_data")
    texts = isinstance(said["action"], str) and isinstance(said["direction"], str)
    if type(said["creatureid"]) is not int or not texts:
        raise WrongReply("wrong_type")


def check_creature(sender: Sender, creature: int) -> None:
    """Raise WrongReply unless a creature is the sender's, and alive in this round."""
    state, userid = sender
    place = state.index.get(creature)
    if place is None:
        raise WrongReply("invalid_creatureid", "illegal")
    if state.owners[place] != userid:
        raise WrongReply("intent_not_own_creature", "illegal")
    if state.hp[place] <= 0:
        raise WrongReply("intent_dead_creature", "illegal")
