"""The routes of Circuit Wars (seed, "Communication protocol"), at the root and in rooms."""

from __future__ import annotations

import json
from typing import Final

from flask import (
    Blueprint,
    Response,
    abort,
    current_app,
    make_response,
    render_template,
    request,
)

from cw.errors import CapacityError, RegistrationError, UnknownTeam
from cw.games.circuit_wars import protocol
from cw.games.rules import Json
from cw.server.guard import changes_the_game
from cw.server.lobby import replay_address
from cw.server.rooms import CircuitObservation, Room, RoomRegistry
from cw.server.settings import ServerSettings

TEAM_IDS: Final = "cw.team_ids"
"""In the environment of a request: what is told in place of some team ids (see `PlayerProxy`)."""

routes = Blueprint("circuit_wars", __name__)


@routes.get("/")
def monitor(room: str | None = None) -> Response:
    """Return the page on which the game is watched."""
    page = make_response(render_template("monitor.html", room=room, restart=_settings().restart))
    page.headers["Cache-Control"] = "no-cache"
    return page


@routes.get("/status")
def status(room: str | None = None) -> Response:
    """Return the status document; 304 if nothing but the clock has changed since the ETag."""
    playing = _rooms().find(room)
    observation = playing.session.look(as_client=not is_page())
    tag = f'"{observation.snapshot.tag}"'
    headers = {"Cache-Control": "no-store", "ETag": f"W/{tag}"}
    if tag in request.headers.get("If-None-Match", ""):
        return Response(status=304, headers=headers)
    return Response(
        playing.page.render(observation), headers=headers, content_type="application/json"
    )


@routes.get("/reg/", defaults={"team_id": ""})
@routes.get("/reg/<path:team_id>")
@changes_the_game
def reg(team_id: str, room: str | None = None) -> Response:
    """Register a team."""
    try:
        player = _enter(room).session.register(team_id)
    except RegistrationError as refusal:
        return _json(protocol.not_registered(refusal))
    return _json(protocol.registered(player))


@routes.get("/move/<team_id>", defaults={"move": ""})
@routes.get("/move/<team_id>/", defaults={"move": ""})
@routes.get("/move/<team_id>/<path:move>")
@changes_the_game
def move(team_id: str, move: str, room: str | None = None) -> Response:
    """Make a move, and give the status document after it."""
    playing = _rooms().find(room)
    try:
        observation = playing.session.move(team_id, move)
    except UnknownTeam as refusal:
        snapshot, time_left = playing.session.look()
        document = protocol.status_document(len(snapshot.teams), snapshot.state, time_left)
        return _json(document | {"error": str(refusal)}, 403)
    return _status(playing, observation)


@routes.get("/restart")
@changes_the_game
def restart(room: str | None = None) -> Response:
    """Forget both teams and begin a new game (development only)."""
    if not _settings().restart:
        abort(404, "restarting is turned off on this server")
    playing = _rooms().find(room)
    return _status(playing, playing.session.restart())


@routes.get("/history")
def history(room: str | None = None) -> Response:
    """Return what the monitor shows besides the status: teams, moves, why the game ended."""
    session = _rooms().find(room).session
    snapshot = session.look().snapshot
    turns = [turn.actions for turn in snapshot.turns]
    names = request.environ.get(TEAM_IDS, {})
    about = {
        "teams": [names.get(team, team) for team in snapshot.teams],
        "limit": protocol.milliseconds(session.limit),
        "replay": replay_address(snapshot.replay),
    }
    return _json(about | protocol.history_document(session.start, turns))


def is_page() -> bool:
    """Return whether a page asks, by what the monitor and browsers add to a request."""
    return any(mark in request.headers for mark in ("X-Requested-With", "Sec-Fetch-Mode"))


def _rooms() -> RoomRegistry:
    rooms: RoomRegistry = current_app.extensions["rooms"]
    return rooms


def _settings() -> ServerSettings:
    settings: ServerSettings = current_app.extensions["settings"]
    return settings


def _enter(room: str | None) -> Room:
    try:
        return _rooms().enter(room)
    except CapacityError as refusal:
        abort(503, str(refusal))


def _status(playing: Room, observation: CircuitObservation) -> Response:
    return _uncached(playing.page.render(observation), 200)


def _json(document: Json, code: int = 200) -> Response:
    return _uncached(json.dumps(document), code)


def _uncached(text: str, code: int) -> Response:
    headers = {"Cache-Control": "no-store"}
    return Response(text, code, headers, content_type="application/json")
