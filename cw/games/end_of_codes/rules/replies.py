"""The checks of a reply to `/round`, in a fixed order: the first failure determines the fault."""

from __future__ import annotations

import json
from itertools import islice
from typing import Final, NamedTuple

from cw.errors import FaultKind, short
from cw.games.end_of_codes.state import DIRECTIONS, Intent, State
from cw.games.rules import Fault, Json
from cw.games.wire import null_list

ACTIONS: Final = ("move", "attack")
FIELDS: Final = ("creatureid", "direction", "action")
CITED: Final = 200
LIST: Final = '{"intent": [...]}'
INTENT: Final = "creatureid, direction and action"


class WrongReply(Exception):
    """A reply that gets its player thrown out."""

    def __init__(
        self,
        error: str,
        note: str,
        kind: FaultKind = "malformed",
        *,
        expected: str = "",
        actual: Json = None,
    ) -> None:
        """Create the fault: `error` is its name without `round_`, `note` a message about it."""
        super().__init__(error)
        name = f"round_{error}"
        self.fault = Fault(kind, name, note=note, expected=expected, actual=cited(actual))


def cited(value: Json) -> str:
    """Return part of a reply for a report: text as it is, anything else as JSON, shortened.

    Only that part is encoded, because a reply may be nested more deeply than an encoder can handle.
    """
    if isinstance(value, str):
        return value[:CITED]
    return "".join(islice(json.JSONEncoder().iterencode(value), CITED))[:CITED]


class Sender(NamedTuple):
    """The player who sent a reply, in the state that it replies to."""

    state: State
    userid: int


def read_reply(state: State, userid: int, reply: Json) -> list[Intent] | Fault:
    """Return the intents of a reply, or the fault that gets its player thrown out."""
    try:
        intents = read_list(reply)
        for number, intent in enumerate(intents):
            check_fields(f"intent[{number}]", intent)
        return check_intents(Sender(state, userid), intents)
    except WrongReply as wrong:
        return wrong.fault


def wrong_whole(reply: Json) -> Fault | None:
    """Return the fault of a reply without a usable list, or None if it has a list."""
    try:
        read_list(reply)
    except WrongReply as wrong:
        return wrong.fault
    return None


def read_list(reply: Json) -> list[Json]:
    """Return the list of intents of a reply; raise WrongReply if it has none."""
    if reply is None:
        raise WrongReply("invalid_json", "the reply is null")
    if isinstance(reply, dict) and list(reply) == ["error"]:
        note = f"the bot says {short(reply['error'])}"
        raise WrongReply("error_key", note, "crashed", actual=reply["error"])
    if not isinstance(reply, dict) or "intent" not in reply:
        note = f"expected {LIST}, got {short(reply)}"
        raise WrongReply("intent_not_set", note, expected=LIST, actual=reply)
    intents = reply["intent"]
    if intents is None:
        raise WrongReply("intent_not_set", null_list("intent"), expected=LIST, actual=reply)
    if len(reply) > 1:
        other = next(key for key in reply if key != "intent")
        note = f"expected only the key intent, got {short(other)} too"
        raise WrongReply("additional_data", note, expected="intent", actual=other)
    if not isinstance(intents, list):
        note = f"intent must be a list, not {short(intents)}"
        raise WrongReply("wrong_type", note, expected="a list", actual=intents)
    return intents


def check_fields(place: str, intent: Json) -> None:
    """Raise WrongReply unless an intent is an object with all its members (pass 1)."""
    if not isinstance(intent, dict):
        note = f"{place} must be an object, not {short(intent)}"
        raise WrongReply("response_not_object", note, expected="an object", actual=intent)
    for field in FIELDS:
        if intent.get(field) is None:
            note = f"{place} has no {field}: {short(intent)}"
            raise WrongReply(f"{field}_not_set", note, expected=INTENT, actual=intent)


def check_intents(sender: Sender, intents: list[Json]) -> list[Intent]:
    """Return the intents; raise WrongReply for the first that the sender may not give (pass 2).

    Pass 1 has already checked them all, so a missing member of a later intent is found first.
    """
    seen: set[int] = set()
    orders = []
    for number, intent in enumerate(intents):
        place = f"intent[{number}]"
        check_types(place, intent)
        creature = intent["creatureid"]
        check_creature(place, sender, creature)
        check_words(place, intent)
        if creature in seen:
            note = f"{place} is the second one for creature {creature}"
            raise WrongReply("intent_duplicate", note, "illegal", actual=creature)
        seen.add(creature)
        orders.append(Intent(creature, intent["action"], intent["direction"]))
    return orders


def check_types(place: str, intent: dict[str, Json]) -> None:
    """Raise WrongReply for a fourth member, and for values of the wrong type."""
    if len(intent) > len(FIELDS):
        other = next(key for key in intent if key not in FIELDS)
        note = f"{place} may have {', '.join(FIELDS)} only, got {short(other)} too"
        raise WrongReply("intent_additional_data", note, expected=INTENT, actual=other)
    if type(intent["creatureid"]) is not int:
        note = f"{place}: creatureid must be an integer, not {short(intent['creatureid'])}"
        came = intent["creatureid"]
        raise WrongReply("wrong_type", note, expected="an integer", actual=came)
    for name in ("action", "direction"):
        if not isinstance(intent[name], str):
            note = f"{place}: {name} must be text, not {short(intent[name])}"
            raise WrongReply("wrong_type", note, expected="text", actual=intent[name])


def check_creature(place: str, sender: Sender, creature: int) -> None:
    """Raise WrongReply unless the creature is the sender's, and alive in this round."""
    state, userid = sender
    row = state.index.get(creature)
    if row is None:
        note = f"{place}: there is no creature {short(creature)}"
        raise WrongReply("invalid_creatureid", note, "illegal", actual=creature)
    if state.owners[row] != userid:
        note = f"{place}: creature {creature} belongs to player {state.owners[row]}"
        raise WrongReply("intent_not_own_creature", note, "illegal", actual=creature)
    if state.hp[row] <= 0:
        note = f"{place}: creature {creature} is dead"
        raise WrongReply("intent_dead_creature", note, "illegal", actual=creature)


def check_words(place: str, intent: dict[str, Json]) -> None:
    """Raise WrongReply unless the action and the direction are known."""
    for name, words in (("action", ACTIONS), ("direction", tuple(DIRECTIONS))):
        if intent[name] not in words:
            note = f"{place}: {name} must be {', '.join(words)}, not {short(intent[name])}"
            listed = ", ".join(words)
            raise WrongReply(
                f"{name}_invalid", note, "illegal", expected=listed, actual=intent[name]
            )
