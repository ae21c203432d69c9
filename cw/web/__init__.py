"""The server: Flask pages and routes over the arena."""

from __future__ import annotations

import json
import mimetypes
import time
from typing import Final, cast

from flask import Flask, Response, abort, request
from flask_cors import CORS
from werkzeug.exceptions import HTTPException, NotFound
from werkzeug.routing import BaseConverter

from cw.arena.desk import Clock
from cw.assets import asset
from cw.web import circuit_wars, games, matches, replays
from cw.web.hall import Hall
from cw.web.intake import Intake
from cw.web.live import Matches
from cw.web.settings import LARGEST_REQUEST, Settings
from cw.web.shelf import Shelf

NO_SUCH_PAGE: Final = (
    "there is no such page; the game has /, /status, /reg/<team_id>, /move/<team_id>/<x,y,border>"
    " and /restart, and the same under /rooms/<room>/, a room being 1 to 32 of a-z, 0-9 and -;"
    " games are under /games/, replays under /replays/"
)


class RoomConverter(BaseConverter):
    """The name of a room in an address."""

    regex = "[a-z0-9-]{1,32}"


def create_app(settings: Settings | None = None, clock: Clock = time.monotonic) -> Flask:
    """Make the server; `TIMEOUT` of cw/game.py is read here unless the settings say a limit.

    Raises Refused if a setting is out of its range.
    """
    settings = settings or Settings()
    # Some Windows registries call scripts text/plain, which browsers then refuse to run.
    mimetypes.add_type("text/javascript", ".js")
    app = Flask(
        __name__, static_folder=str(asset("static")), template_folder=str(asset("templates"))
    )
    # Merging slashes would redirect /move/a//1,2,top to a move that was not sent.
    app.url_map.merge_slashes = False
    app.url_map.converters["room"] = RoomConverter
    app.url_map.converters["game"] = games.GameConverter
    app.url_map.converters["replay"] = replays.ReplayConverter
    app.extensions["hall"] = Hall(settings, clock)
    app.extensions["settings"] = settings
    app.extensions["shelf"] = Shelf(settings.replays)
    app.extensions["matches"] = Matches(settings.matches, clock)
    folder = settings.folder_for_uploads()
    app.extensions["intake"] = None if folder is None else Intake(folder)
    app.config["MAX_CONTENT_LENGTH"] = settings.largest_body()
    app.before_request(_refuse_large_bodies)
    app.register_blueprint(circuit_wars.routes)
    app.register_blueprint(games.routes)
    app.register_blueprint(matches.routes)
    app.register_blueprint(replays.routes)
    if settings.rooms:
        app.register_blueprint(circuit_wars.routes, name="room", url_prefix="/rooms/<room:room>")
    # Other origins may read the status, and nothing else.
    CORS(
        app,
        resources={r"(/rooms/[^/]+)?/status": {"expose_headers": ["ETag"]}},
        always_send=False,
    )
    # A server may have the pages of a championship beside these.
    app.context_processor(lambda: {"has_championship": "championship" in app.blueprints})
    app.register_error_handler(HTTPException, _explain)
    app.after_request(_harden)
    return app


def _refuse_large_bodies() -> None:
    """Let only the route that takes replays in read more than all others."""
    if request.endpoint == "replays.keep":
        return
    request.max_content_length = LARGEST_REQUEST
    if (request.content_length or 0) > LARGEST_REQUEST:
        abort(413, f"a request may have at most {LARGEST_REQUEST} bytes")


def _explain(error: HTTPException) -> Response:
    """Answer an HTTP error as JSON with a text, whoever asks; a redirection stays as it is."""
    code = error.code or 500
    if code < 400:
        return cast(Response, error.get_response())
    text = NO_SUCH_PAGE if error.description == NotFound.description else error.description
    headers = dict(error.get_headers()) | {"Content-Type": "application/json"}
    return Response(json.dumps({"error": text}), code, headers)


def _harden(response: Response) -> Response:
    response.headers.setdefault(
        "Content-Security-Policy", f"{replays.CONTENT_SECURITY_POLICY}'self'"
    )
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response
