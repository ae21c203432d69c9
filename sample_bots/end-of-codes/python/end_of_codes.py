"""End of Codes for bots: the web service, the map, and the events that a bot answers."""

from __future__ import annotations

import hmac
import json
import os
import re
import threading
from typing import Any, NoReturn
from urllib.parse import unquote_plus

from bot_server import Reply, Request, serve

Creature = dict[str, int]
Intent = dict[str, Any]

DIRECTIONS = {"north": (0, 1), "east": (1, 0), "south": (0, -1), "west": (-1, 0)}
"""The step `(dx, dy)` of each direction; y grows to the north."""

MAX_GAMES = 64
"""Games that are remembered; when one more comes, the oldest is forgotten."""


class Game:
    """A game, as it stands in this round.

    `creatures` are dictionaries with `creatureid`, `userid`, `x`, `y` and `hp`, the dead ones
    too; `players` dictionaries with `userid` and `username`. `memory` is yours and lives as long
    as the game. M and MAX_HP are 0 if the game began before this program.
    """

    def __init__(self, gameid: int) -> None:
        """Make a game of which nothing is known yet."""
        self.gameid = gameid
        self.myid = self.round = self.W = self.H = self.M = self.MAX_HP = 0
        self.players: list[dict[str, Any]] = []
        self.creatures: list[Creature] = []
        self.memory: Any = None
        self._living: dict[tuple[int, int], Creature] = {}

    def update(self, creatures: list[Creature]) -> None:
        """Take over the map of a round."""
        self.creatures = creatures
        self._living = {(c["x"], c["y"]): c for c in creatures if c["hp"] > 0}

    def mine(self) -> list[Creature]:
        """Give your living creatures."""
        return [c for c in self._living.values() if c["userid"] == self.myid]

    def at(self, x: int, y: int) -> Creature | None:
        """Give the living creature in a cell, or None."""
        return self._living.get((x, y))

    def is_on_map(self, x: int, y: int) -> bool:
        """Tell whether there is such a cell."""
        return 0 <= x < self.W and 0 <= y < self.H

    def owners_alive(self) -> int:
        """Count the players that have a living creature."""
        return len({c["userid"] for c in self._living.values()})


class Bot:
    """What you write: `choose`, and whichever of the other events you want to hear of."""

    botname = "sample"
    version = "1.0"

    def on_start(self, game: Game) -> None:
        """Hear that a game begins; there are no creatures yet."""

    def choose(self, game: Game) -> list[Intent]:
        """Give your intents, at most one for each of your living creatures."""
        raise NotImplementedError

    def on_end(self, game: Game) -> None:
        """Hear that a game is over; `game` shows how it ended."""


def move(creature: Creature, direction: str) -> Intent:
    """Give the intent to move a creature."""
    return {"creatureid": creature["creatureid"], "action": "move", "direction": direction}


def attack(creature: Creature, direction: str) -> Intent:
    """Give the intent to attack with a creature."""
    return {"creatureid": creature["creatureid"], "action": "attack", "direction": direction}


def run(bot: Bot) -> NoReturn:
    """Serve the bot on PORT, 8801 by default, as BOT_USERNAME; API_KEY is checked if it is set."""
    serve(_Service(bot).handle, 8801)


