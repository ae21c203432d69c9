"""COMPETITIONS, at `/admin/competitions`: all of them with their hosts; pausing and resuming."""

from __future__ import annotations

from typing import Final

from flask import Blueprint, abort, render_template, url_for
from flask.typing import ResponseReturnValue

from cw_hub.accounts.access.actor import player
from cw_hub.accounts.pages import go
from cw_hub.competitions import verbs as competitions
from cw_hub.competitions.format import format_named
from cw_hub.pages.parts import address_with, notice
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
        listing = find_competitions(session, resources().clock, text, wanted_page())
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
        facts = competitions.find(reading, format_name, slug) or abort(404, NO_COMPETITION)
    format_ = format_named(site_formats(), format_name) or abort(404, NO_COMPETITION)
    if format_.led_at is not None:
        notice(LED_ELSEWHERE.format(title=facts.title), "bad")
        return go(format_.led_at(facts))
    here = go(url_for("admin_competitions.page", q=slug))
    if not is_sure():
        return here
    with hub.database.writing() as session:
        done = competitions.set_paused(
            session, hub.clock, facts.id, player().username, paused=paused
        )
    if done:
        notice(f"{facts.title} was {'paused' if paused else 'resumed'}.")
    else:
        notice("The competition has changed since you loaded the page.", "bad")
    return here
