"""The routes of Circuit Wars (seed, "Communication protocol"), at the root and in rooms."""

from __future__ import annotations

import json

from flask import (
    Blueprint,
    Response,
    abort,
    current_app,
    make_response,
    render_template,
    request,
)

from cw.errors import Refused, UnknownTeam
from cw.games.base import Json
from cw.games.circuit_wars import protocol
from cw.web.guard import changes_the_game
from cw.web.hall import CircuitSight, Hall, Table
from cw.web.settings import Settings

routes = Blueprint("circuit_wars", __name__)


@routes.get("/")
def monitor(room: str | None = None) -> Response:
    """Give the page that shows the game as it is played."""
    page = make_response(render_template("monitor.html", room=room, restart=_settings().restart))
    page.headers["Cache-Control"] = "no-cache"
    return page


@routes.get("/status")
def status(room: str | None = None) -> Response:
    """Give the status document; 304 if nothing but the clock has changed since the ETag."""
    table = _hall().find(room)
    sight = table.desk.look()
    tag = f'"{sight.snapshot.tag}"'
    headers = {"Cache-Control": "no-store", "ETag": f"W/{tag}"}
    if tag in request.headers.get("If-None-Match", ""):
        return Response(status=304, headers=headers)
    return Response(table.page.render(sight), headers=headers, content_type="application/json")


@routes.get("/reg/", defaults={"team_id": ""})
@routes.get("/reg/<path:team_id>")
@changes_the_game
def reg(team_id: str, room: str | None = None) -> Response:
    """Register a team."""
    try:
        player = _enter(room).desk.register(team_id)
    except Refused as refusal:
        return _json(protocol.not_registered(refusal))
    return _json(protocol.registered(player))


@routes.get("/move/<team_id>", defaults={"move": ""})
@routes.get("/move/<team_id>/", defaults={"move": ""})
@routes.get("/move/<team_id>/<path:move>")
@changes_the_game
def move(team_id: str, move: str, room: str | None = None) -> Response:
    """Make a move, and give the status document after it."""
    table = _hall().find(room)
    try:
        sight = table.desk.move(team_id, move)
    except UnknownTeam as refusal:
        snapshot, time_left = table.desk.look()
        document = protocol.status_document(len(snapshot.teams), snapshot.state, time_left)
        return _json(document | {"error": str(refusal)}, 403)
    return _status(table, sight)


@routes.get("/restart")
@changes_the_game
def restart(room: str | None = None) -> Response:
    """Forget both teams and begin anew (development only)."""
    if not _settings().restart:
        abort(404, "restarting is turned off on this server")
    table = _hall().find(room)
    return _status(table, table.desk.restart())


@routes.get("/history")
def history(room: str | None = None) -> Response:
    """Give what the monitor shows beside the status: teams, moves, and what ended the game."""
    desk = _hall().find(room).desk
    snapshot = desk.look().snapshot
    turns = [turn.actions for turn in snapshot.turns]
    about = {"teams": list(snapshot.teams), "limit": protocol.milliseconds(desk.limit)}
    return _json(about | protocol.history_document(_hall().start, turns))


def _hall() -> Hall:
    hall: Hall = current_app.extensions["hall"]
    return hall


def _settings() -> Settings:
    settings: Settings = current_app.extensions["settings"]
    return settings


def _enter(room: str | None) -> Table:
    try:
        return _hall().enter(room)
    except Refused as refusal:
        abort(503, str(refusal))


def _status(table: Table, sight: CircuitSight) -> Response:
    return _uncached(table.page.render(sight), 200)


def _json(document: Json, code: int = 200) -> Response:
    return _uncached(json.dumps(document), code)


def _uncached(text: str, code: int) -> Response:
    headers = {"Cache-Control": "no-store"}
    return Response(text, code, headers, content_type="application/json")
