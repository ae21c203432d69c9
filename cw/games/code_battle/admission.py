"""Checks that a Code Battle web service must pass before it may play, with messages for authors."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Final, cast
from urllib.parse import urlsplit

from cw.errors import ProtocolError
from cw.games.code_battle.protocol import REFUSED, Signer, signature
from cw.games.code_battle.rules import CodeBattle
from cw.games.rules import Fault, Player
from cw.games.wire import (
    CheckReport,
    Query,
    QueryLimits,
    Referee,
    Reply,
    Request,
    as_it_is,
    read_json,
)

GAME: Final = CodeBattle()
LARGEST: Final = 256 * 1024
LIMITS: Final = {
    "GET /health": QueryLimits(seconds=5.0, connect_seconds=2.0, most_body=LARGEST),
    "POST /turn": QueryLimits(seconds=3.0, connect_seconds=2.0, most_body=LARGEST),
}

WRONG: Final = (
    "The signature is wrong. Is it made with the current secret over exactly the bytes of the body?"
)
ACCEPTED: Final = "Your bot accepted a request with a wrong signature. It should answer 401."
CERTIFICATE: Final = re.compile(r"certificate verify failed: (.{1,120}?)(?: \(_ssl|['\"\]])")


class CodeBattleAdmission:
    """Checks that a web service is healthy and speaks the protocol."""

    async def health(self, referee: Referee, player: Player, report: CheckReport) -> bool:
        """Request only GET /health; return whether the web service is healthy."""
        call = Request("GET", "/health")
        return await ask(referee, player, report, call) is not None

    async def protocol(self, referee: Referee, player: Player, report: CheckReport) -> None:
        """Request the moves of a first turn, then repeat the request with a wrong signature."""
        signer = Signer(referee)
        call = cast(Request, signer.turn(GAME.new(2, 1), cast(int, player)).message)
        reply = await ask(referee, player, report, call)
        if reply is None:
            return
        sent_signature = reply.headers.get("x-acb-signature")
        head = f"{call.headers['X-ACB-Match-Id']}.{call.headers['X-ACB-Turn']}"
        expected = signature(signer.secret(cast(int, player)), head, reply.body)
        if sent_signature is None:
            report.step("signature", "The answer has no X-ACB-Signature.", "")
        elif sent_signature != expected:
            report.step("signature", WRONG, "")
        else:
            report.step("signature", None, "")
            report.step("moves", wrong_moves(reply.body), "")
            await refusal(referee, player, report, call)


async def ask(referee: Referee, player: Player, report: CheckReport, call: Request) -> Reply | None:
    """Send a request that requires status 200; report anything else and return None."""
    name = f"{call.method} {call.path}"
    step = "health" if call.method == "GET" else "turn"
    answer: Any = (await referee.ask({player: Query(call, as_it_is, LIMITS[name])}))[player]
    if isinstance(answer, Fault):
        report.step(*unanswered(answer, step, name, referee.address(player) or ""), "")
        return None
    if answer.status == 401 and step == "turn":
        report.step(step, f"{REFUSED[0].upper()}{REFUSED[1:]}", "")
        return None
    if answer.status != 200:
        report.step(step, f"{name} answered {answer.status}; 200 is needed.", "")
        return None
    report.step(step, None, "")
    return cast(Reply, answer)


def unanswered(fault: Fault, step: str, request: str, address: str) -> tuple[str, str]:
    """Return the step at which a request failed, and the message for it."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    match = CERTIFICATE.search(fault.detail)
    why = match[1] if match else "there is no TLS"
    late = f"{request} was not answered within {LIMITS[request].seconds:g} seconds."
    findings = {
        "unresolved": ("resolve", f"The host name {host} has no address that bots may use here."),
        "forbidden": ("address", f"{host} is an internal address."),
        "refused": ("connect", f"{host}:{port} refuses connections."),
        "unreachable": ("connect", f"No connection to {host}:{port} within 2 seconds."),
        "tls": ("tls", f"The certificate of {host} is not valid: {why}."),
        "timeout": (step, late),
        "oversize": ("moves", "The answer is larger than 256 KiB."),
    }
    return findings.get(fault.cause, (step, f"The answer to {request} is not complete HTTP."))


def wrong_moves(body: bytes) -> str | None:
    """Return what is wrong with a response body, or None."""
    try:
        document = read_json(body)
    except ProtocolError:
        return "The answer is not JSON."
    moves = document.get("moves") if isinstance(document, dict) else None
    return None if isinstance(moves, list) else 'The answer has no array "moves".'


async def refusal(referee: Referee, player: Player, report: CheckReport, call: Request) -> None:
    """Send the request with a wrong signature; a bot that accepts it gets only a warning."""
    mark = call.headers["X-ACB-Signature"]
    forged = replace(call, headers={**call.headers, "X-ACB-Signature": mark[::-1]})
    answer = (await referee.ask({player: Query(forged, as_it_is, LIMITS["POST /turn"])}))[player]
    accepted = isinstance(answer, Reply) and answer.status == 200
    report.warn("refusal", ACCEPTED if accepted else None, "")
