"""The tasks of a workshop for its bot: runs, queries, series and checks."""

from __future__ import annotations

import msgspec
from flask import Blueprint, Response, abort, current_app

from cw.web.workshop.desk import Desk, FindDesk, Turn, WantedRun
from cw.web.workshop.workshop_routes import body, fresh, reply

routes = Blueprint("workshop_runs", __name__, url_prefix="/workshop/<game:game>")

NO_RUN = "nothing has been run yet"


class WantedSeries(msgspec.Struct, frozen=True):
    """The series that a page asks for."""

    opponent: str
    matches: int


class WantedAnswer(msgspec.Struct, frozen=True):
    """The turn about which the bot is asked again."""

    turn: Turn


def find(game: str) -> Desk:
    """Return the current user's desk for a game."""
    desks: FindDesk = current_app.extensions["desks"]
    return desks(game)


@routes.post("/run")
def run(game: str) -> Response:
    """Begin a match of the bot in place of the previous one."""
    desk, wanted = find(game), body(WantedRun)
    return reply(desk.begin_run(wanted), 201)


@routes.get("/run")
def running(game: str) -> Response:
    """Return the state of the run, with its output and the code lines in it; 404 before one."""
    return reply(find(game).run() or abort(404, NO_RUN))


@routes.post("/stop")
def stop(game: str) -> Response:
    """End the run."""
    find(game).end_run()
    return reply({})


@routes.get("/run/turns/<int:turn>")
def turn(game: str, turn: int) -> Response:
    """Return what the bot was asked in a turn of the run, and what it answered."""
    return reply(find(game).turn(turn) or abort(404, NO_RUN))


@routes.post("/ask")
def ask(game: str) -> Response:
    """Ask the bot as it is now about a turn of the run, after all turns before it."""
    desk, wanted = find(game), body(WantedAnswer)
    desk.begin_ask(wanted.turn)
    return reply({}, 201)


@routes.get("/ask")
def answer(game: str) -> Response:
    """Return what the bot answers now, once it has."""
    return reply(find(game).answer())


@routes.post("/series")
def begin_series(game: str) -> Response:
    """Begin a series in place of the previous one."""
    desk, wanted = find(game), body(WantedSeries)
    desk.begin_series(wanted.opponent, wanted.matches)
    return reply({}, 201)


@routes.get("/series")
def series(game: str) -> Response:
    """Return the state of the series."""
    return reply(find(game).series())


@routes.post("/series/stop")
def stop_series(game: str) -> Response:
    """End the series; its matches so far stay available."""
    find(game).end_series()
    return reply({})


@routes.get("/series/<int:number>/document")
def series_match(game: str, number: int) -> Response:
    """Return the gzipped replay of a match of the series."""
    packed = find(game).series_match(number)
    if packed is None:
        abort(404, "the series has no such match")
    answer = Response(packed, content_type="application/json")
    answer.headers["Content-Encoding"] = "gzip"
    return fresh(answer)


@routes.post("/check")
def begin_check(game: str) -> Response:
    """Begin a check in place of the previous one."""
    find(game).begin_check()
    return reply({}, 201)


@routes.get("/check")
def check(game: str) -> Response:
    """Return the state of the check."""
    return reply(find(game).check())


@routes.post("/check/stop")
def stop_check(game: str) -> Response:
    """End the check."""
    find(game).end_check()
    return reply({})
