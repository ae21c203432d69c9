"""Serves an End of Codes strategy as a web service."""

from __future__ import annotations

import hmac
from email import message_from_bytes
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import msgspec

from cw.games.end_of_codes.codec import read_state
from cw.games.rules import Strategy
from cw.games.wire import BotContext, LineMessage, Reply, Request, as_json

MOST_GAMES: Final = 64
VERSION: Final = "1.0"


class EndOfCodesBotHandler:
    """Keeps one strategy per game and player; evicts the oldest when there are too many."""

    def __init__(self, context: BotContext) -> None:
        """Start with no games."""
        self.context = context
        self.games: dict[tuple[str, str], Strategy[Any, Any]] = {}

    def answer(self, message: Request | LineMessage) -> Reply:
        """Reply to a request: 403 without the right key, 404 for other paths."""
        if not isinstance(message, Request):
            return as_json({"error": "no request"}, 400)
        parts = urlsplit(message.path)
        fields = form(message) if message.method == "POST" else query(parts.query)
        key = self.context.settings.get("api_key")
        if key is not None and not hmac.compare_digest(
            fields.get("api_key", "").encode(), key.encode()
        ):
            return as_json({"error": "wrong api_key"}, 403)
        if parts.path == "/bot":
            username = self.context.settings.get("username", "player")
            return as_json({"botname": "builtin", "version": VERSION, "username": username})
        if parts.path == "/game":
            return as_json([])
        return self.play(fields) if parts.path == "/round" else as_json({"error": "path"}, 404)

    def play(self, fields: dict[str, str]) -> Reply:
        """Reply to a round."""
        world = msgspec.json.decode(fields["map"])
        hp = max((creature["hp"] for creature in world), default=1)
        state = read_state(
            {
                "round": int(fields["round"]),
                "W": int(fields["W"]),
                "H": int(fields["H"]),
                "MAX_HP": max(hp, 1),
                "players": [
                    {"userid": user, "username": f"player{user}"}
                    for user in sorted({creature["userid"] for creature in world})
                ],
                "creatures": world,
            }
        )
        place = fields["gameid"], fields["myid"]
        if place not in self.games:
            while len(self.games) >= MOST_GAMES:
                del self.games[next(iter(self.games))]
            self.games[place] = self.context.make(int(fields["myid"]))
        return as_json(self.games[place].act(state))


def query(text: str) -> dict[str, str]:
    """Parse the variables in the query string of a URL, or in a form."""
    return {name: values[-1] for name, values in parse_qs(text, max_num_fields=32).items()}


def form(call: Request) -> dict[str, str]:
    """Parse the body of a form, in either encoding."""
    kind = next((v for name, v in call.headers.items() if name.lower() == "content-type"), "")
    body = call.body or b""
    if not kind.startswith("multipart/form-data"):
        return query(body.decode())
    message = message_from_bytes(f"Content-Type: {kind}\r\n\r\n".encode() + body)
    fields = {}
    for part in message.walk():
        name = part.get_param("name", header="content-disposition")
        payload = part.get_payload(decode=True)
        if isinstance(name, str) and isinstance(payload, bytes):
            fields[name] = payload.decode()
    return fields
