"""The Flask application of the Circuit Wars server: the game at its root, and rooms."""

from __future__ import annotations

import json
import mimetypes
import re
import time
from collections.abc import Mapping
from typing import Final, cast

from flask import Flask, Response, abort, current_app, render_template, request
from flask_cors import CORS
from werkzeug.exceptions import HTTPException, NotFound
from werkzeug.routing import BaseConverter, PathConverter

from cw.assets import asset
from cw.errors import ArenaError, CapacityError, Failure, QuotaError
from cw.server import rooms, routes
from cw.server.rooms import CircuitSession, KeepReplay, RoomRegistry
from cw.server.session import Clock
from cw.server.settings import LARGEST_REQUEST, ServerSettings

LONGEST_PATH: Final = 200
"""Maximum characters of a path repeated in an error."""

NO_SUCH_PAGE: Final = (
    "there is no such page; the game has /, /status, /reg/<team_id>, /move/<team_id>/<x,y,border>"
    " and /restart, and the same under /rooms/<room>/, where <room> is 1 to 32 of a-z, 0-9 and -"
)

GAME: Final = "(/rooms/[^/]+)?"
"""The path of a game, at the root or in a room, without the trailing slash."""

STATUS: Final = frozenset({"circuit_wars.status", "room.status"})
"""Endpoints that pages of any site may read."""

CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self';"
    " frame-ancestors "
)
"""The content security policy of pages, without the list of sites that may embed them."""


REFUSALS: Final[Mapping[type[ArenaError], tuple[int, str]]] = {
    QuotaError: (429, "Too many"),
    CapacityError: (503, "Temporarily unavailable"),
    Failure: (500, "Server error"),
    ArenaError: (400, "Invalid request"),
}
"""Status and title of the response for each kind of error, the most specific first."""


class RoomConverter(BaseConverter):
    """The name of a room in a URL."""

    regex = rooms.ROOM


class TextConverter(PathConverter):
    """The rest of a URL, whatever a client put there, even a line break."""

    regex = "(?s:[^/].*?)"


def create_server(
    settings: ServerSettings | None = None,
    clock: Clock = time.monotonic,
    session: CircuitSession | None = None,
    keep_replay: KeepReplay | None = None,
) -> Flask:
    """Return the application; without a limit in the settings, `TIMEOUT` of cw/game.py applies.

    `session` is the game at its root, if another component provides it; `keep_replay` receives the
    replays of finished games. Raises UsageError if a setting is out of range.
    """
    settings = settings or ServerSettings()
    app = bare_server(settings)
    app.url_map.converters |= {"room": RoomConverter, "text": TextConverter}
    app.extensions["rooms"] = RoomRegistry(settings, clock, session, keep_replay)
    app.config["NO_SUCH_PAGE"] = NO_SUCH_PAGE
    if settings.desk:
        app.register_blueprint(routes.routes)
    if settings.rooms:
        app.register_blueprint(rooms.routes)
        app.register_blueprint(routes.routes, name="room", url_prefix="/rooms/<room:room>")
    if settings.desk or settings.rooms:
        app.config["ANY_NAME"] = STATUS
        # Other origins may read the status, including the refusal to let them play: routes that
        # change the game return nothing else to them.
        players = [re.compile(rf"{re.escape(origin)}\Z") for origin in settings.origins]
        tagged = {"expose_headers": ["ETag"]}
        CORS(
            app,
            resources={
                rf"{GAME}/status\Z": tagged,
                rf"{GAME}/(reg|move|restart)(/|\Z)": tagged,
                rf"{GAME}/history\Z": {"origins": players},
            },
            methods=["GET"],
            always_send=False,
        )
    return app


def bare_server(settings: ServerSettings) -> Flask:
    """Return an application without pages: static files and templates, errors, and limits."""
    # Some Windows registries call scripts text/plain, which browsers then refuse to run.
    mimetypes.add_type("text/javascript", ".js")
    app = Flask("cw", static_folder=str(asset("static")), template_folder=str(asset("templates")))
    # Merging slashes would redirect /move/a//1,2,top to a move that was not sent.
    app.url_map.merge_slashes = False
    app.extensions["settings"] = settings
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_REQUEST
    app.config["LARGE_BODIES"] = frozenset[str]()
    app.config["HOME"] = "circuit_wars.monitor"
    app.config["ANY_NAME"] = frozenset[str]()
    app.before_request(_refuse_other_names)
    app.before_request(_refuse_large_bodies)
    # The monitor does not know which other pages exist: the navigation shows those registered.
    app.context_processor(lambda: {"has": lambda pages: pages in app.blueprints})
    app.register_error_handler(HTTPException, _explain)
    app.register_error_handler(ArenaError, _refuse)
    app.after_request(_harden)
    return app


def _refuse_other_names() -> Response | None:
    """Refuse, with 403, a request under a foreign host name, except for ANY_NAME's endpoints.

    Anyone can point a host name at this server, and under it an untrusted page would look like
    ours. Every browser sends the name. The response is not one of our pages, since their static
    files are refused as well.
    """
    settings: ServerSettings = current_app.extensions["settings"]
    host = request.headers.get("Host")
    if (
        host is None
        or settings.names.include(host)
        or request.endpoint in current_app.config["ANY_NAME"]
    ):
        return None
    text = f"this server is not called {host[:LONGEST_PATH]!r}: use the address that it printed"
    text += settings.further_names
    wants_html = _wants_html()
    kind = "text/plain; charset=utf-8" if wants_html else "application/json"
    return Response(text if wants_html else json.dumps({"error": text}), 403, content_type=kind)


def _refuse_large_bodies() -> None:
    """Reject bodies over LARGEST_REQUEST bytes, except for the endpoints in LARGE_BODIES."""
    if request.endpoint in current_app.config["LARGE_BODIES"]:
        return
    request.max_content_length = LARGEST_REQUEST
    if (request.content_length or 0) > LARGEST_REQUEST:
        abort(413, f"a request may have at most {LARGEST_REQUEST} bytes")


def _explain(error: HTTPException) -> Response:
    """Respond to an HTTP error with a message; leave redirects unchanged."""
    code = error.code or 500
    if code < 400:
        return cast(Response, error.get_response())
    text = error.description or ""
    if error.description == NotFound.description:
        # Pages have links for users; a program is better served by the list of valid paths.
        text = f"there is no page {request.path[:LONGEST_PATH]}"
        text = text if _wants_html() else current_app.config["NO_SUCH_PAGE"]
    return _answer(code, error.name.capitalize(), text, dict(error.get_headers()))


def _refuse(error: ArenaError) -> Response:
    """Respond to a request that was refused, cannot be served now, or failed."""
    code, title = next(row for kind, row in REFUSALS.items() if isinstance(error, kind))
    return _answer(code, title, str(error), {})


def _answer(code: int, title: str, text: str, headers: Mapping[str, str]) -> Response:
    """Respond to a browser with a page, to all other clients with JSON."""
    if _wants_html():
        kind, body = (
            "text/html; charset=utf-8",
            render_template("error.html", title=title, text=text),
        )
    else:
        kind, body = "application/json", json.dumps({"error": text})
    return Response(body, code, {**headers, "Content-Type": kind, "Vary": "Accept"})


def _wants_html() -> bool:
    """Return whether HTML is the best response format for a request."""
    return request.accept_mimetypes.best_match(("application/json", "text/html")) == "text/html"


def _harden(response: Response) -> Response:
    response.headers.setdefault("Content-Security-Policy", f"{CONTENT_SECURITY_POLICY}'self'")
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response
