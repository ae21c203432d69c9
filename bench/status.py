"""Benchmark of GET /status vs. fixed bytes of equal length and Flask's development server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from http.client import HTTPConnection
from typing import Final

from bench.client import NO_HEADERS, connect, get
from bench.plain_server import PLAIN, PLAIN_SERVER
from bench.rows import Effort, Goal, NotMeasured, Row, medians, rate
from bench.server import FIXED, running

MOVES: Final = ("--moves", "40")
MID_GAME: Final = (*MOVES, "--timeout", "3600")
"""The clock runs, and `time_left` keeps the same number of digits."""


def rows(effort: Effort) -> list[Row]:
    """Compare requests per second."""
    with (
        running(*MID_GAME) as address,
        running(*MOVES, module=PLAIN) as plain_address,
        closing(connect(address)) as connection,
        closing(connect(plain_address)) as plain,
    ):
        tag = get(connection, "/status").response.headers["ETag"]
        steps = {
            "status": asking(connection, "/status", 200),
            "fixed": asking(connection, FIXED, 200),
            "plain": asking(plain, "/status", 200),
            "unchanged": asking(connection, "/status", 304, {"If-None-Match": tag}),
        }
        runs = {name: partial(rate, step, effort.seconds) for name, step in steps.items()}
        figures = medians(runs, effort.repeats)
    ours = figures["status"]
    return [
        row("GET /status", ours, "fixed bytes", figures["fixed"], Goal(">=", 0.85)),
        row("GET /status, 304", figures["unchanged"], "the 200", ours, Goal(">", 1.0)),
        row("GET /status", ours, PLAIN_SERVER, figures["plain"], Goal(">=", 1.0)),
    ]


def asking(
    connection: HTTPConnection,
    path: str,
    expected: int,
    headers: Mapping[str, str] = NO_HEADERS,
) -> Callable[[], int]:
    """Return the step that makes one request, and fails if another status comes back."""

    def ask() -> int:
        status = get(connection, path, headers).response.status
        if status != expected:
            raise NotMeasured(f"{path} was answered {status}, not {expected}")
        return 1

    return ask


def row(what: str, ours: float, yardstick: str, theirs: float, goal: Goal) -> Row:
    """Make a row of this part."""
    return Row("status", what, ours, "requests/s", yardstick, theirs, goal)
