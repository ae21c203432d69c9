"""The page of a championship while it is played: `/championship/`."""

from __future__ import annotations

from pathlib import Path

from flask import Blueprint, Flask, Response, abort, current_app, redirect, send_from_directory
from werkzeug.security import safe_join
from werkzeug.wrappers import Response as AnyResponse

from cw.championship.config import settings_of
from cw.championship.journal import MATCHES, Progress, load_progress, looked_at
from cw.championship.report import ChampionshipReport, report_of
from cw.championship.report_document import snapshot
from cw.replays.document import decode
from cw.web import export

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
    """Return tables, bracket and matches as they stand."""
    report, progress = current()
    headers = {"Cache-Control": "no-store", "Content-Security-Policy": STYLED}
    return Response(report.as_html(progress), headers=headers)


@routes.get("/report.json")
def document() -> Response:
    """Return the same for programs."""
    report, _ = current()
    return Response(report.as_json(), content_type="application/json")


def current() -> tuple[ChampionshipReport, Progress]:
    """Return the report as it stands, and what is going on."""
    folder: Path = current_app.extensions["championship"]
    settings, progress = settings_of(folder), load_progress(folder)
    played = snapshot(looked_at(folder, settings))
    return report_of(played, settings, progress.failed), progress


@routes.get("/games/<name>")
def game(name: str) -> AnyResponse:
    """Return the log or the replay of a match."""
    return send_from_directory(_matches(), name, as_attachment=True)


@routes.get("/games/<stem>.html")
def watch(stem: str) -> Response:
    """Return the page on which a match is watched again."""
    file = safe_join(str(_matches()), f"{stem}.json.gz")
    if file is None or not Path(file).is_file():
        abort(404, f"there is no match {stem!r}")
    return Response(export.html(decode(Path(file).read_bytes())))


def _matches() -> Path:
    folder: Path = current_app.extensions["championship"]
    return folder / MATCHES


def _harden(response: AnyResponse) -> AnyResponse:
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response
