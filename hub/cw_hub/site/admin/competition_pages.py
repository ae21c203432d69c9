"""Pages on which admins create and manage competitions of any format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flask import Blueprint, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue

from cw.errors import UsageError
from cw.games.registry import game_entries
from cw.web.games import game_page
from cw_hub.accounts import uploads
from cw_hub.accounts.actor import player
from cw_hub.accounts.pages import go
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.format import Format, NewCompetition, format_named
from cw_hub.competitions.forms import change_picture_of, read_all, show_all
from cw_hub.competitions.service import (
    LONGEST_TITLE,
    STEERED,
    CompetitionFacts,
    CompetitionTaken,
    Dates,
    dates_of,
    field_text,
    problem_of,
    read_dates,
)
from cw_hub.pages.forms import is_slug, zone_names
from cw_hub.pages.layout import address_with, notice
from cw_hub.pages.request import one_reading, resources
from cw_hub.site.admin.competitions import find_competitions
from cw_hub.site.admin.pages import admins_only, is_sure, wanted_page, wanted_text
from cw_hub.site.formats import site_formats

routes = Blueprint("admin_competitions", __name__)

NO_COMPETITION: Final = "There is no such competition."
LED_ELSEWHERE: Final = (
    "Nothing has changed: {title} is paused and resumed on this page, by its events."
)


@routes.get("/admin/competitions")
@admins_only
def page() -> ResponseReturnValue:
    """List the competitions, running ones first."""
    text = wanted_text()
    with one_reading() as session:
        listing = find_competitions(session, text, wanted_page())
    own = {format_.name: format_ for format_ in site_formats()}
    return render_template(
        "hub/site/admin/competitions.html",
        page=listing,
        text=text,
        formats=own,
        address_with=address_with,
    )


@routes.post("/admin/<format_name>/<slug>/pause", endpoint="pause", defaults={"paused": True})
@routes.post("/admin/<format_name>/<slug>/resume", endpoint="resume", defaults={"paused": False})
@admins_only
def set_paused(format_name: str, slug: str, *, paused: bool) -> ResponseReturnValue:
    """Pause or resume a competition."""
    hub = resources()
    with one_reading() as reading:
        facts = competitions_service.find(reading, format_name, slug) or abort(404, NO_COMPETITION)
    format_ = format_named(site_formats(), format_name) or abort(404, NO_COMPETITION)
    own_page = format_.host_page(facts)
    if own_page is not None:
        notice(LED_ELSEWHERE.format(title=facts.title), "bad")
        return go(own_page)
    here = go(url_for("admin_competitions.page", q=slug))
    if not is_sure():
        return here
    with hub.database.writing() as session:
        done = competitions_service.set_paused(session, facts.id, player().username, paused=paused)
    if done:
        notice(f"{facts.title} was {'paused' if paused else 'resumed'}.")
    else:
        notice("The competition has changed since you loaded the page.", "bad")
    return here


competition_routes = Blueprint("organising", __name__, url_prefix="/competitions")

NO_STATE: Final = "There is no such state."
NO_SLUG: Final = "The address must be 1 to 32 lower-case letters, digits and hyphens."
AT_ITS_TIME: Final = "It begins at its time, or when you start it."
BY_HAND: Final = "It begins when you start it."
NO_TITLE: Final = "Please enter a title."
WRONG_NAME: Final = "The name that you typed is not that of the competition: it was not ended."


def offered() -> dict[str, Format]:
    """Return the formats of competitions that can be created here, by name."""
    return {format_.name: format_ for format_ in site_formats() if format_.about}


def games() -> dict[str, str]:
    """Return the titles of the games, by name."""
    return {name: game_page(name).title for name in game_entries()}


@dataclass(frozen=True, slots=True)
class Draft:
    """A competition being created: its format, its game, and the form's input."""

    format: Format
    game: str
    texts: dict[str, str]


