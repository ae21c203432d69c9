"""Serves a Code Battle strategy as a program, or as a web service with signatures both ways."""

from __future__ import annotations

import hmac
import re
from typing import Any, Final

import msgspec

from cw.games.code_battle.protocol import signature
from cw.games.code_battle.rules.state import Config
from cw.games.code_battle.rules.turn import SeenCore, View
from cw.games.rules import Json, Strategy
from cw.games.wire import BotContext, LineMessage, Reply, Request, as_json, compact

MOST_MATCHES: Final = 64
SKEW: Final = 30
"""Seconds by which a request's timestamp may differ from the local clock."""

NAMES: Final = ("match-id", "turn", "timestamp", "signature")
DECIMAL: Final = re.compile(r"[0-9]{1,15}")


class CodeBattleBotHandler:
    """Keeps one strategy per match id; evicts the oldest match when there are too many."""

    def __init__(self, context: BotContext) -> None:
        """Start with no matches."""
        self.context = context
        self.matches: dict[str, Strategy[Any, Any]] = {}

    def answer(self, message: Request | LineMessage) -> Reply | None:
        """Reply to a request or a line."""
        if isinstance(message, LineMessage):
            return Reply(compact({"moves": self.moves(msgspec.json.decode(message.text))}))
        if (message.method, message.path) == ("GET", "/health"):
            return as_json({"status": "ok"})
        if (message.method, message.path) != ("POST", "/turn"):
            return Reply(b"", 404)
        return self.turn(message)

    def turn(self, call: Request) -> Reply:
        """Reply to a turn: 401 for a wrong signature, 400 for a body not matching its headers."""
        headers = {name.lower(): value for name, value in call.headers.items()}
        match, turn, timestamp, sent_signature = (
            headers.get(f"x-acb-{name}", "") for name in NAMES
        )
        body, secret = call.body or b"", self.context.settings.get("secret", "")
        if not (DECIMAL.fullmatch(turn) and DECIMAL.fullmatch(timestamp)):
            return Reply(b"", 401)
        expected = signature(secret, f"{match}.{turn}.{timestamp}", body)
        signed = hmac.compare_digest(sent_signature.encode(errors="replace"), expected.encode())
        if not signed or abs(self.context.now() - int(timestamp)) > SKEW:
            return Reply(b"", 401)
        try:
            document = msgspec.json.decode(body)
            if (document["match_id"], document["turn"]) != (match, int(turn)):
                return Reply(b"", 400)
            answer = compact({"moves": self.moves(document)})
        except (msgspec.DecodeError, KeyError, TypeError, ValueError):
            return Reply(b"", 400)
        mark = signature(secret, f"{match}.{turn}", answer)
        headers = {"Content-Type": "application/json", "X-ACB-Signature": mark}
        return Reply(answer, 200, headers)

    def moves(self, document: Json) -> list[Json]:
        """Return the moves for a request, and log how long they took."""
        match = document["match_id"]
        if match not in self.matches:
            while len(self.matches) >= MOST_MATCHES:
                del self.matches[next(iter(self.matches))]
            self.matches[match] = self.context.make(0)
        began = self.context.now()
        moves: list[Json] = self.matches[match].act(read_view(document))
        milliseconds = (self.context.now() - began) * 1000
        self.context.log(f"turn {document['turn']} {milliseconds:.1f} ms {len(moves)} moves")
        return moves


def read_view(document: Json) -> View:
    """Return the view in the body of a request."""
    config = Config(**document["config"])

    def tile(entry: Json) -> int:
        return int(entry["row"] * config.cols + entry["col"])

    def owned(name: str) -> tuple[tuple[int, int], ...]:
        return tuple((tile(entry), entry["owner"]) for entry in document[name])

    return View(
        config=config,
        turn=document["turn"],
        energy=document["you"]["energy"],
        score=document["you"]["score"],
        bots=owned("bots"),
        nodes=tuple(map(tile, document["energy"])),
        cores=tuple(SeenCore(tile(e), e["owner"], e["active"]) for e in document["cores"]),
        walls=tuple(map(tile, document["walls"])),
        dead=owned("dead"),
    )
