"""Hexagon for bots: the web service, the board, and the events that a bot answers."""

from __future__ import annotations

import json
import threading
from typing import Any, NoReturn

from bot_server import Reply, Request, serve

Cell = tuple[int, int]
Move = tuple[Cell, Cell]

MAX_GAMES = 64
"""Games that are remembered; when one more comes, the oldest is forgotten."""

NEAR_EVEN = ((-1, -1), (-1, 0), (0, -1), (0, 1), (1, -1), (1, 0))
NEAR_ODD = ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, 0), (1, 1))
FAR_ALWAYS = ((-2, -1), (-2, 0), (-2, 1), (0, -2), (0, 2), (2, -1), (2, 0), (2, 1))
FAR_EVEN = (*FAR_ALWAYS, (-1, -2), (-1, 1), (1, -2), (1, 1))
FAR_ODD = (*FAR_ALWAYS, (-1, -1), (-1, 2), (1, -1), (1, 2))
OFFSETS = {1: (NEAR_EVEN, NEAR_ODD), 2: (FAR_EVEN, FAR_ODD)}
"""Steps `(di, dj)` by distance, for even rows and for odd rows."""


class Board:
    """A game: `cells[i][j]` is -1 stone, 0 empty, 1 or 2 a chip of that colour.

    `jumps[color]` is how many jumps a colour may make now, `placed[color]` how many chips it has
    placed; `memory` is yours and lives as long as the game.
    """

    def __init__(self, id: str, cells: list[list[int]], jumps: dict[int, int]) -> None:  # noqa: A002
        """Make the board of a game that begins."""
        self.id = id
        self.size = (len(cells) + 1) // 2
        self.cells = cells
        self.jumps = jumps
        self.placed = {color: sum(row.count(color) for row in cells) for color in (1, 2)}
        self.memory: Any = None

    def copy(self) -> Board:
        """Give an independent board, to try moves on; it shares the memory."""
        made = Board(self.id, [list(row) for row in self.cells], dict(self.jumps))
        made.placed, made.memory = dict(self.placed), self.memory
        return made

    def neighbours(self, cell: Cell, distance: int) -> list[Cell]:
        """Give the cells of the array at distance 1 or 2."""
        side = len(self.cells)
        near = [(cell[0] + i, cell[1] + j) for i, j in OFFSETS[distance][cell[0] % 2]]
        return [(i, j) for i, j in near if 0 <= i < side and 0 <= j < side]

    def legal_moves(self, color: int) -> list[Move]:
        """Give all moves of a colour, as (move_from, move_to)."""
        distances = (1, 2) if self.jumps[color] > 0 else (1,)
        return [
            ((i, j), target)
            for i, row in enumerate(self.cells)
            for j, value in enumerate(row)
            if value == color
            for distance in distances
            for target in self.neighbours((i, j), distance)
            if self.cells[target[0]][target[1]] == 0
        ]

    def play(self, color: int, move: Move) -> list[list[int]]:
        """Make a legal move; give what it changed, as `[i, j, old, new]`."""
        move_from, move_to = move
        changes = [[*move_to, 0, color]]
        if move_to in self.neighbours(move_from, 1):
            self.placed[color] += 1
            self.jumps[color] += self.placed[color] % 2 == 0
        else:
            self.jumps[color] -= 1
            changes.insert(0, [*move_from, color, 0])
        near = sorted(self.neighbours(move_to, 1))
        changes += [[i, j, 3 - color, color] for i, j in near if self.cells[i][j] == 3 - color]
        self.write(changes)
        return changes

    def write(self, changes: list[list[int]]) -> None:
        """Write changes to the cells."""
        for i, j, _, new in changes:
            self.cells[i][j] = new


class Bot:
    """What you write: `choose`, and whichever of the other events you want to hear of."""

    def on_start(self, board: Board, color: int, training: bool) -> None:
        """Hear that a game begins, and which colour is yours."""

    def choose(self, board: Board, color: int, jumps: int) -> Move:
        """Give your move, as (move_from, move_to); `jumps` is how many jumps you have."""
        raise NotImplementedError

    def on_changes(self, board: Board, changes: list[list[int]]) -> None:
        """Hear what a move has changed, yours or the opponent's; it is on the board already."""

    def on_end(self, board: Board) -> None:
        """Hear that a game is over."""


