"""Benchmark of a class: 50 rooms of two clients and a monitor, 750 requests per second."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection
from random import Random
from statistics import median, quantiles
from time import perf_counter, process_time, sleep
from typing import Any, Final, NamedTuple

from bench.client import NO_HEADERS, Answer, connect, get
from bench.rows import Effort, Goal, Row
from bench.server import FIXED, running
from cw.game import Board

PACE: Final = 0.2
"""Seconds from one request of a visitor to its next."""

GATHERING: Final = 0.5
"""Seconds that the threads have to start before the first request."""

BARE_ROUND_TRIPS: Final = 500
TIMED_OUT: Final = (501, 502)
NO_GAME: Final = Goal("=", 0, "ours")
BELOW_100_MS: Final = Goal("<", 100, "ours")


class Sample(NamedTuple):
    """One request: when it was sent, and the seconds until its answer had been read."""

    sent: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Visit:
    """What a client or monitor has seen of its game."""

    room: str
    samples: Sequence[Sample]
    status_code: int
    """The last one: how the game has ended."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """What all have seen, and what making their requests took."""

    visits: Sequence[Visit]
    start: float
    generator: float
    """The share of one core that the clients and monitors took together."""


class Visitor:
    """A client or monitor of one room, with a connection of its own."""

    def __init__(self, connection: HTTPConnection, room: str, start: float) -> None:
        """Make the first request at `start`."""
        self._connection = connection
        self._room = room
        self._due = start
        self.samples: list[Sample] = []

    def ask(self, path: str, tag: str | None = None) -> Answer:
        """Make a request when it is time for one, and note how long its answer takes."""
        sleep(max(0.0, self._due - perf_counter()))
        self._due += PACE
        headers = {"If-None-Match": tag} if tag else NO_HEADERS
        sent = perf_counter()
        answer = get(self._connection, f"/rooms/{self._room}/{path}", headers)
        self.samples.append(Sample(sent, perf_counter() - sent))
        return answer

    def read(self, path: str) -> Any:
        """Make a request and give the document of its answer."""
        return json.loads(self.ask(path).body)


def play(visitor: Visitor, team: str) -> int:
    """Play a game with random moves as game_ai.py does; give its last status code."""
    rng = Random(team)
    player = visitor.read(f"reg/{team}")["player"]
    status = visitor.read("status")
    while status["status_code"] < 300:
        if status["status_code"] == 200 + player:
            x, y, border = rng.choice(Board.from_status(status).free_borders())
            status = visitor.read(f"move/{team}/{x},{y},{border}")
        else:
            status = visitor.read("status")
    return int(status["status_code"])


def watch(visitor: Visitor) -> int:
    """Poll as the monitor does, with the last ETag; give the last status code."""
    code, tag = 100, None
    while code < 300:
        answer = visitor.ask("status", tag)
        if answer.response.status == 200:
            code = int(json.loads(answer.body)["status_code"])
            tag = answer.response.headers["ETag"]
    return code


def visit(address: str, room: str, start: float, attend: Callable[[Visitor], int]) -> Visit:
    """Attend a game until it is over."""
    with closing(connect(address)) as connection:
        visitor = Visitor(connection, room, start)
        code = attend(visitor)
    return Visit(room, visitor.samples, code)


def hold(address: str, rooms: int) -> Lesson:
    """Play and watch a game in each room, all at once, until all are over."""
    rng = Random(1)
    attends = (lambda v: play(v, "alice"), lambda v: play(v, "bob"), watch)
    start, busy = perf_counter() + GATHERING, process_time()
    with ThreadPoolExecutor(rooms * len(attends)) as threads:
        # Each begins at a moment of its own, or they would all poll in step.
        visits = [
            threads.submit(visit, address, f"table-{room}", start + rng.uniform(0, PACE), attend)
            for room in range(rooms)
            for attend in attends
        ]
    generator = (process_time() - busy) / (perf_counter() - start)
    return Lesson([future.result() for future in visits], start, generator)


def rows(effort: Effort) -> list[Row]:
    """Hold a lesson and report time-outs, latency and load."""
    with running("--size", str(effort.size)) as address:
        # Before and after, because nothing can be measured bare while the class is on.
        bare = bare_round_trips(address)
        lesson = hold(address, effort.rooms)
        bare += bare_round_trips(address)
    return report(lesson, effort.rooms, median(bare) * 1000)


def bare_round_trips(address: str) -> list[float]:
    """Time requests for the fixed bytes over one connection, with nobody else on the server."""
    seconds = []
    with closing(connect(address)) as connection:
        for _ in range(BARE_ROUND_TRIPS):
            sent = perf_counter()
            get(connection, FIXED)
            seconds.append(perf_counter() - sent)
    return seconds


def report(lesson: Lesson, rooms: int, bare: float) -> list[Row]:
    """Make the rows; `bare` is in milliseconds."""
    latencies = [sample.seconds * 1000 for visit in lesson.visits for sample in visit.samples]
    late = {visit.room for visit in lesson.visits if visit.status_code in TIMED_OUT}
    p99 = quantiles(latencies, n=100)[-1]
    asked = 3 * rooms / PACE
    trip = "bare round trip, median"
    row = partial(Row, "classroom")
    return [
        row("games ended by time-out", len(late), "games", "games played", rooms, NO_GAME),
        row("latency, median", median(latencies), "ms", trip, bare),
        row("latency, p99", p99, "ms", trip, bare, BELOW_100_MS),
        row("latency, max", max(latencies), "ms", trip, bare),
        row("requests reached", reached(lesson), "requests/s", "the protocol's pace", asked),
        row("load generator", lesson.generator, "cores", "one core", 1),
    ]


def reached(lesson: Lesson) -> float:
    """Return the requests per second while all were there: until the first game was over."""
    begin = lesson.start + PACE
    end = min(visit.samples[-1].sent for visit in lesson.visits)
    sent = sum(begin <= sample.sent < end for visit in lesson.visits for sample in visit.samples)
    return sent / (end - begin)
