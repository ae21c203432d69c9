"""Checks for End of Codes bots, starting with the seven sanity checks of the seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from cw.games.end_of_codes.codec import creatures
from cw.games.end_of_codes.protocol import PASSED, TEXTS, Grader, read_created, read_round, sanity
from cw.games.end_of_codes.rules import EndOfCodes
from cw.games.end_of_codes.rules.replies import read_reply
from cw.games.end_of_codes.state import State
from cw.games.rules import Fault, Player
from cw.games.wire import CheckReport, Query, Readiness, Referee, Reply, Transport, Trial, compact

GAME: Final = EndOfCodes()
NAMES: Final = (
    "has a host name",
    "is reachable",
    "accepts connections",
    "answers GET /bot",
    "answers in JSON",
    "says botname, version and username",
    "says the right username",
)
ROUNDS: Final = (
    "answers the first round",
    "answers when its creatures are dead",
    "answers when no other player is left",
)
INTENT: Final = (
    'answer {"intent": [{"creatureid": 1, "action": "move" or "attack", "direction":'
    ' "north", "east", "south" or "west"}]}, only for your own living creatures, one each'
)
ADVICE: Final = {
    "initiate_http_code_not_ok": "answer with status 200; if the bot checks an api_key, give it"
    " by --set NAME.api_key=env:VAR",
    "initiate_username_mismatch": "the username must be the bot's name: put USERNAME= before the"
    " bot, or give --set NAME.username=USERNAME",
}
"""Fixes for errors that may be caused by the command line."""

SMALL: Final[Mapping[str, Any]] = {"M": 10, "MAX_HP": 3}


class EndOfCodesChecks:
    """Runs the sanity checks, single requests, and whole games."""

    trials: Sequence[Trial] = (
        Trial("plays a whole game against the sample bot", SMALL, ("sample",)),
        Trial("plays against three opponents at once", SMALL, ("sample", "sample", "hunter")),
        Trial(
            "plays with many creatures",
            {"M": 150, "MAX_HP": 5, "max_rounds": 5},
            ("sample",) * 9,
        ),
    )

    def steps(self, transport: Transport) -> int:
        """Return 11: the seven sanity checks, POST /game, and three rounds."""
        return len(NAMES) + 1 + len(ROUNDS)

    async def probe(self, referee: Referee, player: Player, report: CheckReport) -> None:
        """Send every kind of request in the protocol."""
        grader = Grader(referee)
        ask = grader.initiation(player, referee.username(player))
        answer = (await referee.ask({player: ask}))[player]
        error = answer.detail if isinstance(answer, Fault) else None
        for name, text, fine in zip(NAMES, TEXTS, sanity(error), strict=True):
            if fine is not None:
                fix = ADVICE.get(error or "", text)
                fault = None if fine else sanity_fault(answer, text)
                report.step(name, fault, fix)
        if error is None:
            await self.game(grader, int(player), report)

    async def ready(self, referee: Referee) -> Mapping[Player, Readiness]:
        """Ask all bots concurrently who they are; return the results of the sanity checks."""
        grader = Grader(referee)
        replies: dict[Player, Reply] = {}
        queries = {
            player: heard_by(grader.initiation(player, referee.username(player)), player, replies)
            for player in referee.names
        }
        answers = await referee.ask(queries)
        return {player: readiness(answers[player], replies.get(player)) for player in referee.names}

    async def game(self, grader: Grader, player: int, report: CheckReport) -> None:
        """Announce a game, and send a few of its rounds."""
        state = GAME.new(2, 1, M=5, MAX_HP=3)
        fields = {
            "gameid": 1,
            "players": compact(
                [{"username": p.username, "userid": p.userid} for p in state.players]
            ),
            "W": state.width,
            "H": state.height,
            "M": 5,
            "MAX_HP": 3,
        }
        ask = grader.post("game", player, fields, read_created)
        answer = (await grader.referee.ask({player: ask}))[player]
        fault = answer if isinstance(answer, Fault) else None
        if not report.step("takes POST /game", fault, "answer with []"):
            return
        alone = replace(state, owners=state.owners * 0 + player)
        dead = replace(state, hp=state.hp * (state.owners != player))
        for name, position in zip(ROUNDS, (state, dead, alone), strict=True):
            if not report.step(name, await self.round(grader, player, position), INTENT):
                return

    async def round(self, grader: Grader, player: int, state: State) -> Fault | None:
        """Send a round, and return what is wrong with the reply, or None."""
        world = compact(creatures(state))
        fields = {
            "round": state.round,
            "map": world,
            "gameid": 1,
            "myid": player,
            "W": state.width,
            "H": state.height,
        }
        ask = grader.post("round", player, fields, read_round)
        answer = (await grader.referee.ask({player: ask}))[player]
        if isinstance(answer, Fault):
            return answer
        intents = read_reply(state, player, answer)
        return intents if isinstance(intents, Fault) else None


def heard_by(query: Query, player: Player, replies: dict[Player, Reply]) -> Query:
    """Return a query that also stores the raw reply."""

    def read(reply: Reply) -> Any:
        replies[player] = reply
        return query.read(reply)

    return replace(query, read=read)


def readiness(answer: Any, reply: Reply | None) -> Readiness:
    """Return the result of the sanity checks."""
    fault = replace(answer, kind="startup") if isinstance(answer, Fault) else None
    judged = sanity(None if fault is None else fault.detail)
    number = judged.count(True)
    failed = "" if fault is None else TEXTS[number]
    return Readiness("GET /bot", PASSED[:number], failed, fault, reply)


def sanity_fault(fault: Fault, text: str) -> Fault:
    """Return the fault of a failed sanity check, with the text of the check.

    The text is about the network of a web service, so it is omitted if a program has ended.
    """
    detail = fault.detail if fault.lasting else f"{fault.detail}: {text}"
    return replace(fault, kind="startup", detail=detail)