@competition_routes.get("/new")
@admins_only
def new() -> str:
    """Show the form of a new competition, once its format and game are chosen.

    `like` names a competition whose settings prefill the form.
    """
    format_ = offered().get(request.args.get("format", ""))
    game = request.args.get("game", "")
    texts: dict[str, str] = {}
    if like := request.args.get("like", ""):
        format_, game, texts = model(like)
    if format_ is None or game not in games():
        return form_page(None)
    return form_page(Draft(format_, game, texts))


def model(like: str) -> tuple[Format, str, dict[str, str]]:
    """Return format, game and form texts of a competition `FORMAT/SLUG`; 404 if there is none."""
    facts = competition_or_404(*like.partition("/")[::2])
    format_ = offered().get(facts.format) or abort(404, NO_COMPETITION)
    with one_reading() as reading:
        texts = format_.texts(reading, facts)
    texts |= {"description": facts.description, "dates_zone": facts.zone}
    return format_, facts.game, texts


def form_page(draft: Draft | None, error: str = "") -> str:
    """Return the page with the form, or with the choice of format and game that precedes it."""
    return render_template(
        "hub/site/admin/new_competition.html",
        formats=offered(),
        games=games(),
        draft=draft,
        zones=zone_names(),
        error=error,
        longest=LONGEST_TITLE,
    )


@competition_routes.post("/new")
@admins_only
def create() -> ResponseReturnValue:
    """Create a competition, a draft until it is started; show errors in the form."""
    format_ = offered().get(request.form.get("format", "")) or abort(404, NO_COMPETITION)
    game = request.form.get("game", "")
    if game not in games():
        abort(404, NO_COMPETITION)
    try:
        facts = created(format_, game)
    except (UsageError, CompetitionTaken) as error:
        draft = Draft(format_, game, request.form.to_dict())
        return form_page(draft, str(error)), 422
    begins_itself = format_.has_events and request.form.get("starts", "").strip()
    notice(f"{facts.title} was created. {AT_ITS_TIME if begins_itself else BY_HAND}")
    return go(address_of(format_, facts))


def created(format_: Format, game: str) -> CompetitionFacts:
    """Create the competition of the form; raise UsageError with a message if invalid."""
    title, slug, description = (
        request.form.get(name, "").strip() for name in ("title", "slug", "description")
    )
    if not title:
        raise UsageError(NO_TITLE)
    if slug and not is_slug(slug):
        raise UsageError(NO_SLUG)
    values = read_all(format_.fields, request.form)
    wanted, dates = NewCompetition(game, title, slug or game, values, description), typed_dates()
    hub, actor = resources(), player().username
    picture = uploads.keep_upload(str(player().user_id), "wide") if uploads.has_upload() else None
    with hub.database.writing() as session:
        facts = format_.create(session, wanted, actor)
        format_.schedule(session, facts, dates, actor)
        if picture is not None:
            competitions_service.set_picture(session, facts.id, picture, actor=actor)
    return facts


def typed_dates() -> Dates:
    """Return the dates of the form; raise UsageError with a message if invalid."""
    texts = (request.form.get(name, "").strip() for name in ("starts", "ends", "dates_zone"))
    return read_dates(*texts)


def address_of(format_: Format, facts: CompetitionFacts) -> str:
    """Return the URL of a competition's management page."""
    own_page = format_.host_page(facts)
    return own_page or url_for("organising.page", format_name=facts.format, slug=facts.slug)


def competition_or_404(format_name: str, slug: str) -> CompetitionFacts:
    """Return a competition; abort with 404 if there is none."""
    with one_reading() as reading:
        return competitions_service.find(reading, format_name, slug) or abort(404, NO_COMPETITION)


def format_of(facts: CompetitionFacts) -> Format:
    """Return a competition's format; abort with 404 if this site does not have it."""
    return format_named(site_formats(), facts.format) or abort(404, NO_COMPETITION)


@competition_routes.get("/<format_name>/<slug>", endpoint="page")
@admins_only
def show_competition(format_name: str, slug: str) -> ResponseReturnValue:
    """Show the settings and status of a competition, and the actions available."""
    facts = competition_or_404(format_name, slug)
    own_page = format_of(facts).host_page(facts)
    return lead_page(facts) if own_page is None else go(own_page)


