"""Championship pages, replay pages for reports, and handouts for teams."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, Final

import msgspec
from flask import (
    Blueprint,
    Flask,
    Response,
    abort,
    current_app,
    make_response,
    redirect,
    render_template,
    request,
    send_from_directory,
    url_for,
)
from jinja2 import Template
from werkzeug.wrappers import Response as AnyResponse

from cw.assets import asset
from cw.championship.config import SETTINGS, ChampionshipSettings, settings_of
from cw.championship.entries import Entry
from cw.championship.journal import (
    MATCHES,
    PROGRESS,
    RESULTS,
    is_run,
    journal_of,
    live_file,
    load_progress,
)
from cw.championship.journal import stem_of as journal_stem_of
from cw.championship.report import (
    RANKING_FILE,
    REPLAYS,
    ChampionshipReport,
    rendered,
    report_of,
    stderr_of,
    title_of,
)
from cw.championship.report_document import Played, snapshot
from cw.errors import Failure
from cw.files import make_folder, write_whole
from cw.games.rules import Json
from cw.matches.live_file import read_live
from cw.replays.document import Document, decode, encode, public_replay, with_names
from cw.server.app import bare_server
from cw.server.settings import ServerSettings
from cw.web import replay_routes
from cw.web.frames import needs_frames, packed_frames
from cw.web.replay_export import IMAGES, START, digest, environment, modules_of, read
from cw.web.replay_pictures import Thumbnails
from cw.web.replay_store import ReplayStore
from cw.web.settings import revalidated


def contest_server(name: str) -> Flask:
    """Return an application for the page of a contest, `/name/`, and its matches' replays.

    The caller adds the page itself and the replay store.
    """
    app = bare_server(ServerSettings())
    app.config["HOME"] = f"{name}.page"
    app.config["NO_SUCH_PAGE"] = f"there is no such page; the {name} is at /{name}/"
    app.url_map.converters["replay"] = replay_routes.ReplayConverter
    app.extensions["uploads"] = None
    app.extensions["thumbnails"] = Thumbnails()
    app.register_blueprint(replay_routes.routes)
    app.add_url_rule("/", "home", lambda: redirect(url_for(f"{name}.page")))
    return app


def whole_page(template: str, tag: str, values: Mapping[str, Any]) -> Response:
    """Render a page that includes the tag of its changing part."""
    answer = make_response(render_template(template, tag=f'"{tag}"', **values))
    answer.headers["Cache-Control"] = "no-store"
    return answer


def changed_part(tag: str, render: Callable[[], str]) -> Response:
    """Return the changing part of a page with its tag; 304 if the client already has it."""
    is_known = request.if_none_match.contains(tag)
    answer = revalidated(Response(status=304) if is_known else render())
    answer.set_etag(tag)
    return answer


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
    """Register a championship's page and replays with an application."""
    app.extensions["championship"] = ChampionshipReader(folder.resolve())
    app.extensions["replay_store"] = ReplayStore(folder.resolve() / MATCHES)
    app.register_blueprint(routes)


def championship_around(place: Path | None) -> Path | None:
    """Return `place` or its parent, whichever is a championship folder, or None."""
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
    """Reads a championship, and caches the result until something changes."""

    def __init__(self, folder: Path) -> None:
        """Create a reader, which reads nothing until the first request."""
        self.folder = folder
        self._last: Stand | None = None
        # Checking for a runner takes its lock briefly, so concurrent checks would disturb each
        # other.
        self._alone = Lock()

    def stand(self) -> Stand:
        """Return the current snapshot; raise UsageError if the journal cannot be read."""
        with self._alone:
            running = is_run(self.folder)
            tag = self._tag(running)
            if self._last is None or self._last.tag != tag:
                self._last = self._read(tag, running)
            return self._last

    def _tag(self, running: bool) -> str:
        """Return a tag that changes with anything the page shows."""
        files = (self.folder / name for name in (SETTINGS, RESULTS, PROGRESS))
        stamps = [*map(stamp, files), str(running)]
        return sha256(" ".join(stamps).encode()).hexdigest()[:20]

    def _read(self, tag: str, running: bool) -> Stand:
        settings, progress = settings_of(self.folder), load_progress(self.folder)
        report = report_of(snapshot(journal_of(self.folder, settings)), settings, progress)
        return Stand(tag, report, report.page(progress, running=running))


