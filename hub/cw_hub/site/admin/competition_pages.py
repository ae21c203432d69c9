"""Pages on which admins create and manage competitions of any format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from flask import Blueprint, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue

from cw.errors import UsageError
from cw.games.registry import game_entries
from cw.web.games import game_page
from cw_hub.accounts import picture_uploads
from cw_hub.accounts.actor import one_writing, player
from cw_hub.accounts.pages import redirect_to
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
from cw_hub.pages.layout import notice
from cw_hub.pages.request import one_reading
from cw_hub.site.admin.pages import admins_only
from cw_hub.site.formats import site_formats

routes = Blueprint("organising", __name__, url_prefix="/competitions")

NO_COMPETITION: Final = "There is no such competition."
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


@routes.get("/new")
@admins_only
def new() -> str:
    """Show the form of a new competition, once its format and game are chosen.

    `like` names a competition `FORMAT/SLUG` whose settings prefill the form.
    """
    format_, game = offered().get(request.args.get("format", "")), request.args.get("game", "")
    texts: dict[str, str] = {}
    if like := request.args.get("like", ""):
        model = competition_or_404(*like.partition("/")[::2])
        format_, game = offered().get(model.format) or abort(404, NO_COMPETITION), model.game
        with one_reading() as reading:
            texts = format_.texts(reading, model)
        texts |= {"description": model.description, "dates_zone": model.zone}
    return form_page(format_ if game in games() else None, game, texts)


def form_page(format_: Format | None, game: str, texts: Mapping[str, str], error: str = "") -> str:
    """Return the page with the form, or with the choice of format and game that precedes it."""
    return render_template(
        "hub/site/admin/new_competition.html",
        formats=offered(),
        games=games(),
        format=format_,
        game=game,
        texts=texts,
        zones=zone_names(),
        error=error,
        longest=LONGEST_TITLE,
    )


@routes.post("/new")
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
        return form_page(format_, game, request.form, str(error)), 422
    begins_itself = format_.has_events and request.form.get("starts", "").strip()
    notice(f"{facts.title} was created. {AT_ITS_TIME if begins_itself else BY_HAND}")
    return redirect_to(page_of(facts))


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
    picture = (
        picture_uploads.keep_upload(str(player().user_id), "wide")
        if picture_uploads.has_upload()
        else None
    )
    with one_writing() as session:
        facts = format_.create(session, wanted)
        format_.schedule(session, facts, dates)
        if picture is not None:
            competitions_service.set_picture(session, facts.id, picture)
    return facts


def typed_dates() -> Dates:
    """Return the dates of the form; raise UsageError with a message if invalid."""
    texts = (request.form.get(name, "").strip() for name in ("starts", "ends", "dates_zone"))
    return read_dates(*texts)


def page_of(facts: CompetitionFacts) -> str:
    """Return the URL of a competition's management page."""
    own_page = format_of(facts).host_page(facts)
    return own_page or url_for("organising.page", format_name=facts.format, slug=facts.slug)


def competition_or_404(format_name: str, slug: str) -> CompetitionFacts:
    """Return a competition; abort with 404 if there is none."""
    with one_reading() as reading:
        return competitions_service.find(reading, format_name, slug) or abort(404, NO_COMPETITION)


def format_of(facts: CompetitionFacts) -> Format:
    """Return a competition's format; abort with 404 if this site does not have it."""
    return format_named(site_formats(), facts.format) or abort(404, NO_COMPETITION)


@routes.get("/<format_name>/<slug>", endpoint="page")
@admins_only
def show_competition(format_name: str, slug: str) -> ResponseReturnValue:
    """Show the settings and status of a competition, and the actions available."""
    facts = competition_or_404(format_name, slug)
    own_page = format_of(facts).host_page(facts)
    return lead_page(facts) if own_page is None else redirect_to(own_page)


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


SAVED: Final = {
    "settings": "The settings were saved.",
    "words": "The texts were saved.",
    "dates": "The dates were saved.",
}
"""What the page says once a form is saved, by the last part of its URL."""


@routes.post("/<format_name>/<slug>/settings", endpoint="settings", defaults={"form": "settings"})
@routes.post("/<format_name>/<slug>/words", endpoint="words", defaults={"form": "words"})
@routes.post("/<format_name>/<slug>/dates", endpoint="dates", defaults={"form": "dates"})
@admins_only
def save(format_name: str, slug: str, form: str) -> ResponseReturnValue:
    """Change the settings, texts or dates of a competition; show errors in the form."""
    facts = competition_or_404(format_name, slug)
    format_ = format_of(facts)
    try:
        with one_writing() as session:
            if form == "settings":
                values = read_all(format_.fields, request.form)
                format_.change(session, facts, values)
            elif form == "dates":
                format_.schedule(session, facts, typed_dates())
            else:
                words = {name: request.form.get(name) for name in ("title", "description")}
                competitions_service.describe(session, facts.id, **words)
    except UsageError as error:
        return lead_page(facts, request.form, {form: str(error)}), 422
    notice(SAVED[form])
    return redirect_to(page_of(facts))


@routes.post("/<format_name>/<slug>/picture")
@admins_only
def change_picture(format_name: str, slug: str) -> ResponseReturnValue:
    """Store or remove the image of a competition; show errors in the form."""
    facts = competition_or_404(format_name, slug)
    try:
        change_picture_of(facts, str(player().user_id), player().username)
    except UsageError as error:
        return lead_page(facts, errors={"picture": str(error)}), 422
    return redirect_to(page_of(facts))


@routes.post("/<format_name>/<slug>/state")
@admins_only
def steer(format_name: str, slug: str) -> ResponseReturnValue:
    """Announce, start, pause or end a competition; ending it requires typing its name."""
    facts = competition_or_404(format_name, slug)
    state = STEERED.get(request.form.get("state", "")) or abort(400, NO_STATE)
    if state == "over" and request.form.get("name", "").strip() != facts.title:
        notice(WRONG_NAME, "bad")
        return redirect_to(page_of(facts))
    try:
        with one_writing() as session:
            format_of(facts).steer(session, facts, state)
    except UsageError as error:
        notice(str(error), "bad")
    return redirect_to(page_of(facts))
