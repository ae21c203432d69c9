"""The checks of a reply (document, "Faults"): the first that fails names the fault."""

from __future__ import annotations

from typing import Final, NamedTuple

from cw.errors import FaultKind, short
from cw.games.end_of_codes.state import DIRECTIONS, Intent, State
from cw.games.rules import Fault, Json
from cw.games.wire import null_list

ACTIONS: Final = ("move", "attack")
FIELDS: Final = ("creatureid", "direction", "action")


class WrongReply(Exception):
    """A reply that throws its player out."""

    def __init__(self, error: str, note: str, kind: FaultKind = "malformed") -> None:
        """Name the fault as in the tables of the document, without `round_`, and explain it."""
        super().__init__(error)
        self.fault = Fault(kind, f"round_{error}", note=note)


class Sender(NamedTuple):
    """Who sends a reply, and in which state."""

    state: State
    userid: int


def read_reply(state: State, userid: int, reply: Json) -> list[Intent] | Fault:
    """Return the intents of a reply, or the fault that it is."""
    try:
        intents = read_list(reply)
        for number, said in enumerate(intents):
            check_fields(f"intent[{number}]", said)
        return check_intents(Sender(state, userid), intents)
    except WrongReply as wrong:
        return wrong.fault


def wrong_whole(reply: Json) -> Fault | None:
    """Return the fault of a reply that is wrong as a whole, whatever its intents say."""
    try:
        read_list(reply)
    except WrongReply as wrong:
        return wrong.fault
    return None


def read_list(reply: Json) -> list[Json]:
    """Return the list of intents of a reply."""
    if reply is None:
        raise WrongReply("invalid_json", "the reply is null")
    if isinstance(reply, dict) and list(reply) == ["error"]:
        raise WrongReply("error_key", f"the bot says {short(reply['error'])}", "crashed")
    if not isinstance(reply, dict) or "intent" not in reply:
        raise WrongReply("intent_not_set", f'expected {{"intent": [...]}}, got {short(reply)}')
    intents = reply["intent"]
    if intents is None:
        raise WrongReply("intent_not_set", null_list("intent"))
    if len(reply) > 1:
        other = next(key for key in reply if key != "intent")
        raise WrongReply("additional_data", f"expected only the key intent, got {short(other)} too")
    if not isinstance(intents, list):
        raise WrongReply("wrong_type", f"intent must be a list, not {short(intents)}")
    return intents


def check_fields(place: str, said: Json) -> None:
    """Pass 1: an intent is a dictionary with all its keys."""
    if not isinstance(said, dict):
        raise WrongReply("response_not_object", f"{place} must be an object, not {short(said)}")
    for field in FIELDS:
        if said.get(field) is None:
            raise WrongReply(f"{field}_not_set", f"{place} has no {field}: {short(said)}")


def check_intents(sender: Sender, intents: list[Json]) -> list[Intent]:
    """Pass 2: each intent has the right types and means something that its player may do."""
    seen: set[int] = set()
    read = []
    for number, said in enumerate(intents):
        place = f"intent[{number}]"
        check_types(place, said)
        creature = said["creatureid"]
        check_creature(place, sender, creature)
        check_words(place, said)
        if creature in seen:
            note = f"{place} is the second one for creature {creature}"
            raise WrongReply("intent_duplicate", note, "illegal")
        seen.add(creature)
        read.append(Intent(creature, said["action"], said["direction"]))
    return read


def check_types(place: str, said: dict[str, Json]) -> None:
    """Raise WrongReply for a fourth key and for values of a wrong type."""
    if len(said) > len(FIELDS):
        other = next(key for key in said if key not in FIELDS)
        note = f"{place} may have {', '.join(FIELDS)} only, got {short(other)} too"
        raise WrongReply("intent_additional_data", note)
    if type(said["creatureid"]) is not int:
        note = f"{place}: creatureid must be an integer, not {short(said['creatureid'])}"
        raise WrongReply("wrong_type", note)
    for name in ("action", "direction"):
        if not isinstance(said[name], str):
            raise WrongReply("wrong_type", f"{place}: {name} must be text, not {short(said[name])}")


def check_creature(place: str, sender: Sender, creature: int) -> None:
    """Raise WrongReply unless the creature is the player's and alive in this round."""
    state, userid = sender
    row = state.index.get(creature)
    if row is None:
        note = f"{place}: there is no creature {short(creature)}"
        raise WrongReply("invalid_creatureid", note, "illegal")
    if state.owners[row] != userid:
        note = f"{place}: creature {creature} is that of player {state.owners[row]}, not yours"
        raise WrongReply("intent_not_own_creature", note, "illegal")
    if state.hp[row] <= 0:
        note = f"{place}: creature {creature} is dead"
        raise WrongReply("intent_dead_creature", note, "illegal")


def check_words(place: str, said: dict[str, Json]) -> None:
    """Raise WrongReply for an action or a direction that is none."""
    for name, words in (("action", ACTIONS), ("direction", tuple(DIRECTIONS))):
        if said[name] not in words:
            note = f"{place}: {name} must be {', '.join(words)}, not {short(said[name])}"
            raise WrongReply(f"{name}_invalid", note, "illegal")
