"""The page of a championship while it is played: `/championship/`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from flask import Blueprint, Flask, Response, current_app, redirect, send_from_directory
from werkzeug.wrappers import Response as AnyResponse

from cw.championship.journal import GAMES, game_of, load_running, looked_at
from cw.championship.report import report_of
from cw.championship.runner import settings_of, stem_of
from cw.games.rules import Json
from cw.matches.hosted import WINDOW

routes = Blueprint("championship", __name__, url_prefix="/championship")

STYLED = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""The page brings its own style, and no script."""


def championship_app(folder: Path) -> Flask:
    """Make a server that shows the championship in a folder, whoever runs it."""
    app = Flask(__name__, static_folder=None)
    app.extensions["championship"] = folder.resolve()
    app.register_blueprint(routes)
    app.add_url_rule("/", "home", lambda: redirect("/championship/"))
    app.after_request(_harden)
    return app


@routes.get("/")
def page() -> Response:
    """Return tables, bracket and games as they stand."""
    folder: Path = current_app.extensions["championship"]
    report = report_of(looked_at(folder), settings_of(folder))
    running = [game | {"window": window_of(folder, game)} for game in load_running(folder)]
    return Response(report.as_html(running), headers={"Cache-Control": "no-store"})


def window_of(folder: Path, game: Mapping[str, Json]) -> str | None:
    """Return the address at which a game in flight can be watched."""
    file = folder / GAMES / f"{stem_of(game_of(game))}{WINDOW}"
    try:
        address = file.read_text(encoding="utf-8")
    except OSError:
        return None
    return address if re.fullmatch(r"http://127\.0\.0\.1:[0-9]{1,5}", address) else None


@routes.get("/report.json")
def document() -> Response:
    """Return the same for programs."""
    folder: Path = current_app.extensions["championship"]
    report = report_of(looked_at(folder), settings_of(folder))
    return Response(report.as_json(), content_type="application/json")


@routes.get("/games/<name>")
def game(name: str) -> AnyResponse:
    """Return the log or the replay of a game."""
    folder: Path = current_app.extensions["championship"]
    return send_from_directory(folder / GAMES, name, as_attachment=True)


def _harden(response: AnyResponse) -> AnyResponse:
    response.headers["Content-Security-Policy"] = STYLED
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response