def stamp(file: Path) -> str:
    """Return a value that changes whenever a file changes."""
    try:
        status = file.stat()
    except OSError:
        return "-"
    return f"{status.st_mtime_ns:x}-{status.st_size:x}"


@routes.get("/")
def page() -> Response:
    """Render the current tables, bracket and matches."""
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
        RANKING_FILE: report.ranking_as_csv,
    }[name]
    return Response(write(), content_type=f"{KINDS[name.rpartition('.')[2]]}; charset=utf-8")


@routes.get("/live/<replay:name>")
def live(name: str) -> Response:
    """Return the page for watching a match in progress."""
    return revalidated(render_template("championship_match.html", name=name))


@routes.get("/live/<replay:name>/document")
def live_document(name: str) -> Response:
    """Return a match as played so far; with `after`, only what followed that many turns.

    The status is 202 before the match starts and while its replay is being written, 304 if nothing
    has changed.
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
    if name not in map(journal_stem_of, load_progress(folder).running):
        abort(404, "this match is not being played")
    return told_live({"waiting": "the match cannot be followed just now", "over": False}, 202)


def named(news: dict[str, Json]) -> dict[str, Json]:
    """Return an update on a match in progress, with the names of its teams."""
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
    """Return a match's JSON as a response with a tag; the body is empty for a 304."""
    data = b"" if code == NOT_MODIFIED else msgspec.json.encode(document)
    answer = revalidated(Response(data, code, content_type="application/json"))
    if tag:
        answer.set_etag(tag)
    return answer


@routes.get("/games/<name>")
def game(name: str) -> AnyResponse:
    """Return a match's log or replay as a download."""
    return send_from_directory(championship().folder / MATCHES, name, as_attachment=True)


def championship() -> ChampionshipReader:
    """Return the championship shown by this server."""
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
        "ranking_file": url_for("championship.form", name=RANKING_FILE),
    }


ENDING: Final = ".json.gz"

LOADER: Final = """
document.addEventListener("DOMContentLoaded", () => {
  for (const [type, text] of [["importmap", MODULES], ["module", START]]) {
    const script = document.createElement("script");
    script.type = type;
    script.textContent = text;
    document.head.append(script);
  }
});
"""
"""Loads the viewer's modules from data URLs, as a local page cannot load other files as modules."""


def write_replay_pages(championship: Path, report: Path) -> None:
    """Write a page for each replay that has no current one; raise Failure if that fails."""
    pages = report / REPLAYS
    make_folder(pages)
    files = sorted((championship / MATCHES).glob(f"*{ENDING}"))
    due = [file for file in files if is_newer(file, page_of(file, pages))]
    if not due:
        return
    viewer = PackedViewer.of(decode(due[0].read_bytes())["game"])
    if viewer.write(pages):
        # A page's policy allows only one version of the viewer, so write all pages again.
        due = files
    for file in due:
        write_whole(page_of(file, pages), viewer.page(stem_of(file), file.read_bytes()).encode())


@dataclass(frozen=True, slots=True)
class PackedViewer:
    """The viewer shared by all pages of a folder."""

    game: str
    modules: str
    template: Template

    @staticmethod
    def of(game: str) -> PackedViewer:
        """Return the current version's viewer for replays of a game."""
        template = environment(game).get_template("replay_in_report.html")
        return PackedViewer(game, modules_of(game), template)

    def write(self, pages: Path) -> bool:
        """Write the files shared by all pages; return whether the script has changed."""
        is_new = renewed(pages / "viewer.js", script(self.modules))
        renewed(pages / "viewer.css", style())
        return is_new

    def page(self, name: str, replay: bytes) -> str:
        """Return a replay's page: its data, and the code that loads the viewer."""
        scripts = f"'self' file: data: {digest(self.modules)} {digest(START)}"
        return self.template.render(
            policy=f"default-src 'none'; script-src {scripts}; style-src 'self' file:; {IMAGES}",
            name=name,
            frames=packed_frames(decode(replay)) if needs_frames(self.game) else "",
            data=b64encode(replay).decode(),
        )


