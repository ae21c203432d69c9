"""The pages of cups: standings, bracket and matches."""

from __future__ import annotations

from typing import Any, Final, cast

from flask import (
    Blueprint,
    Flask,
    Response,
    abort,
    current_app,
    redirect,
    render_template,
    url_for,
)
from flask.typing import ResponseReturnValue

from cw.championship.journal import Progress
from cw.championship.report import ChampionshipReport, report_of
from cw.errors import UsageError
from cw.games.rules import Json
from cw.web.championship import changed_part
from cw.web.games import game_page
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.cup import service as cup_service
from cw_hub.competitions.cup.service import NAME, key_of
from cw_hub.competitions.format import is_shown
from cw_hub.competitions.service import CompetitionFacts, dates_of
from cw_hub.pages.request import Remembered, one_reading
from cw_hub.store.database import Reading

routes = Blueprint("cups", __name__, url_prefix="/cup")

TEMPLATES: Final = "hub/competitions/cup"

CAPACITY: Final = 16
"""Number of cups whose standings a process caches."""

NO_CUP: Final = "There is no such cup."
NO_MATCH: Final = "There is no such match."
TYPES: Final = {"json": "application/json", "csv": "text/csv", "md": "text/markdown"}


def install(app: Flask) -> None:
    """Add a cache of cup standings to an app."""
    app.extensions["cups"] = Remembered[dict[str, Json]](CAPACITY)


def find(reading: Reading, slug: str) -> CompetitionFacts:
    """Return a cup by slug; abort with 404 if it is missing, or a draft hidden from the user."""
    cup = competitions_service.find(reading, NAME, slug)
    if cup is None or not is_shown(cup):
        abort(404, NO_CUP)
    return cup


def report(reading: Reading, facts: CompetitionFacts) -> tuple[ChampionshipReport, Progress]:
    """Return the standings of a cup and the progress of its matches."""
    cup = cup_service.read(reading, facts)
    planned = [
        (fixture, cup.matches[key]) for key, fixture in cup.fixtures.items() if key in cup.matches
    ]
    progress = Progress(
        len(cup.entries),
        {fixture: None for fixture, match in planned if match.state == "in_progress"},
        failed={
            fixture: match.reason or match.state
            for fixture, match in planned
            if match.state in ("failed", "void")
        },
    )
    return report_of(cup.played(), cup.settings, progress), progress


def content(reading: Reading, facts: CompetitionFacts) -> dict[str, Any]:
    """Return the template context of the page's live part; cached per revision.

    Raises UsageError with the reason if there is nothing to play yet.
    """

    def make() -> dict[str, Json]:
        document, progress = report(reading, facts)
        return document.page(progress, running=facts.state == "running")

    cache = cast("Remembered[dict[str, Json]]", current_app.extensions["cups"])
    here = url_for("cups.page", slug=facts.slug)
    return cache.find(facts.id, make, facts.revision) | {
        "base": f"{here}/matches/",
        "ending": "",
        "files": f"{here}/games/",
        "forms": f"{here}/",
        "folder": "",
        "live": f"{here}/matches/",
    }


@routes.get("/")
def index() -> str:
    """Show all cups, newest first."""
    with one_reading() as reading:
        cups = competitions_service.of_format(reading, NAME)
    visible = [cup for cup in cups if cup.state != "draft"]
    games = {cup.game: game_page(cup.game).title for cup in visible}
    return render_template(f"{TEMPLATES}/index.html", cups=visible, games=games)


@routes.get("/<slug>")
def page(slug: str) -> str:
    """Show the tables, bracket and matches of a cup."""
    with one_reading() as reading:
        cup = find(reading, slug)
        dates = dates_of(reading, cup.id)
        try:
            context = content(reading, cup)
        except UsageError as error:
            return render_template(
                f"{TEMPLATES}/waiting.html", cup=cup, dates=dates, why=str(error)
            )
    return render_template(
        f"{TEMPLATES}/cup.html", cup=cup, dates=dates, tag=tag_of(cup), **context
    )


def tag_of(cup: CompetitionFacts) -> str:
    """Return a tag that changes with the content of a cup's pages."""
    return f"cup-{cup.id}-{cup.revision}"


@routes.get("/<slug>/stand")
def stand(slug: str) -> Response:
    """Return the live part of the page, or 304 if it is unchanged."""
    with one_reading() as reading:
        cup = find(reading, slug)
        try:
            return changed_part(
                tag_of(cup),
                lambda: render_template("championship_content.html", **content(reading, cup)),
            )
        except UsageError as error:
            abort(404, str(error))


@routes.get("/<slug>/<any('report.json', 'report.md', 'games.csv'):name>")
def form(slug: str, name: str) -> Response:
    """Return the cup's report as JSON, CSV or Markdown."""
    with one_reading() as reading:
        document, _ = report(reading, find(reading, slug))
    kind = name.rpartition(".")[2]
    write = {"json": document.as_json, "md": document.as_markdown, "csv": document.as_csv}[kind]
    return Response(write(), content_type=f"{TYPES[kind]}; charset=utf-8")


@routes.get("/<slug>/matches/<stem>")
def match(slug: str, stem: str) -> ResponseReturnValue:
    """Redirect to the page of a cup match."""
    return redirect(url_for("match.page", match_id=match_named(slug, stem)))


@routes.get("/<slug>/games/<stem>.json.gz")
def game(slug: str, stem: str) -> ResponseReturnValue:
    """Redirect to the replay download of a cup match."""
    return redirect(url_for("match.download", match_id=match_named(slug, stem)))


@routes.get("/<slug>/games/<stem>.log")
def log(slug: str, stem: str) -> ResponseReturnValue:
    """Redirect to the replay of a Circuit Wars match, which includes its moves."""
    return game(slug, stem)


def match_named(slug: str, stem: str) -> str:
    """Return the match id of a cup match; abort with 404 if there is none."""
    with one_reading() as reading:
        cup = find(reading, slug)
        name = competitions_service.match_with_key(reading, cup.id, key_of(slug, stem))
    return name or abort(404, NO_MATCH)
