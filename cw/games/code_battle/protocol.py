"""The Code Battle wire protocol (rule book, "On the wire"): POST /turn, signed both ways."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any, Final

from cw.errors import ProtocolError
from cw.games.code_battle.codec import view_document
from cw.games.code_battle.rules import FAILURES
from cw.games.code_battle.rules.state import Slot, State
from cw.games.code_battle.rules.turn import view_of
from cw.games.rules import Fault, Json, Player
from cw.games.wire import (
    LineMessage,
    Query,
    QueryLimits,
    Referee,
    Reply,
    Request,
    Transport,
    compact,
    null_list,
    read_json,
    status_fault,
)

HEALTH: Final = QueryLimits(seconds=5.0)
TURN: Final = QueryLimits(seconds=3.0, connect_seconds=2.0, most_body=256 * 1024)
QUOTED: Final = 200


class CodeBattleProtocol:
    """Asks all slots with a living bot for their moves concurrently, turn by turn."""

    transports: Sequence[Transport] = ("http", "lines")
    signed_with: str | None = "secret"
    options: Sequence[str] = ()

    def players(self, names: Sequence[str]) -> Sequence[Player]:
        """Return the slots, numbered from 0."""
        return range(len(names))

    async def conduct(self, referee: Referee) -> None:
        """Run a match."""
        state: State = referee.rules.new(len(referee.names), referee.seed, **referee.options)
        referee.begin(state)
        signer = Signer(referee)
        startup_faults = await check_health(referee)
        while referee.rules.outcome(state) is None:
            queries = {slot: signer.turn(state, int(slot)) for slot in referee.rules.to_move(state)}
            answers = await referee.ask(queries)
            note_faults(referee, answers, startup_faults)
            after = referee.step(answers)
            note_crashes(referee, state, after)
            state = after


async def check_health(referee: Referee) -> dict[Player, Fault]:
    """Request GET /health from the web services; record and return the faults."""
    ask = Query(Request("GET", "/health"), read_health, HEALTH, noted=False)
    called = {slot: ask for slot in referee.names if referee.transport(slot) == "http"}
    answers = await referee.ask(called)
    startup_faults = {slot: answer for slot, answer in answers.items() if isinstance(answer, Fault)}
    for slot, fault in startup_faults.items():
        startup = replace(fault, kind="startup", detail=f"GET /health: {fault.detail}")
        referee.note(slot, startup)
    return startup_faults


def note_faults(
    referee: Referee, answers: Mapping[Player, Any], startup_faults: Mapping[Player, Fault]
) -> None:
    """Record the faults of a turn, except those already recorded at startup."""
    for slot, answer in answers.items():
        if isinstance(answer, Fault) and answer != startup_faults.get(slot):
            referee.note(slot, answer)


REFUSED: Final = (
    "your bot refused our signature (HTTP status 401): does it have the current secret?"
)


def read_health(reply: Reply) -> Json | Fault:
    """Read the response to GET /health."""
    if reply.status != 200:
        return status_fault(reply)
    return True


def note_crashes(referee: Referee, before: State, after: State) -> None:
    """Record the slots that are no longer asked after too many faults in a row."""
    for slot, stats in enumerate(after.stats):
        if stats.crashed and not before.stats[slot].crashed:
            detail = f"stopped asking it after {FAILURES} faults in a row"
            referee.note(slot, Fault("crashed", detail))


class Signer:
    """Builds and signs the requests of one match."""

    def __init__(self, referee: Referee) -> None:
        """Use the configured ids of the match and its bots; generate missing ones."""
        self.referee = referee
        match_ids = (referee.setting(slot, "match_id") for slot in referee.names)
        self.match = next(filter(None, match_ids), None) or f"m_{referee.token()[:8]}"
        self.bots = {
            slot: referee.setting(slot, "bot_id") or f"b_{referee.token()[:8]}"
            for slot in referee.names
        }

    def turn(self, state: State, slot: Slot) -> Query:
        """Return the query for a slot's moves."""
        body = compact({"match_id": self.match, **view_document(view_of(state, slot))})
        if self.referee.transport(slot) != "http":
            return Query(LineMessage(body), read_moves, TURN, action=True, noted=False)
        head = f"{self.match}.{state.turn}"
        call = Request("POST", "/turn", body, self.signed(body, slot, state.turn))
        reader = partial(read_signed, self.secret(slot), head)
        return Query(call, reader, TURN, action=True, noted=False)

    def secret(self, slot: Slot) -> str:
        """Return the secret of a slot's bot."""
        return self.referee.setting(slot, "secret") or ""

    def signed(
        self, body: bytes, slot: Slot, turn: int, timestamp: str | None = None
    ) -> dict[str, str]:
        """Return the headers of a request; `timestamp` defaults to now."""
        stamp = timestamp or str(self.referee.now())
        head = f"{self.match}.{turn}.{stamp}"
        return {
            "Content-Type": "application/json",
            "X-ACB-Match-Id": self.match,
            "X-ACB-Turn": str(turn),
            "X-ACB-Timestamp": stamp,
            "X-ACB-Bot-Id": self.bots[slot],
            "X-ACB-Signature": signature(self.secret(slot), head, body),
        }


def signature(secret: str, head: str, body: bytes) -> str:
    """Sign a body: the lower-case hex HMAC-SHA256 of the head, a dot and the body's hash."""
    text = f"{head}.{sha256(body).hexdigest()}"
    return hmac.new(secret.encode(), text.encode(), sha256).hexdigest()


def read_signed(secret: str, head: str, reply: Reply) -> list[Json] | Fault:
    """Read a web service's reply: check its status and its signature, then return its moves."""
    if reply.status == 401:
        return Fault("malformed", REFUSED)
    if reply.status != 200:
        return status_fault(reply)
    sent_signature = reply.headers.get("x-acb-signature")
    if sent_signature is None:
        return Fault("malformed", "signature missing")
    expected = signature(secret, head, reply.body)
    if not hmac.compare_digest(sent_signature.encode(errors="replace"), expected.encode()):
        return Fault("malformed", "signature wrong")
    return read_moves(reply)


def read_moves(reply: Reply) -> list[Json] | Fault:
    """Read the moves of a reply."""
    try:
        document = read_json(reply.body)
    except ProtocolError as error:
        return Fault("malformed", f"the reply is not JSON ({error}): {quote(reply.body)}")
    if not isinstance(document, dict):
        return Fault("malformed", f"the reply is not an object: {quote(reply.body)}")
    moves = document.get("moves")
    if "moves" in document and moves is None:
        return Fault("malformed", f"moves is not an array: {null_list('moves')}")
    if not isinstance(moves, list):
        return Fault("malformed", f"moves is not an array: {quote(reply.body)}")
    return moves


def quote(body: bytes) -> str:
    """Return the beginning of a reply, quoted for a message."""
    return repr(body[:QUOTED].decode(errors="replace"))
