"""Checks for Paint bots."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from cw.games.paint.protocol import TURN, greeting, read_answer
from cw.games.paint.rules import Paint
from cw.games.paint.state import Action, State
from cw.games.rules import Fault, Player
from cw.games.wire import CheckReport, LineMessage, Query, Referee, Transport, Trial, compact

SHAPE: Final = 'one line {"turns_left": N, "type": "walk" or "shoot", "direction": [-1, 0]}'
NAMES: Final = ("answers a state", "answers the next state", "answers a third time")
FLUSH: Final = "flush standard output after each line, and print everything else to stderr"


class PaintChecks:
    """Checks the ready line, replies with their nonce, and games on unusual boards."""

    trials: Sequence[Trial] = (
        Trial("plays a whole match against random", {"turns": 60}, ("random",)),
        Trial("plays on a board with obstacles", {"board": "rocks", "turns": 30}, ("walker",)),
        Trial("plays with five opponents", {"turns": 20}, ("random",) * 5),
        Trial("plays on the smallest board", {"width": 2, "height": 1, "turns": 5}, ("random",)),
        Trial("plays on a long narrow board", {"width": 30, "height": 1, "turns": 10}, ("still",)),
        Trial("plays on the large board", {"board": "large", "turns": 20}, ("greedy",)),
    )

    def steps(self, transport: Transport) -> int:
        """Return 4: the ready line and three replies."""
        return 1 + len(NAMES)

    async def probe(self, referee: Referee, player: Player, report: CheckReport) -> None:
        """Send the bot a greeting and a few states."""
        hello = (await referee.ask({player: greeting(player)}))[player]
        fault = hello if isinstance(hello, Fault) else None
        fix = 'answer the first line with {"ready":true}, within 5 s of the start, and flush it'
        if not report.step("says that it is ready", fault, fix):
            return
        game = Paint()
        state = game.new([str(player), "other"], 1, width=4, height=3, turns=9)
        for name in NAMES:
            answer = await self.show(referee, player, state)
            fault = answer if isinstance(answer, Fault) else None
            if not report.step(name, fault, fix_for(answer)):
                return
            state = game.step(state, {player: answer})

    async def show(self, referee: Referee, player: Player, state: State) -> Action | Fault:
        """Send a state, and return the action or the fault."""
        message = compact(Paint().observe(state, None))
        reader = partial(read_answer, state.turns_left)
        query = Query(LineMessage(message, numbered=True), reader, TURN, action=True)
        answer: Action | Fault = (await referee.ask({player: query}))[player]
        return answer


def fix_for(answer: object) -> str:
    """Return how to fix a fault, or "" if there is none."""
    if not isinstance(answer, Fault):
        return ""
    if answer.kind == "timeout" and "answered turns_left" in answer.detail:
        return "copy turns_left from the state that you answer into the answer"
    if answer.kind == "timeout":
        return f"answer within 0.5 s, and {FLUSH}"
    return f"answer each state with {SHAPE}; {FLUSH}"
