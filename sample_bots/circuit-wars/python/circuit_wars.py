"""Circuit Wars for bots: the loop that plays a game over HTTP, the board, and its events."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import urllib.error
import urllib.request
from typing import Any, NoReturn

Segment = tuple[int, int, str]

BORDERS = {"top": 1, "right": 2, "bottom": 4, "left": 8}
"""The bit of each side of a square."""

_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Board:
    """The board: `squares[y][x]` has a bit for each drawn side, 16 or 32 for its owner 1 or 2."""

    def __init__(self, squares: list[list[int]]) -> None:
        """Take over the squares of a status."""
        self.size = len(squares)
        self.squares = squares

    def has_border(self, x: int, y: int, border: str) -> bool:
        """Tell whether this side of the square is drawn."""
        return bool(self.squares[y][x] & BORDERS[border])

    def owner(self, x: int, y: int) -> int:
        """Tell who owns the square: 0 nobody, 1 or 2."""
        return self.squares[y][x] >> 4

    def free_segments(self) -> list[Segment]:
        """Give every free segment once, as (x, y, border)."""
        sides = [
            (x, y, border)
            for y in range(self.size)
            for x in range(self.size)
            if not self.owner(x, y)
            for border in self._own_sides(x, y)
        ]
        return [side for side in sides if not self.has_border(*side)]

    def _own_sides(self, x: int, y: int) -> list[str]:
        """Name the sides of a square that no square to the right or below names too."""
        last = self.size - 1
        return ["top", "left"] + ["right"] * (x == last) + ["bottom"] * (y == last)


class Bot:
    """What you write: `choose`, and whichever of the other events you want to hear of."""

    def on_start(self, player: int) -> None:
        """Hear that you are player 1 or 2."""

    def choose(self, board: Board, player: int) -> Segment:
        """Give the free segment to draw, as (x, y, border)."""
        raise NotImplementedError

    def on_end(self, status: dict[str, Any]) -> None:
        """Hear how the game ended."""


def run(bot: Bot) -> NoReturn:
    """Register at CW_SERVER as the team of the command line or TEAM_ID, and play one game."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    team = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("TEAM_ID") or "sample"
    answer = _ask(f"reg/{team}")
    if answer.get("response") != "OK":
        sys.exit(f"not registered as {team}: {answer.get('message', answer.get('error'))}")
    player = answer["player"]
    print(f"{team} is player {player}. Watch the game at {_server()}/", flush=True)
    bot.on_start(player)
    status = _play(bot, team, player)
    bot.on_end(status)
    print(f"{status['status']}, {status['score_1']} to {status['score_2']}.")
    print("You won." if winner(status["status_code"]) == player else "You lost.")
    sys.exit(0)


def winner(status_code: int) -> int:
    """Tell who won: 301 is a win of player 1, 401 and 501 are a loss."""
    return status_code % 10 if status_code < 400 else 3 - status_code % 10


def _play(bot: Bot, team: str, player: int) -> dict[str, Any]:
    while True:
        _pause()
        status = _ask("status")
        if status["status_code"] == 200 + player:
            x, y, border = bot.choose(Board(status["board"]), player)
            _pause()
            status = _ask(f"move/{team}/{x},{y},{border}")
        if status["status_code"] >= 300:
            return status


def _pause() -> None:
    time.sleep(float(os.environ.get("CW_PAUSE") or 0.2))


def _server() -> str:
    return (os.environ.get("CW_SERVER") or "http://127.0.0.1:5000").rstrip("/")


def _ask(path: str) -> dict[str, Any]:
    """Request a route and give its JSON; exit with a message if there is none."""
    started = time.monotonic()
    try:
        with _OPENER.open(f"{_server()}/{path}", timeout=10) as reply:
            status, body = reply.status, reply.read()
    except urllib.error.HTTPError as error:
        status, body = error.code, error.read()
    except OSError as error:
        sys.exit(f"there is no server at {_server()}: {error}")
    milliseconds = (time.monotonic() - started) * 1000
    print(f"GET /{path} {status} {milliseconds:.1f} ms", file=sys.stderr, flush=True)
    try:
        return dict(json.loads(body))
    except (ValueError, TypeError):
        sys.exit(f"the server at {_server()} did not answer /{path} with JSON")
