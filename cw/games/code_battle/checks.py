"""What a bot of Code Battle is tried with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from cw.games.code_battle.orders import read_orders
from cw.games.code_battle.protocol import TURN, Signer, read_health
from cw.games.code_battle.rules import CodeBattle
from cw.games.code_battle.state import State
from cw.games.rules import Fault, Player
from cw.games.wire import CheckReport, Query, Referee, Reply, Request, Trial, as_it_is

GAME: Final = CodeBattle()
OLD: Final = 120
"""Seconds by which a replayed request is too old."""

SIGN: Final = (
    "answer POST /turn with 200, moves as JSON, and X-ACB-Signature:"
    " the hex HMAC-SHA256 of match_id.turn.sha256(body), the secret as text being the key"
)
MOVES: Final = 'answer {"moves": [{"row": r, "col": c, "direction": "N"}]} for your own bots'
REFUSE: Final = "compare the signature in constant time, and answer 401 where it is wrong"


class CodeBattleChecks:
    """Health, signatures both ways, and whole matches."""

    trials: Sequence[Trial] = (
        Trial("plays against random", {"max_turns": 60}, ("random",)),
        Trial("plays with five others", {"max_turns": 20}, ("random",) * 5),
        Trial("plays with two cores", {"max_turns": 20, "map": "m2_011"}, ("rusher",)),
        Trial("plays to the end of its last bot", {"max_turns": 80}, ("rusher",)),
    )

    async def probe(self, referee: Referee, player: Player, report: CheckReport) -> None:
        """Ask for everything that the protocol says."""
        prober = Prober(referee, player, report)
        if referee.transport(player) == "http":
            await prober.health()
        await prober.turn("answers a turn", GAME.new(2, 1))
        await prober.turn("answers without bots in sight", replace(GAME.new(2, 1), bots=()))
        if referee.transport(player) == "http":
            await prober.forgeries()


class Prober:
    """The requests of a check."""

    def __init__(self, referee: Referee, player: Player, report: CheckReport) -> None:
        """Begin a match of its own."""
        self.referee = referee
        self.player = player
        self.report = report
        self.signer = Signer(referee)

    async def ask(self, ask: Query) -> Any:
        """Ask once."""
        return (await self.referee.ask({self.player: ask}))[self.player]

    async def health(self) -> None:
        """Ask for its health, and for a path that is not there."""
        answer = await self.ask(Query(Request("GET", "/health"), read_health, TURN))
        fix = 'answer GET /health with 200 {"status": "ok"}'
        self.report.step("answers GET /health", fault_of(answer), fix)
        answer = await self.ask(Query(Request("GET", "/nothing"), as_it_is, TURN))
        said = wrong_status(answer, 404)
        self.report.step("answers 404 for other paths", said, "answer 404 for any other path")

    async def turn(self, name: str, state: State) -> None:
        """Ask for a turn, and look at the moves."""
        answer = await self.ask(self.signer.turn(state, 0))
        fault = fault_of(answer)
        fix = SIGN if fault and "signature" in fault.detail else MOVES
        self.report.step(name, fault, fix)
        if fault is None:
            _, wrong = read_orders(state, 0, answer)
            self.report.step(f"{name}: every move is an order", wrong[0] if wrong else None, MOVES)

    async def forgeries(self) -> None:
        """Send requests that are not signed as they must be."""
        ask = self.signer.turn(GAME.new(2, 1), 0)
        call = cast(Request, ask.message)
        headers = dict(call.headers)
        mark = headers["X-ACB-Signature"]
        old = str(int(headers["X-ACB-Timestamp"]) - OLD)
        forged: Mapping[str, dict[str, str]] = {
            "a wrong signature": headers | {"X-ACB-Signature": mark[::-1]},
            "a short signature": headers | {"X-ACB-Signature": "ab"},
            "a signature of other letters": headers | {"X-ACB-Signature": "z" * 64},
            "a request that is too old": self.signer.signed(call.body or b"", 0, 0, old),
            "a timestamp that is no number": headers | {"X-ACB-Timestamp": "now"},
        }
        for name, wrong in forged.items():
            answer = await self.ask(Query(replace(call, headers=wrong), as_it_is, TURN))
            self.report.step(f"refuses {name}", wrong_status(answer, 401), REFUSE)
        body = b"not json"
        sent = replace(call, body=body, headers=self.signer.signed(body, 0, 0))
        answer = await self.ask(Query(sent, as_it_is, TURN))
        fix = "answer 400 if the body is no JSON or does not fit its headers"
        self.report.step("refuses a body that is no JSON", wrong_status(answer, 400), fix)


def fault_of(answer: object) -> Fault | None:
    """Return a fault, None for anything else."""
    return answer if isinstance(answer, Fault) else None


def wrong_status(answer: object, expected: int) -> str | None:
    """Say which status came instead of the expected one."""
    if isinstance(answer, Reply) and answer.status != expected:
        return f"it answered with status {answer.status}, expected {expected}"
    return f"{answer.kind}: {answer.detail}" if isinstance(answer, Fault) else None
