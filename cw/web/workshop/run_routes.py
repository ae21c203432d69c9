"""What a workshop does with its bot: runs, questions, series and checks."""

from __future__ import annotations

from typing import Annotated

import msgspec
from flask import Blueprint, Response, abort
from msgspec import Meta

from cw.web.workshop.desk import MOST_SEED, Desk
from cw.web.workshop.telling import (
    answer_document,
    check_document,
    run_document,
    series_document,
    turn_document,
)
from cw.web.workshop.workshop_routes import body, find, fresh, reply

routes = Blueprint("workshop_runs", __name__, url_prefix="/workshop/<game:game>")

Turn = Annotated[int, Meta(ge=0, le=1_000_000)]


class WantedRun(msgspec.Struct, frozen=True):
    """Which match a page asks for."""

    opponent: str
    seat: int = 1
    seed: Annotated[int, Meta(ge=0, le=MOST_SEED)] | None = None
    """None for a new one."""


class WantedSeries(msgspec.Struct, frozen=True):
    """Which series a page asks for."""

    opponent: str
    matches: int


class WantedAnswer(msgspec.Struct, frozen=True):
    """About which turn the bot is asked again."""

    turn: Turn


@routes.post("/run")
def run(game: str) -> Response:
    """Begin a match of the bot in the place of the one before."""
    desk, wanted = find(game), body(WantedRun)
    begun = desk.begin(wanted.opponent, wanted.seat, wanted.seed)
    return reply({"match": begun.match.name, "seed": begun.match.spec.seed}, 201)


@routes.get("/run")
def running(game: str) -> Response:
    """Return how the run stands, with the output and the lines it complains of; 404 before one."""
    desk = find(game)
    if desk.run is None:
        abort(404, "nothing was run yet")
    return reply(run_document(desk.run, names(desk)))


@routes.post("/stop")
def stop(game: str) -> Response:
    """End the run; afterwards none of its processes runs."""
    find(game).stop()
    return reply({})


@routes.get("/run/turns/<int:turn>")
def turn(game: str, turn: int) -> Response:
    """Return what the bot was asked in a turn of the run, and what it answered."""
    desk = find(game)
    if desk.run is None:
        abort(404, "nothing was run yet")
    return reply(turn_document(desk.run, turn))


@routes.post("/ask")
def ask(game: str) -> Response:
    """Ask the bot as it is now about a turn of the run, after all turns before it."""
    desk, wanted = find(game), body(WantedAnswer)
    return reply(answer_document(desk.ask_again(wanted.turn), names(desk)))


@routes.post("/series")
def begin_series(game: str) -> Response:
    """Begin a series in the place of the one before."""
    desk, wanted = find(game), body(WantedSeries)
    desk.begin_series(wanted.opponent, wanted.matches)
    return reply({}, 201)


@routes.get("/series")
def series(game: str) -> Response:
    """Return how the series stands."""
    desk = find(game)
    return reply(series_document(desk.series_work, desk.series))


@routes.post("/series/stop")
def stop_series(game: str) -> Response:
    """End the series; its matches so far can be looked at."""
    find(game).series_work.stop()
    return reply({})


@routes.get("/series/<int:number>/document")
def series_match(game: str, number: int) -> Response:
    """Return the replay of a match of the series, packed."""
    desk = find(game)
    match = None if desk.series is None else desk.series.find(number)
    if match is None:
        abort(404, "the series has no such match")
    answer = Response(match.file.read_bytes(), content_type="application/json")
    answer.headers["Content-Encoding"] = "gzip"
    return fresh(answer)


@routes.post("/check")
def begin_check(game: str) -> Response:
    """Begin a check in the place of the one before."""
    find(game).begin_check()
    return reply({}, 201)


@routes.get("/check")
def check(game: str) -> Response:
    """Return how the check stands."""
    desk = find(game)
    return reply(check_document(desk.check_work, desk.check))


@routes.post("/check/stop")
def stop_check(game: str) -> Response:
    """End the check."""
    find(game).check_work.stop()
    return reply({})


def names(desk: Desk) -> list[str]:
    """Return the names of the files that marks may be in."""
    return desk.project.folder.names()