def run(bot: Bot) -> NoReturn:
    """Serve the bot on PORT, 3000 by default."""
    serve(_Service(bot).handle, 3000)


class _Refusal(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Service:
    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.lock = threading.Lock()
        self.games: dict[str, Board] = {}

    def handle(self, request: Request) -> Reply:
        try:
            return _reply(200, {"status": "ok"} | self.dispatch(request))
        except _Refusal as refusal:
            return _reply(refusal.status, {"status": "error", "message": str(refusal)})

    def dispatch(self, request: Request) -> dict[str, Any]:
        parts = request.path.split("/")
        if request.method == "POST" and request.path == "/games":
            return self.post(_document(request.body))
        if len(parts) != 3 or parts[1] != "games":
            raise _Refusal(404, f"there is no {request.path}")
        if request.method == "GET":
            return self.get(self.find(parts[2]), request.query.get("color"))
        if request.method == "PUT":
            return self.put(self.find(parts[2]), _document(request.body))
        if request.method == "DELETE":
            return self.delete(parts[2])
        raise _Refusal(404, f"there is no {request.method} {request.path}")

    def find(self, id: str) -> Board:  # noqa: A002
        with self.lock:
            if id not in self.games:
                raise _Refusal(404, f"there is no game {id}")
            return self.games[id]

    def post(self, document: dict[str, Any]) -> dict[str, Any]:
        try:
            board = Board(str(document["id"]), _cells(document), _jumps(document))
            color = 1 if document["first_turn"] else 2
        except (KeyError, TypeError, ValueError):
            raise _Refusal(400, "this is not a valid game") from None
        self.delete(board.id)
        with self.lock:
            self.games[board.id] = board
            oldest = next(iter(self.games)) if len(self.games) > MAX_GAMES else None
        if oldest is not None:
            self.delete(oldest)
        self.bot.on_start(board, color, bool(document.get("training")))
        return {}

    def get(self, board: Board, color: str | None) -> dict[str, Any]:
        if color not in {"1", "2"}:
            raise _Refusal(400, "color must be 1 or 2")
        if not board.legal_moves(int(color)):
            raise _Refusal(409, f"colour {color} has no legal move")
        move_from, move_to = self.bot.choose(board, int(color), board.jumps[int(color)])
        return {"move_from": move_from, "move_to": move_to}

    def put(self, board: Board, document: dict[str, Any]) -> dict[str, Any]:
        try:
            changes, jumps = _changes(document, len(board.cells)), _jumps(document)
        except (KeyError, TypeError, ValueError):
            raise _Refusal(400, "the changes are invalid") from None
        board.write(changes)
        board.jumps = jumps
        if changes and changes[0][3] in board.placed:
            board.placed[changes[0][3]] += 1
        self.bot.on_changes(board, changes)
        return {}

    def delete(self, id: str) -> dict[str, Any]:  # noqa: A002
        with self.lock:
            board = self.games.pop(id, None)
        if board is not None:
            self.bot.on_end(board)
        return {}


def _reply(status: int, document: dict[str, Any]) -> Reply:
    return Reply(status, json.dumps(document, separators=(",", ":")).encode())


def _document(body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise _Refusal(400, "the body is not a JSON object")
    return document


def _cells(document: dict[str, Any]) -> list[list[int]]:
    cells = [[int(value) for value in row] for row in document["board"]["cells"]]
    if len(cells) % 2 == 0 or any(len(row) != len(cells) for row in cells):
        raise ValueError
    return cells


def _jumps(document: dict[str, Any]) -> dict[int, int]:
    return {color: int(document["jumps"][str(color)]) for color in (1, 2)}


def _changes(document: dict[str, Any], side: int) -> list[list[int]]:
    changes = [[int(value) for value in change] for change in document["changes"]]
    for i, j, _, _ in changes:
        if not (0 <= i < side and 0 <= j < side):
            raise ValueError
    return changes