def lead_page(
    facts: CompetitionFacts,
    typed: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
) -> str:
    """Return a competition's page with the form's input, and the errors of each form."""
    format_ = format_of(facts)
    with one_reading() as reading:
        dates, problem = dates_of(reading, facts.id), problem_of(reading, facts.id)
    texts = show_all(format_.fields, facts.settings)
    texts |= {"title": facts.title, "description": facts.description, "dates_zone": facts.zone}
    texts |= {
        "starts": field_text(dates.starts, facts.zone),
        "ends": field_text(dates.ends, facts.zone),
    }
    return render_template(
        "hub/site/admin/competition.html",
        facts=facts,
        format=format_,
        game=games().get(facts.game, facts.game),
        texts={**texts, **(typed or {})},
        longest=LONGEST_TITLE,
        zones=zone_names(),
        dates=dates,
        problem=problem if facts.state == "draft" else "",
        address=format_.address(facts),
        errors=errors or {},
    )


@competition_routes.post("/<format_name>/<slug>/settings")
@admins_only
def change(format_name: str, slug: str) -> ResponseReturnValue:
    """Change the settings of a competition; show errors in the form."""
    facts, hub = competition_or_404(format_name, slug), resources()
    format_ = format_of(facts)
    try:
        values = read_all(format_.fields, request.form)
        with hub.database.writing() as session:
            format_.change(session, facts, values, player().username)
    except UsageError as error:
        return lead_page(facts, request.form, {"settings": str(error)}), 422
    notice("The settings were saved.")
    return go(url_for("organising.page", format_name=format_name, slug=slug))


@competition_routes.post("/<format_name>/<slug>/words")
@admins_only
def describe(format_name: str, slug: str) -> ResponseReturnValue:
    """Change the title and description of a competition; show errors in the form."""
    facts, hub = competition_or_404(format_name, slug), resources()
    words = {name: request.form.get(name) for name in ("title", "description")}
    try:
        with hub.database.writing() as session:
            competitions_service.describe(session, facts.id, actor=player().username, **words)
    except UsageError as error:
        return lead_page(facts, request.form, {"words": str(error)}), 422
    notice("The texts were saved.")
    return go(url_for("organising.page", format_name=format_name, slug=slug))


@competition_routes.post("/<format_name>/<slug>/picture")
@admins_only
def change_picture(format_name: str, slug: str) -> ResponseReturnValue:
    """Store or remove the image of a competition; show errors in the form."""
    facts = competition_or_404(format_name, slug)
    try:
        change_picture_of(facts, str(player().user_id), player().username)
    except UsageError as error:
        return lead_page(facts, errors={"picture": str(error)}), 422
    return go(url_for("organising.page", format_name=format_name, slug=slug))


@competition_routes.post("/<format_name>/<slug>/dates")
@admins_only
def schedule(format_name: str, slug: str) -> ResponseReturnValue:
    """Set when a competition starts and ends automatically; show errors in the form."""
    facts, hub = competition_or_404(format_name, slug), resources()
    try:
        dates = typed_dates()
        with hub.database.writing() as session:
            format_of(facts).schedule(session, facts, dates, player().username)
    except UsageError as error:
        return lead_page(facts, request.form, {"dates": str(error)}), 422
    notice("The dates were saved.")
    return go(url_for("organising.page", format_name=format_name, slug=slug))


@competition_routes.post("/<format_name>/<slug>/state")
@admins_only
def steer(format_name: str, slug: str) -> ResponseReturnValue:
    """Announce, start, pause or end a competition; ending it requires typing its name."""
    facts, hub = competition_or_404(format_name, slug), resources()
    state = STEERED.get(request.form.get("state", "")) or abort(400, NO_STATE)
    here = go(url_for("organising.page", format_name=format_name, slug=slug))
    if state == "over" and request.form.get("name", "").strip() != facts.title:
        notice(WRONG_NAME, "bad")
        return here
    try:
        with hub.database.writing() as session:
            format_of(facts).steer(session, facts, state, player().username)
    except UsageError as error:
        notice(str(error), "bad")
    return here
