"""The lobby: one page with the games in all rooms, and those that ended recently."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from typing import Final, TypeAlias

from flask import (
    Blueprint,
    Response,
    current_app,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from werkzeug.wrappers import Response as AnyResponse

from cw.games.circuit_wars.protocol import STATUS, status_code
from cw.games.circuit_wars.rules import Action, State
from cw.games.rules import Json
from cw.server.rooms import MOST_ROOMS, FinishedGame, RoomRegistry
from cw.server.session import Snapshot

routes = Blueprint("lobby", __name__, url_prefix="/rooms")

ROOM: Final = "[a-z0-9-]{1,32}"
"""The name of a room."""

CircuitSnapshot: TypeAlias = Snapshot[State, Action]


@routes.get("/")
def page() -> AnyResponse:
    """Return the lobby; with `?room=NAME`, redirect to that room, or explain valid names."""
    room = request.args.get("room", "").strip()
    if re.fullmatch(ROOM, room):
        return redirect(url_for("room.monitor", room=room), 303)
    text = render_template("rooms.html", wanted=room, saved=_rooms().are_kept)
    answer = make_response(text, 400 if room else 200)
    answer.headers["Cache-Control"] = "no-cache"
    return answer


@routes.get("/list.json")
def listed() -> Response:
    """Return the state of all rooms and the recently ended games; 304 if unchanged."""
    rooms = _rooms()
    seen = rooms.look()
    tag = sha256("".join(snapshot.tag for snapshot in seen.values()).encode()).hexdigest()[:16]
    if tag in request.if_none_match:
        answer = Response(status=304)
    else:
        document = {
            "rooms": [room_document(name, snapshot) for name, snapshot in seen.items()],
            "most": MOST_ROOMS,
            "finished": [finished_document(game) for game in rooms.finished()],
        }
        answer = Response(json.dumps(document), content_type="application/json")
    answer.set_etag(tag)
    answer.headers["Cache-Control"] = "no-cache"
    return answer


def room_document(name: str | None, snapshot: CircuitSnapshot) -> dict[str, Json]:
    """Return the state of a game; `room` is null for the game at the root."""
    code = status_code(len(snapshot.teams), snapshot.state)
    return {
        "room": name,
        "address": monitor_of(name),
        "status_code": code,
        "status": STATUS[code],
        "teams": list(snapshot.teams),
        "scores": list(snapshot.state.scores),
        "squares": snapshot.state.size**2,
        "moves": len(snapshot.turns),
        "replay": replay_address(snapshot.replay),
    }


def finished_document(game: FinishedGame) -> dict[str, Json]:
    """Return the result of a finished game."""
    room = room_document(game.room, game.snapshot)
    return {
        key: room[key] for key in ("room", "status_code", "status", "teams", "scores", "replay")
    }


def monitor_of(name: str | None) -> str:
    """Return the address of the monitor of a room."""
    if name is None:
        return url_for("circuit_wars.monitor")
    return url_for("room.monitor", room=name)


def replay_address(replay: str) -> str | None:
    """Return the URL of a stored replay, or None if it was not stored."""
    return url_for("replays.watch", name=replay) if replay else None


def _rooms() -> RoomRegistry:
    rooms: RoomRegistry = current_app.extensions["rooms"]
    return rooms
