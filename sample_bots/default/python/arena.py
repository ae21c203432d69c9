"""The default protocol for bots: questions as lines or as requests, and one bot for each match."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from bot_server import Reply, Request, serve

PORT = 3000
MOST_BOTS = 64
"""Seats of matches that are remembered; the oldest makes way."""


class Question:
    """What your player sees, and who it is in this match.

    `view` is all that it may know. `actions` lists actions that are allowed: all of them where the
    game lists them, else examples. `turn` counts the turns played before; `match` is the same in
    all questions of a match.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        """Read a question; raises KeyError and TypeError if it is none."""
        self.game: str = document["game"]
        self.match: str = document["match"]
        self.player: int | str = document["player"]
        self.turn: int = document["turn"]
        self.view: Any = document["view"]
        self.actions: list[Any] = document["actions"]


class Bot:
    """What you write: `choose`. Each match has a bot of its own, which may remember what it saw."""

    def choose(self, question: Question) -> object:
        """Give your action; there is 1 s for it, unless the match allows another time."""
        raise NotImplementedError


def run(make: Callable[[], Bot]) -> NoReturn:
    """Play: as a web service where PORT or BOT_PORT says so, else on standard input and output."""
    seats = _Seats(make)
    if os.environ.get("PORT") or os.environ.get("BOT_PORT"):
        serve(seats.answer_request, PORT)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    for line in sys.stdin.buffer:
        seats.answer_line(line)
    sys.exit(0)


class _Seats:
    """The bots of all matches, by match and player."""

    def __init__(self, make: Callable[[], Bot]) -> None:
        self.make = make
        self.bots: dict[tuple[str, int | str], Bot] = {}

    def answer_line(self, line: bytes) -> None:
        started = time.monotonic()
        try:
            question = Question(json.loads(line))
        except (ValueError, KeyError, TypeError, RecursionError):
            print("skipped an unreadable line", file=sys.stderr, flush=True)
            return
        answer = json.dumps(self.answer(question))
        ms = (time.monotonic() - started) * 1000
        print(f"turn {question.turn}: {answer} {ms:.1f} ms", file=sys.stderr, flush=True)
        print(answer, flush=True)

    def answer_request(self, request: Request) -> Reply:
        if (request.method, request.path) != ("POST", "/act"):
            return Reply(404)
        try:
            question = Question(json.loads(request.body))
        except (ValueError, KeyError, TypeError, RecursionError):
            return Reply(400)
        return Reply(200, json.dumps(self.answer(question)).encode())

    def answer(self, question: Question) -> dict[str, object]:
        key = question.match, question.player
        while key not in self.bots and len(self.bots) >= MOST_BOTS:
            del self.bots[next(iter(self.bots))]
        bot = self.bots.setdefault(key, self.make())
        return {"turn": question.turn, "action": bot.choose(question)}
