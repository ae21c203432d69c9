"""Descriptions of an End of Codes bot's behaviour in a game, for its owner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cw_hub.competitions.daily.entrants import NO_SEAT
from cw_hub.competitions.daily.history.lookup import Behaviour

FINE: Final = "Your bot played correctly in the last game"
ABSENT: Final = "Your bot did not take part in the last game"
UNSEATED: Final = "There was no seat for your bot in the last game"
KILLED: Final = " and your creatures were killed by the grader"

LARGEST: Final = {"game": "64 KiB", "round": "256 KiB"}
"""Maximum size of an answer, by request."""

LEFT_OUT: Final = "left out a key: expected {expected}, got {actual}"
WORDS: Final[Mapping[str, str]] = {
    "could_not_resolve": "stopped resolving",
    "unreachable": "stopped being accessible through the network",
    "could_not_connect": "rejected connections",
    "tls_error": "did not complete the HTTPS handshake",
    "timeout": "did not answer within 5 seconds",
    "broken_reply": "closed the connection before its answer was complete",
    "exception": "stopped with an exception",
    "http_code_not_ok": "responded with HTTP code {actual} when 200 OK was expected",
    "invalid_json": "returned a non-JSON response when valid JSON was expected",
    "oversize": "sent an answer above {largest}",
    "wrong_type": "sent a value of inappropriate type: expected {expected}, got {actual}",
    "error_key": 'indicated an error: "{actual}"',
    "additional_data": "sent invalid keys: {actual}",
    "intent_additional_data": "sent invalid keys: {actual}",
    "intent_not_set": LEFT_OUT,
    "creatureid_not_set": LEFT_OUT,
    "action_not_set": LEFT_OUT,
    "direction_not_set": LEFT_OUT,
    "response_not_object": LEFT_OUT,
    "action_invalid": "sent an incorrect action: {actual}",
    "direction_invalid": "sent an incorrect direction: {actual}",
    "invalid_creatureid": "gave an intent for an unknown creature: {actual}",
    "intent_not_own_creature": "gave an intent for a creature of another player: {actual}",
    "intent_dead_creature": "gave an intent for a dead creature: {actual}",
    "intent_duplicate": "gave an intent for the same creature twice: {actual}",
}
"""What a bot did, by error name without the request."""


def sentence(behaviour: Behaviour | None) -> str:
    """Describe a bot's behaviour in the last game; None: it took no part."""
    if behaviour is None:
        return ABSENT
    if behaviour.report is None:
        return FINE
    return problem(behaviour.report, behaviour.died)


def problem(report: Mapping[str, Any], died: int | None) -> str:
    """Return the first problem of a bot in a game."""
    if report["error"] == NO_SEAT:
        return UNSEATED
    request, _, name = report["error"].partition("_")
    if request == "initiate":
        return str(report["text"])
    facts = {**report, "largest": LARGEST.get(request, "")}
    words = WORDS[name].format_map(facts)
    turn = report["round"]
    when = "" if turn is None else f" in round {turn}"
    killed_in = 0 if turn is None else turn + 1
    return f"Your bot {words}{when}{KILLED if died == killed_in else ''}"