class _Refusal(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Service:
    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.username = os.environ.get("BOT_USERNAME") or "sample"
        self.api_key = os.environ.get("API_KEY") or ""
        self.lock = threading.Lock()
        self.games: dict[int, Game] = {}

    def handle(self, request: Request) -> Reply:
        try:
            return _reply(200, self.dispatch(request))
        except _Refusal as refusal:
            return _reply(refusal.status, {"error": str(refusal)})

    def dispatch(self, request: Request) -> Any:
        match request.method, request.path:
            case "GET", "/bot":
                self.check_key(request.query)
                return self.identify()
            case "POST", "/game":
                return self.start(self.form(request))
            case "POST", "/round":
                return self.play(self.form(request))
        raise _Refusal(404, f"there is no {request.method} {request.path}")

    def check_key(self, fields: Any) -> None:
        key = fields.get("api_key", "").encode()
        if self.api_key and not hmac.compare_digest(key, self.api_key.encode()):
            raise _Refusal(401, "wrong api_key")

    def identify(self) -> dict[str, str]:
        return {
            "botname": self.bot.botname,
            "version": self.bot.version,
            "username": self.username,
        }

    def form(self, request: Request) -> dict[str, str]:
        fields = _form(request.headers.get("Content-Type") or "", request.body)
        self.check_key(fields)
        if fields.get("method") != "create":
            raise _Refusal(400, "method must be create")
        return fields

    def start(self, fields: dict[str, str]) -> list[Any]:
        game = Game(_integer(fields, "gameid"))
        game.W, game.H = _integer(fields, "W"), _integer(fields, "H")
        game.M, game.MAX_HP = _integer(fields, "M"), _integer(fields, "MAX_HP")
        game.players = _list(fields, "players")
        self.remember(game)
        self.bot.on_start(game)
        return []

    def play(self, fields: dict[str, str]) -> dict[str, Any]:
        number, myid = _integer(fields, "round"), _integer(fields, "myid")
        W, H = _integer(fields, "W"), _integer(fields, "H")  # noqa: N806
        creatures = _list(fields, "map")
        game = self.find(_integer(fields, "gameid"))
        game.round, game.myid, game.W, game.H = number, myid, W, H
        try:
            game.update(creatures)
        except (KeyError, TypeError):
            raise _Refusal(400, "map must be a list of creatures") from None
        if game.owners_alive() < 2:
            self.forget(game.gameid)
            return {"intent": []}
        return {"intent": self.bot.choose(game) if game.mine() else []}

    def find(self, gameid: int) -> Game:
        """Give the game; one that began before this program is made here."""
        with self.lock:
            game = self.games.get(gameid)
        if game is None:
            game = Game(gameid)
            self.remember(game)
        return game

    def remember(self, game: Game) -> None:
        self.forget(game.gameid)
        with self.lock:
            self.games[game.gameid] = game
            oldest = next(iter(self.games)) if len(self.games) > MAX_GAMES else None
        if oldest is not None:
            self.forget(oldest)

    def forget(self, gameid: int) -> None:
        with self.lock:
            game = self.games.pop(gameid, None)
        if game is not None:
            self.bot.on_end(game)


def _reply(status: int, document: Any) -> Reply:
    return Reply(status, json.dumps(document, separators=(",", ":")).encode())


def _form(content_type: str, body: bytes) -> dict[str, str]:
    kind = content_type.partition(";")[0].strip().lower()
    boundary = re.search(r'boundary=(?:"([^"]+)"|([^;\s]+))', content_type, re.IGNORECASE)
    try:
        if kind == "application/x-www-form-urlencoded":
            return _urlencoded(body.decode("ascii"))
        if kind == "multipart/form-data" and boundary:
            return _multipart((boundary[1] or boundary[2]).encode(), body)
    except ValueError:
        pass
    raise _Refusal(400, "the body is not a form")


def _urlencoded(text: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in text.split("&"))
    return {unquote_plus(name): _unquote(value) for name, _, value in pairs}


def _unquote(value: str) -> str:
    """Decode a value; what JSON is made of goes first, as it is nearly all of a large map."""
    if "%25" not in value:
        for code, char in (("%22", '"'), ("%2C", ","), ("%3A", ":"), ("%7B", "{"), ("%7D", "}")):
            value = value.replace(code, char)
    return unquote_plus(value)


def _multipart(boundary: bytes, body: bytes) -> dict[str, str]:
    fields = {}
    for part in (b"\r\n" + body).split(b"\r\n--" + boundary)[1:]:
        head, _, value = part.partition(b"\r\n\r\n")
        name = re.search(rb'name="([^"]*)"', head)
        if name:
            fields[name[1].decode()] = value.decode()
    return fields


def _integer(fields: dict[str, str], name: str) -> int:
    text = fields.get(name, "")
    if not re.fullmatch("[0-9]{1,9}", text):
        raise _Refusal(400, f"{name} must be an integer")
    return int(text)


def _list(fields: dict[str, str], name: str) -> list[Any]:
    try:
        value = json.loads(fields.get(name, ""))
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, list):
        raise _Refusal(400, f"{name} must be a JSON list")
    return value
