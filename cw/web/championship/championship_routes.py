"""The page of a championship, during the run and afterwards: `/championship/`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Final

import msgspec
from flask import (
    Blueprint,
    Flask,
    Response,
    abort,
    current_app,
    render_template,
    request,
    send_from_directory,
    url_for,
)
from werkzeug.wrappers import Response as AnyResponse

from cw.championship.config import SETTINGS, settings_of
from cw.championship.journal import (
    MATCHES,
    PROGRESS,
    RESULTS,
    is_run,
    journal_of,
    live_file,
    load_progress,
    stem_of,
)
from cw.championship.report import RANKING, ChampionshipReport, report_of
from cw.championship.report_document import snapshot
from cw.games.rules import Json
from cw.matches.processes.live_file import read_live
from cw.replays.document import Document, decode, with_names
from cw.web.answers import revalidated
from cw.web.contests import changed_part, contest_server, whole_page
from cw.web.replays.replay_store import ReplayStore

routes = Blueprint("championship", __name__, url_prefix="/championship")

PARTS: Final = ("report", MATCHES)
"""Subfolders of a championship's folder."""

NOT_MODIFIED: Final = 304
NUMBER: Final = re.compile(r"\d{1,9}")
KINDS: Final = {"json": "application/json", "csv": "text/csv", "md": "text/markdown"}


def championship_app(folder: Path) -> Flask:
    """Return an application that shows the championship in a folder and its replays."""
    app = contest_server("championship")
    add_championship(app, folder)
    return app


def add_championship(app: Flask, folder: Path) -> None:
    """Register the page of a championship, and its replays, with an application."""
    app.extensions["championship"] = ChampionshipReader(folder.resolve())
    app.extensions["replay_store"] = ReplayStore(folder.resolve() / MATCHES)
    app.register_blueprint(routes)


def championship_around(place: Path | None) -> Path | None:
    """Return the championship folder that is `place` or its parent, or None."""
    if place is None:
        return None
    place = place.resolve()
    around = place.parent if place.name in PARTS else place
    return around if (around / SETTINGS).is_file() else None


@dataclass(frozen=True, slots=True)
class Stand:
    """A snapshot of a championship."""

    tag: str
    report: ChampionshipReport
    page: dict[str, Json]


class ChampionshipReader:
    """Reads a championship, and reads it again only when something has changed."""

    def __init__(self, folder: Path) -> None:
        """Read nothing until the first request."""
        self.folder = folder
        self._last: Stand | None = None
        # A check for a runner takes its lock briefly: concurrent checks would mistake each other.
        self._alone = Lock()

    def stand(self) -> Stand:
        """Return the current state; raise UsageError if the journal cannot be read."""
        with self._alone:
            running = is_run(self.folder)
            tag = self._tag(running)
            if self._last is None or self._last.tag != tag:
                self._last = self._read(tag, running)
            return self._last

    def _tag(self, running: bool) -> str:
        """Return a tag that changes with everything the page shows."""
        files = (self.folder / name for name in (SETTINGS, RESULTS, PROGRESS))
        stamps = [*map(stamp, files), str(running)]
        return sha256(" ".join(stamps).encode()).hexdigest()[:20]

    def _read(self, tag: str, running: bool) -> Stand:
        settings, progress = settings_of(self.folder), load_progress(self.folder)
        report = report_of(snapshot(journal_of(self.folder, settings)), settings, progress)
        return Stand(tag, report, report.page(progress, running=running))


def stamp(file: Path) -> str:
    """Return a value that changes whenever a file does."""
    try:
        status = file.stat()
    except OSError:
        return "-"
    return f"{status.st_mtime_ns:x}-{status.st_size:x}"


@routes.get("/")
def page() -> Response:
    """Return the current tables, bracket and matches."""
    now = championship().stand()
    return whole_page("championship.html", now.tag, values_of(now))


@routes.get("/stand")
def stand() -> Response:
    """Return the changing part of the page; 304 if unchanged."""
    now = championship().stand()
    return changed_part(
        now.tag, lambda: render_template("championship_content.html", **values_of(now))
    )


@routes.get("/<any('report.json', 'report.md', 'games.csv', 'ranking.csv'):name>")
def form(name: str) -> Response:
    """Return the report as JSON, CSV or Markdown."""
    report = championship().stand().report
    write = {
        "report.json": report.as_json,
        "report.md": report.as_markdown,
        "games.csv": report.as_csv,
        RANKING: report.ranking_as_csv,
    }[name]
    return Response(write(), content_type=f"{KINDS[name.rpartition('.')[2]]}; charset=utf-8")


@routes.get("/live/<replay:name>")
def live(name: str) -> Response:
    """Return the page for watching a match in flight."""
    return revalidated(render_template("championship_match.html", name=name))


@routes.get("/live/<replay:name>/document")
def live_document(name: str) -> Response:
    """Return a match as played so far; with `after`, only what followed that many turns.

    202 before its start and while its replay is being written, 304 if nothing has changed.
    """
    folder, text = championship().folder, request.args.get("after", "")
    after = int(text) if NUMBER.fullmatch(text) else None
    replays: ReplayStore = current_app.extensions["replay_store"]
    replay = replays.find(name)
    tag = replay.tag if replay else stamp(live_file(folder, name))
    if tag in request.if_none_match:
        return told_live({}, NOT_MODIFIED, tag)
    if replay is not None:
        played = over_document(decode(replay.path.read_bytes()), after)
        return told_live(played | {"replay": url_for("replays.watch", name=name)}, 200, tag)
    news = read_live(live_file(folder, name), after)
    if news is not None:
        state = {"live": {"over": False, "trouble": ""}, "yours": None, "replay": None}
        return told_live(named(news) | state, 200, "" if news["more"] else tag)
    if name not in map(stem_of, load_progress(folder).running):
        abort(404, "this match is not being played")
    return told_live({"waiting": "the match cannot be followed just now", "over": False}, 202)


def named(news: dict[str, Json]) -> dict[str, Json]:
    """Return news of a match in flight, with the names of the teams that play it."""
    if "players" not in news:
        return news
    players = msgspec.json.decode(news["players"])
    return with_names(news | {"players": players}, settings_of(championship().folder).names)


def over_document(document: Document, after: int | None) -> Document:
    """Return a finished match: all of it, or only what followed `after` turns."""
    state = {"live": {"over": True, "trouble": ""}, "yours": None}
    if after is None:
        return document | state
    news = {key: document[key] for key in ("result", "faults")}
    return {"after": after, "turns": document["turns"][after:]} | news | state


def told_live(document: Document, code: int, tag: str = "") -> Response:
    """Return the document of a match as a response with a tag; no body with a 304."""
    data = b"" if code == NOT_MODIFIED else msgspec.json.encode(document)
    answer = revalidated(Response(data, code, content_type="application/json"))
    if tag:
        answer.set_etag(tag)
    return answer


@routes.get("/games/<name>")
def game(name: str) -> AnyResponse:
    """Return the log or the replay of a match as a download."""
    return send_from_directory(championship().folder / MATCHES, name, as_attachment=True)


def championship() -> ChampionshipReader:
    """Return the championship of this server."""
    championship: ChampionshipReader = current_app.extensions["championship"]
    return championship


def values_of(now: Stand) -> dict[str, Json]:
    """Return the template variables."""
    return now.page | {
        "base": url_for("replays.index"),
        "ending": "",
        "files": f"{url_for('championship.page')}{MATCHES}/",
        "forms": url_for("championship.page"),
        "folder": championship().folder.name,
        "live": url_for("championship.page") + "live/",
        "ranking_file": url_for("championship.form", name=RANKING),
    }
