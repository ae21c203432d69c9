"""Checks for Code Battle bots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from cw.games.code_battle.protocol import REFUSED, TURN, Signer, read_health
from cw.games.code_battle.rules import CodeBattle
from cw.games.code_battle.rules.state import State, read_orders
from cw.games.rules import Fault, Player
from cw.games.wire import (
    CheckReport,
    Query,
    Referee,
    Reply,
    Request,
    Transport,
    Trial,
    as_it_is,
    status_fault,
)

GAME: Final = CodeBattle()
OLD: Final = 120
"""Seconds by which the timestamp of a replayed request is out of date."""

TURNS: Final = ("answers a turn", "answers without bots in sight")
FORGERIES: Final = (
    "a wrong signature",
    "a short signature",
    "a signature that is not hexadecimal",
    "a request that is too old",
    "a timestamp that is not a number",
)

SIGN: Final = (
    "answer POST /turn with 200, moves as JSON, and X-ACB-Signature:"
    " the hex HMAC-SHA256 of match_id.turn.sha256(body), with the secret, as text, as the key"
)
START: Final = "start it with the secret from its page: BOT_SECRET=..."
MOVES: Final = 'answer {"moves": [{"row": r, "col": c, "direction": "N"}]} for your own bots'
REFUSE: Final = "compare the signature in constant time, and answer 401 if it is wrong"


class CodeBattleChecks:
    """Checks the health, the signatures of requests and responses, and whole matches."""

    trials: Sequence[Trial] = (
        Trial("plays against random", {"max_turns": 60}, ("random",)),
        Trial("plays with five opponents", {"max_turns": 20}, ("random",) * 5),
        Trial("plays with two cores", {"max_turns": 20, "map": "m2_011"}, ("rusher",)),
        Trial("plays until its last bot dies", {"max_turns": 80}, ("rusher",)),
    )

    def steps(self, transport: Transport) -> int:
        """Return 4 for a program, or 12 for a web service, with its health and signatures."""
        turns = 2 * len(TURNS)
        return 2 + turns + len(FORGERIES) + 1 if transport == "http" else turns

    async def probe(self, referee: Referee, player: Player, report: CheckReport) -> None:
        """Send every kind of request in the protocol."""
        prober = Prober(referee, player, report)
        if referee.transport(player) == "http":
            await prober.health()
        start = GAME.new(2, 1)
        for name, state in zip(TURNS, (start, replace(start, bots=())), strict=True):
            await prober.turn(name, state)
        if referee.transport(player) == "http":
            await prober.forgeries()


class Prober:
    """Sends the requests of a check, and reports the steps."""

    def __init__(self, referee: Referee, player: Player, report: CheckReport) -> None:
        """Prepare the requests of a separate match."""
        self.referee = referee
        self.player = player
        self.report = report
        self.signer = Signer(referee)

    async def ask(self, ask: Query) -> Any:
        """Send one query and return its result."""
        return (await self.referee.ask({self.player: ask}))[self.player]

    async def health(self) -> None:
        """Request GET /health, then a path that does not exist."""
        answer = await self.ask(Query(Request("GET", "/health"), read_health, TURN))
        fix = 'answer GET /health with 200 {"status": "ok"}'
        self.report.step("answers GET /health", fault_of(answer), fix)
        answer = await self.ask(Query(Request("GET", "/nothing"), as_it_is, TURN))
        problem = wrong_status(answer, 404)
        self.report.step("answers 404 for other paths", problem, "answer 404 for any other path")

    async def turn(self, name: str, state: State) -> None:
        """Request a turn, and check the moves."""
        answer = await self.ask(self.signer.turn(state, 0))
        fault = fault_of(answer)
        fix = fix_of(fault)
        if self.report.step(name, fault, fix):
            _, wrong = read_orders(state, 0, answer)
            self.report.step(f"{name}: every move is valid", wrong[0] if wrong else None, MOVES)

    async def forgeries(self) -> None:
        """Send requests whose signature or body is wrong."""
        ask = self.signer.turn(GAME.new(2, 1), 0)
        call = cast(Request, ask.message)
        headers = dict(call.headers)
        mark = headers["X-ACB-Signature"]
        old = str(int(headers["X-ACB-Timestamp"]) - OLD)
        forged: Sequence[Mapping[str, str]] = (
            headers | {"X-ACB-Signature": mark[::-1]},
            headers | {"X-ACB-Signature": "ab"},
            headers | {"X-ACB-Signature": "z" * 64},
            self.signer.signed(call.body or b"", 0, 0, old),
            headers | {"X-ACB-Timestamp": "now"},
        )
        for name, wrong in zip(FORGERIES, forged, strict=True):
            answer = await self.ask(Query(replace(call, headers=wrong), as_it_is, TURN))
            self.report.step(f"refuses {name}", wrong_status(answer, 401), REFUSE)
        body = b"not json"
        request = replace(call, body=body, headers=self.signer.signed(body, 0, 0))
        answer = await self.ask(Query(request, as_it_is, TURN))
        fix = "answer 400 if the body is not JSON or does not fit its headers"
        self.report.step("refuses a body that is not JSON", wrong_status(answer, 400), fix)


def fix_of(fault: Fault | None) -> str:
    """Return how to fix a faulty reply to a turn."""
    if fault is not None and fault.detail == REFUSED:
        return START
    return SIGN if fault and "signature" in fault.detail else MOVES


def fault_of(answer: object) -> Fault | None:
    """Return the result of a query if it is a fault, otherwise None."""
    return answer if isinstance(answer, Fault) else None


def wrong_status(answer: object, expected: int) -> Fault | None:
    """Return a fault unless the response has the expected status."""
    if isinstance(answer, Reply) and answer.status != expected:
        return status_fault(answer, expected)
    return fault_of(answer)
