"""Benchmark of a whole match of two game_ai.py processes vs. round trips and a plain server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from itertools import count
from time import perf_counter
from typing import Final
from urllib.parse import urlsplit

import requests

from bench.client import connect, get
from bench.plain_server import PLAIN, PLAIN_SERVER
from bench.rows import Effort, Goal, NotMeasured, Row, medians, rate
from bench.server import FIXED, first_line, running
from cw.assets import asset

BARE: Final = 0.3
"""Seconds of bare round trips after each match, about as long as the match."""


def rows(effort: Effort) -> list[Row]:
    """Compare moves per second with round trips per second."""
    with (
        running() as address,
        running(module=PLAIN) as plain_address,
        requests.Session() as session,
    ):
        # As in game_ai.py: no proxy of the environment is asked.
        session.trust_env = False
        runs: dict[str, Callable[[], float]] = {
            "match": matches(address),
            "plain": partial(play, plain_address),
            "bare": partial(rate, round_trip(session, address), BARE),
        }
        figures = medians(runs, effort.matches)
    what, ours = "game_ai.py against itself, CW_PAUSE=0", figures["match"]
    return [
        Row("match", what, ours, "moves/s", "bare round trips/s", figures["bare"]),
        Row("match", what, ours, "moves/s", PLAIN_SERVER, figures["plain"], Goal(">=", 1.0)),
    ]


def round_trip(session: requests.Session, address: str) -> Callable[[], int]:
    """Return the step that asks for the fixed bytes."""

    def ask() -> int:
        session.get(f"{address}{FIXED}", timeout=10).raise_for_status()
        return 1

    return ask


def matches(address: str) -> Callable[[], float]:
    """Return a function that plays a match, each in a room of its own."""
    names = map("match-{}".format, count(1))
    return lambda: play(f"{address}/rooms/{next(names)}")


def play(game: str) -> float:
    """Play a match and give its moves per second, from the second seat taken to the end seen."""
    with client(game, "alice") as alice:
        for _ in ("that it is player 1", "that it waits"):
            first_line(alice)
        with client(game, "bob") as bob:
            first_line(bob)
            start = perf_counter()
            first_line(alice)
            seconds = perf_counter() - start
    return number_of_moves(game) / seconds


@contextmanager
def client(game: str, team: str) -> Iterator[subprocess.Popen[str]]:
    """Run game_ai.py for a team while the block runs."""
    settings = {"CW_SERVER": game, "CW_PAUSE": "0", "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [sys.executable, str(asset("game_ai.py")), team],
        env=os.environ | settings,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def number_of_moves(game: str) -> int:
    """Count the moves of a match; it must have ended by its rules."""
    path = urlsplit(game).path
    with closing(connect(game)) as connection:
        code = json.loads(get(connection, f"{path}/status").body)["status_code"]
        if code not in (301, 302):
            raise NotMeasured(f"the match has ended with status {code}")
        return len(json.loads(get(connection, f"{path}/history").body)["moves"])