def page_of(file: Path, pages: Path) -> Path:
    """Return the path of a replay's page."""
    return pages / f"{stem_of(file)}.html"


def stem_of(file: Path) -> str:
    """Return a replay's file name without its extension."""
    return file.name.removesuffix(ENDING)


def renewed(file: Path, text: str) -> bool:
    """Write a file unless it already contains this text; return whether it was written."""
    if file.exists() and read(file) == text:
        return False
    write_whole(file, text.encode())
    return True


def is_newer(file: Path, other: Path) -> bool:
    """Return whether `file` was written after `other`, or `other` does not exist."""
    return not other.exists() or file.stat().st_mtime_ns > other.stat().st_mtime_ns


def script(modules: str) -> str:
    """Return the script shared by all pages."""
    base = read(asset("static") / "base.js")
    texts = f"const MODULES = {json.dumps(modules)};\nconst START = {json.dumps(START)};\n"
    return f"{base}\n{texts}{LOADER}"


def style() -> str:
    """Return the CSS shared by all pages."""
    return "".join(read(asset("static") / name) for name in ("base.css", "viewer.css"))


HANDOUTS: Final = "handouts"
OUTPUT: Final = "output.txt"


def write_handouts(out: Path, played: Played, settings: ChampionshipSettings) -> list[Path]:
    """Write a handout folder for each team, and return the folders.

    Each is self-contained: a page, the replays of the team's matches, and its program's output.
    Raises Failure if a file cannot be read or written.
    """
    document, viewer = report_of(played, settings).document, PackedViewer.of(settings.game)
    return [
        write_handout(out, played, team_document(document, team), viewer) for team in settings.teams
    ]


def team_document(document: Mapping[str, Any], team: str) -> dict[str, Json]:
    """Return what a team may read: its own entry, but only the results of other teams."""
    (own,) = (one for one in document["teams"] if one["id"] == team)
    rows = document["ranking"]
    return {
        "team": own,
        "names": document["team_names"],
        "game_title": title_of(document["game"]),
        "over": document["over"],
        "ranking": rows,
        "row": next((row for row in rows if row["team"] == team), None),
    }


def write_handout(
    out: Path, played: Played, document: Mapping[str, Any], viewer: PackedViewer
) -> Path:
    """Write a team's folder, and return its path."""
    team: str = document["team"]["id"]
    folder = out / HANDOUTS / team
    replays = folder / REPLAYS
    make_folder(replays)
    viewer.write(replays)
    own = [entry for entry in played.entries if team in entry.players]
    outputs = dict(outputs_of(own, team))
    for entry in own:
        stem = journal_stem_of(entry.fixture)
        data = encode(replay_for(out, entry, team), packed=True)
        write_whole(replays / f"{stem}{ENDING}", data)
        write_whole(replays / f"{stem}.html", viewer.page(stem, data).encode())
    write_whole(folder / OUTPUT, stderr_of(played, team).encode())
    page = {**document, "outputs": outputs, "style": handout_style(), "replays": f"{REPLAYS}/"}
    write_whole(
        folder / "index.html",
        rendered("championship_handout.html", page | {"file_ending": ENDING}).encode(),
    )
    return folder


def outputs_of(entries: Iterable[Entry], team: str) -> Iterator[tuple[str, str]]:
    """Yield each match's name and the output of the team's program in it."""
    for entry in entries:
        text = entry.stderr[entry.players.index(team)].strip() if entry.stderr else ""
        if text:
            yield journal_stem_of(entry.fixture), text


def replay_for(out: Path, entry: Entry, team: str) -> Document:
    """Return a match's replay for one of its teams; raise Failure if it cannot be read."""
    file = out / MATCHES / f"{journal_stem_of(entry.fixture)}{ENDING}"
    try:
        document = decode(file.read_bytes())
    except OSError as error:
        raise Failure(f"{file} cannot be read: {error.strerror}") from None
    players = document["players"]
    names = [player["name"] for player in players]
    return public_replay(document, names, {str(players[entry.players.index(team)]["player"])})


def handout_style() -> str:
    """Return the handout page's CSS."""
    return "".join(
        (asset("static") / name).read_text(encoding="utf-8")
        for name in ("base.css", "championship.css")
    )
