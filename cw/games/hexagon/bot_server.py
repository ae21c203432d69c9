"""Serves a Hexagon strategy as a web service."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import msgspec

from cw.games.hexagon.codec import move_document
from cw.games.hexagon.state import State
from cw.games.rules import Json, Strategy
from cw.games.wire import BotContext, LineMessage, Reply, Request, as_json

MOST_GAMES: Final = 64
OK: Final = {"status": "ok"}


@dataclass(slots=True)
class ServedMatch:
    """A battle from the bot's point of view."""

    state: State
    strategies: dict[int, Strategy[Any, Any]]


class HexagonBotHandler:
    """Stores battles by id; evicts the oldest when there are too many."""

    def __init__(self, context: BotContext) -> None:
        """Start with no battles."""
        self.context = context
        self.games: dict[str, ServedMatch] = {}

    def answer(self, message: Request | LineMessage) -> Reply:
        """Reply to a request: 404 for an unknown battle, 400 for an unreadable request."""
        if not isinstance(message, Request):
            return as_json({"status": "error"}, 400)
        parts = urlsplit(message.path)
        number = parts.path.removeprefix("/games").strip("/")
        try:
            return self.dispatch(message, number, parse_qs(parts.query))
        except (KeyError, ValueError, TypeError, IndexError, msgspec.DecodeError) as error:
            return as_json({"status": "error", "message": repr(error)}, 400)

    def dispatch(self, call: Request, number: str, query: dict[str, list[str]]) -> Reply:
        """Dispatch a request by its method."""
        if call.method == "POST" and not number:
            return self.open(msgspec.json.decode(call.body or b""))
        if call.method == "DELETE":
            self.games.pop(number, None)
            return as_json(OK)
        if number not in self.games:
            return as_json({"status": "error", "message": f"no game {number}"}, 404)
        game = self.games[number]
        if call.method == "GET":
            return as_json(OK | move_document(self.choose(game, int(query["color"][0]))))
        game.state = changed(game.state, msgspec.json.decode(call.body or b""))
        return as_json(OK)

    def open(self, document: Json) -> Reply:
        """Start a battle, replacing one with the same id."""
        board, jumps = document["board"], (document["jumps"]["1"], document["jumps"]["2"])
        cells = tuple(map(tuple, board["cells"]))
        placed = (2 * jumps[0] + 1, 2 * jumps[1] + 1)
        state = State(board["size"], cells, jumps, placed, 1, None, None)
        while len(self.games) >= MOST_GAMES:
            del self.games[next(iter(self.games))]
        self.games[document["id"]] = ServedMatch(state, {})
        return as_json(OK)

    def choose(self, game: ServedMatch, color: int) -> Any:
        """Choose a move for a colour."""
        strategy = game.strategies.setdefault(color, self.context.make(color))
        return strategy.act(replace(game.state, color=color))


def changed(state: State, document: Json) -> State:
    """Return the state after the changes of a PUT."""
    cells = [list(row) for row in state.cells]
    for row, col, _, new in document["changes"]:
        cells[row][col] = new
    placed = list(state.placed)
    row, col, _, first = document["changes"][0]
    if first:
        placed[first - 1] += 1
    return replace(
        state,
        cells=tuple(map(tuple, cells)),
        jumps=(document["jumps"]["1"], document["jumps"]["2"]),
        placed=(placed[0], placed[1]),
    )
