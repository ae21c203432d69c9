"""The routes of Circuit Wars (seed, "Communication protocol"), at the root and in rooms."""

from __future__ import annotations

import json
import re
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

from cw.errors import ArenaError, CapacityError, MatchChanged, RegistrationError, UnknownTeam
from cw.games.circuit_wars import protocol
from cw.games.rules import Json
from cw.server.guard import plays
from cw.server.rooms import CircuitObservation, Room, RoomRegistry, replay_address
from cw.server.settings import ServerSettings

TEAM_IDS: Final = "cw.team_ids"
"""WSGI environment key: replacements for team ids in responses (see `PlayerProxy`)."""

routes = Blueprint("circuit_wars", __name__)

TAG: Final = re.compile("[0-9a-f]{12}-[0-9]+")
"""The form of snapshot tags."""

MONITOR: Final = "X-Monitor"
"""A header sent by our own monitor: any other page may be a player."""


@routes.get("/")
def monitor(room: str | None = None) -> Response:
    """Return the page for watching the game."""
    page = make_response(render_template("monitor.html", room=room, restart=_settings().restart))
    page.headers["Cache-Control"] = "no-cache"
    return page


@routes.get("/status")
def status(room: str | None = None) -> Response:
    """Return the status JSON; 304 if only the clock has changed since the ETag."""
    playing = _rooms().find(room)
    observation = playing.session.look(as_client=MONITOR not in request.headers)
    tag = observation.snapshot.tag
    headers = {"Cache-Control": "no-store", **etag(tag)}
    if f'"{tag}"' in request.headers.get("If-None-Match", ""):
        return Response(status=304, headers=headers)
    return Response(
        playing.page.render(observation), headers=headers, content_type="application/json"
    )


@routes.get("/reg/", defaults={"team_id": ""})
@routes.get("/reg/<text:team_id>")
@plays
def reg(team_id: str, room: str | None = None) -> Response:
    """Register a team; the ETag is that of the resulting status."""
    try:
        place = _enter(room).session.register(team_id)
    except RegistrationError as refusal:
        return _json(protocol.not_registered(refusal))
    answer = _json(protocol.registered(place.player))
    answer.headers.update(etag(place.tag))
    return answer


@routes.get("/move/<team_id>", defaults={"move": ""})
@routes.get("/move/<team_id>/", defaults={"move": ""})
@routes.get("/move/<team_id>/<text:move>")
@plays
def move(team_id: str, move: str, room: str | None = None) -> Response:
    """Make a move; return the resulting status JSON."""
    playing = _rooms().find(room)
    try:
        observation = playing.session.move(team_id, move)
    except UnknownTeam as refusal:
        return _refused(playing, refusal, 403)
    return _status(playing, observation)


@routes.get("/restart")
@plays
def restart(room: str | None = None) -> Response:
    """Remove both teams and start a new game (development only).

    With `?seen=` and the tag of a status, only if nothing has changed since.
    """
    if not _settings().restart:
        abort(404, "restarting is turned off on this server")
    playing, seen = _rooms().find(room), seen_tag()
    try:
        return _status(playing, playing.session.restart(seen))
    except MatchChanged as refusal:
        return _refused(playing, refusal, 409)


@routes.get("/history")
def history(room: str | None = None) -> Response:
    """Return what the monitor shows in addition to the status: teams, moves, and why it ended."""
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


def etag(tag: str) -> dict[str, str]:
    """Return a snapshot's ETag header; weak, as the clock in the JSON keeps running."""
    return {"ETag": f'W/"{tag}"'}


def seen_tag() -> str | None:
    """Return the tag that a client has seen, or None; refuse anything else."""
    seen = request.args.get("seen")
    if seen is None:
        return None
    tag = seen.removeprefix("W/").strip('"')
    if not TAG.fullmatch(tag):
        abort(400, f"seen must be the ETag of an answer from /status, not {seen[:60]!r}")
    return tag


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


def _refused(playing: Room, refusal: ArenaError, code: int) -> Response:
    """Return the refusal with its reason, and the unchanged status."""
    snapshot, time_left = playing.session.look()
    document = protocol.status_document(len(snapshot.teams), snapshot.state, time_left)
    return _json(document | {"error": str(refusal)}, code)


def _json(document: Json, code: int = 200) -> Response:
    return _uncached(json.dumps(document), code)


def _uncached(text: str, code: int) -> Response:
    headers = {"Cache-Control": "no-store"}
    return Response(text, code, headers, content_type="application/json")
