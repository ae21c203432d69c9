"""AI Code Battle for bots: the signed web service, and the events that a bot answers."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any, NoReturn

from bot_server import Reply, Request, serve

Tile = tuple[int, int]
Order = tuple[int, int, str]

DIRECTIONS = {"N": (-1, 0), "E": (0, 1), "S": (1, 0), "W": (0, -1)}
"""The step `(drow, dcol)` of each direction; row grows to the south."""

MAX_MATCHES = 64
"""Matches that are remembered; when one more comes, the oldest is forgotten."""


class Match:
    """A match: `config` holds rows, cols, max_turns, vision_radius2, attack_radius2, spawn_cost
    and energy_interval; `memory` is yours and lives as long as the match.
    """  # noqa: D205

    def __init__(self, match_id: str, config: dict[str, int]) -> None:
        """Make a match that begins."""
        self.match_id = match_id
        self.config = config
        self.memory: Any = None

    def step(self, tile: Tile, direction: str) -> Tile:
        """Give the tile one step away; the grid has no edges."""
        down, right = DIRECTIONS[direction]
        return (tile[0] + down) % self.config["rows"], (tile[1] + right) % self.config["cols"]

    def distance2(self, a: Tile, b: Tile) -> int:
        """Give the squared distance of two tiles."""
        rows, cols = abs(a[0] - b[0]), abs(a[1] - b[1])
        rows, cols = min(rows, self.config["rows"] - rows), min(cols, self.config["cols"] - cols)
        return rows * rows + cols * cols


class View:
    """What you see in a turn; each list holds dictionaries with `row` and `col`.

    `bots` and `dead` have an `owner` (you are 0), `cores` an `owner` and `active`; `energy` are
    the nodes that hold some, `walls` the walls. `you` has `id`, `energy` and `score`.
    """

    def __init__(self, document: dict[str, Any]) -> None:
        """Read a request."""
        self.turn: int = document["turn"]
        self.you: dict[str, int] = document.get("you", {})
        self.bots: list[dict[str, Any]] = document.get("bots", [])
        self.energy: list[dict[str, Any]] = document.get("energy", [])
        self.cores: list[dict[str, Any]] = document.get("cores", [])
        self.walls: list[dict[str, Any]] = document.get("walls", [])
        self.dead: list[dict[str, Any]] = document.get("dead", [])

    def mine(self) -> list[Tile]:
        """Give the tiles of your bots."""
        return [(bot["row"], bot["col"]) for bot in self.bots if bot["owner"] == 0]


class Bot:
    """What you write: `choose`, and whichever of the other events you want to hear of."""

    def on_start(self, match: Match) -> None:
        """Hear of a match for the first time."""

    def choose(self, match: Match, view: View) -> list[Order]:
        """Give your orders as (row, col, direction); bots without one hold."""
        raise NotImplementedError

    def on_end(self, match: Match) -> None:
        """Hear that a match is forgotten, as too many others came after it."""


def run(bot: Bot) -> NoReturn:
    """Serve the bot on PORT, 8080 by default, with the secret BOT_SECRET."""
    secret = os.environ.get("BOT_SECRET") or ""
    if not secret:
        sys.exit("set BOT_SECRET to the secret of your bot, 64 hexadecimal digits")
    serve(_Service(bot, secret.encode()).handle, 8080)


class _Service:
    def __init__(self, bot: Bot, secret: bytes) -> None:
        self.bot = bot
        self.secret = secret
        self.lock = threading.Lock()
        self.matches: dict[str, Match] = {}

    def handle(self, request: Request) -> Reply:
        if (request.method, request.path) == ("GET", "/health"):
            return Reply(200, b'{"status":"ok"}')
        if (request.method, request.path) != ("POST", "/turn"):
            return Reply(404)
        if not self.is_signed(request.headers, request.body):
            return Reply(401)
        document = _document(request.headers, request.body)
        return Reply(400) if document is None else self.play(request.headers, document)

    def sign(self, text: str, body: bytes) -> str:
        text = f"{text}.{hashlib.sha256(body).hexdigest()}"
        return hmac.new(self.secret, text.encode("latin-1"), hashlib.sha256).hexdigest()

    def is_signed(self, headers: Mapping[str, str], body: bytes) -> bool:
        names = ("Match-Id", "Turn", "Timestamp", "Bot-Id", "Signature")
        match_id, turn, timestamp, bot_id, signature = (
            headers.get(f"X-ACB-{name}", "") for name in names
        )
        if not (match_id and bot_id and _is_decimal(turn) and _is_decimal(timestamp)):
            return False
        if abs(int(time.time()) - int(timestamp)) > 30:
            return False
        expected = self.sign(f"{match_id}.{turn}.{timestamp}", body)
        return hmac.compare_digest(signature.encode("latin-1", "replace"), expected.encode())

    def play(self, headers: Mapping[str, str], document: dict[str, Any]) -> Reply:
        match = self.find(document)
        started = time.monotonic()
        orders = self.bot.choose(match, View(document))
        _log(document["turn"], time.monotonic() - started, len(orders))
        moves = [{"row": row, "col": col, "direction": way} for row, col, way in orders]
        body = json.dumps({"moves": moves}, separators=(",", ":")).encode()
        signature = self.sign(f"{headers['X-ACB-Match-Id']}.{headers['X-ACB-Turn']}", body)
        return Reply(200, body, {"X-ACB-Signature": signature})

    def find(self, document: dict[str, Any]) -> Match:
        match_id, forgotten = document["match_id"], None
        with self.lock:
            match = self.matches.get(match_id)
            if match is not None:
                return match
            match = self.matches[match_id] = Match(match_id, document.get("config", {}))
            if len(self.matches) > MAX_MATCHES:
                forgotten = self.matches.pop(next(iter(self.matches)))
        if forgotten is not None:
            self.bot.on_end(forgotten)
        self.bot.on_start(match)
        return match


def _log(turn: int, seconds: float, moves: int) -> None:
    sys.stderr.write(f"turn {turn} {seconds * 1000:.1f} ms {moves} moves\n")
    sys.stderr.flush()


def _is_decimal(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18


def _document(headers: Mapping[str, str], body: bytes) -> dict[str, Any] | None:
    """Read the body; None if it is no JSON object or of another match or turn than the headers."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict):
        return None
    named = (document.get("match_id"), document.get("turn"))
    same = named == (headers["X-ACB-Match-Id"], int(headers["X-ACB-Turn"]))
    return document if same and type(named[1]) is int else None
