"""Checks for Hexagon bots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from cw.errors import IllegalAction
from cw.games.hexagon.codec import pair_document
from cw.games.hexagon.protocol import (
    HEADERS,
    JSON_HEADERS,
    opening,
    read_move,
    read_ok,
)
from cw.games.hexagon.rules import Hexagon, legal_moves
from cw.games.hexagon.state import Move, State
from cw.games.rules import Fault, Player
from cw.games.wire import (
    SERVER_ERROR,
    CheckReport,
    Query,
    QueryLimits,
    Referee,
    Reply,
    Request,
    Transport,
    Trial,
    compact,
)

LIMITS: Final = QueryLimits(1.0)
GAME: Final = Hexagon()
OK: Final = 'answer with status 200 and {"status": "ok"} as JSON'
MOVE: Final = 'answer with {"status": "ok", "move_from": [i, j], "move_to": [i, j]}'

NARROW: Final = {
    "size": 2,
    "cells": [[-1, 1, 0], [2, 1, 0], [-1, 2, 1]],
    "jumps": {"1": 0, "2": 0},
    "placed": {"1": 4, "2": 3},
    "color": 1,
    "ended": None,
    "winner": None,
}
LAST_CHIP: Final = {
    "size": 3,
    "cells": [[-1, 1, 0, 2, -1], [0] * 4 + [-1], [0] * 5, [0] * 4 + [-1], [-1, 0, 0, 0, -1]],
    "jumps": {"1": 1, "2": 1},
    "placed": {"1": 3, "2": 3},
    "color": 1,
    "ended": None,
    "winner": None,
}


class HexagonChecks:
    """Checks each request, two battles at the same time, and whole battles on unusual boards."""

    trials: Sequence[Trial] = (
        Trial("plays a whole battle against random, in both colours", {}, ("random",)),
        Trial("plays on the smallest board", {"size": 2}, ("random",)),
        Trial("plays on a large board", {"size": 8}, ("greedy",)),
        Trial("plays a battle in which one side must pass", {}, ("random",), NARROW),
        Trial("plays when one side is nearly wiped out", {}, ("random",), LAST_CHIP),
    )

    def steps(self, transport: Transport) -> int:
        """Return 11: one POST, three GET, two PUT, three for another battle, and two at the end."""
        return 11

    async def probe(self, referee: Referee, player: Player, report: CheckReport) -> None:
        """Send every kind of request in the protocol."""
        prober = Prober(referee, player, report)
        for steps in (
            prober.post,
            prober.moves,
            prober.put,
            prober.second_battle,
            prober.delete,
        ):
            if not await steps():
                return


class Prober:
    """Sends the requests of a check, and reports the steps."""

    def __init__(self, referee: Referee, player: Player, report: CheckReport) -> None:
        """Initialize a battle on an ordinary board."""
        self.referee = referee
        self.player = player
        self.report = report
        self.state: State = GAME.new(2, 1, size=4)
        self.move: Move | None = None
        # Unique to this check, like the object: another check may use the same bot concurrently.
        self.ids = tuple(f"check{id(self) % 10**10:010}{number}" for number in (1, 2))

    async def ask(self, call: Request, reader: Any) -> Any:
        """Send one request and return the result."""
        return (await self.referee.ask({self.player: Query(call, reader, LIMITS)}))[self.player]

    async def say(self, method: str, path: str, body: bytes) -> Fault | None:
        """Send a body; return the fault if the bot does not accept it."""
        answer = await self.ask(Request(method, path, body, JSON_HEADERS), read_ok)
        return answer if isinstance(answer, Fault) else None

    async def post(self) -> bool:
        """Open a battle."""
        fault = await self.say("POST", "/games", opening(self.state, self.ids[0], 1))
        return self.report.step("takes POST /games", fault, OK)

    async def get(self, number: str, state: State) -> Fault | str | None:
        """Request a move; return what is wrong with it, or None."""
        call = Request("GET", f"/games/{number}?color={state.color}", None, HEADERS)
        answer = await self.ask(call, read_move)
        if isinstance(answer, Fault):
            return answer
        try:
            GAME.check(state, state.color or 1, answer)
        except IllegalAction as error:
            return f"the move {answer.move_from} -> {answer.move_to} is not legal: {error}"
        self.move = answer
        return None

    def moved(self, name: str, problem: Fault | str | None, fix: str) -> bool:
        """Report a step that requested a move; `fix` is the advice for an illegal move."""
        return self.report.step(name, problem, MOVE if isinstance(problem, Fault) else fix)

    async def moves(self) -> bool:
        """Request a move twice: a GET must not change anything."""
        if not self.report.step(
            "gives a legal move", await self.get(self.ids[0], self.state), MOVE
        ):
            return False
        again = await self.get(self.ids[0], self.state)
        fix = f"{MOVE}; a GET must not change your board; only a PUT does"
        return self.moved("gives a legal move when asked again", again, fix)

    async def put(self) -> bool:
        """Send the changes of a move of the bot, then of the other side."""
        for name in ("accepts a PUT of its own move", "accepts a PUT of the other side's move"):
            move = self.move or legal_moves(self.state)[0]
            self.state = GAME.step(self.state, {self.state.color or 1: move})
            self.move = None
            changes = [list(change) for change in self.state.changes]
            body = compact({"jumps": pair_document(self.state.jumps), "changes": changes})
            if not self.report.step(name, await self.say("PUT", f"/games/{self.ids[0]}", body), OK):
                return False
        fix = "apply every change of every PUT: row, column, old and new value"
        answer = await self.get(self.ids[0], self.state)
        return self.moved("gives a legal move after two changes", answer, fix)

    async def begin(self, state: State) -> Fault | str | None:
        """Open the second battle, and request its first move."""
        fault = await self.say("POST", "/games", opening(state, self.ids[1], 1))
        return fault or await self.get(self.ids[1], state)

    async def second_battle(self) -> bool:
        """Interleave a second battle with the first, then reopen it under the same id."""
        apart = "keep one board per id: a server plays several battles at once"
        afresh = "a POST with an id that you know starts that battle afresh"
        step = self.moved
        if not (
            step("keeps two battles apart", await self.begin(GAME.new(2, 2, size=3)), apart)
            and step("still knows the first battle", await self.get(self.ids[0], self.state), apart)
        ):
            return False
        name, state = "starts a known id afresh", GAME.new(2, 3, size=3)
        refused = await self.say("POST", "/games", opening(state, self.ids[1], 1))
        problem = refused or await self.get(self.ids[1], state)
        # No server reuses an id, so only warn, unless the bot fails here or sends something that
        # is not a move: that could occur elsewhere too.
        if is_answered(refused) if refused else not isinstance(problem, Fault):
            self.report.warn(name, problem, afresh)
            return True
        return step(name, problem, afresh)

    async def delete(self) -> bool:
        """Close both battles, then request a move in one that never existed."""
        faults = [await self.say("DELETE", f"/games/{number}", b"{}") for number in self.ids]
        if not self.report.step("takes DELETE", faults[0] or faults[1], OK):
            return False
        call = Request("GET", "/games/unknown000000000?color=1", None, HEADERS)
        answer = await self.ask(call, refusal)
        # No server sends requests for an unknown battle, so only warn.
        fix = "answer with status 404"
        self.report.warn("refuses an unknown battle", answer, fix)
        return True


def is_answered(fault: Fault) -> bool:
    """Return whether a fault is in a response of the bot's own, even a wrong one."""
    return fault.kind == "malformed" and fault.cause != SERVER_ERROR


def refusal(reply: Reply) -> Fault | None:
    """Return a fault unless the response is a refusal: any status of 400 or above."""
    if reply.status >= 400:
        return None
    return Fault("malformed", f"it answered with status {reply.status}, expected 404")
