"""COMPETITIONS, at `/admin/competitions`: all of them, with their hosts, paused and resumed."""

from __future__ import annotations

from flask import Blueprint, render_template, url_for
from flask.typing import ResponseReturnValue

from cw.hub.accounts.access.actor import player
from cw.hub.accounts.pages import go
from cw.hub.competitions import verbs as competitions
from cw.hub.pages.parts import address_with, notice
from cw.hub.pages.request import one_reading, resources
from cw.hub.site.admin.competitions import find_competitions
from cw.hub.site.admin.pages import admins_only, is_sure, wanted_page, wanted_text

routes = Blueprint("admin_competitions", __name__)


@routes.get("/admin/competitions")
@admins_only
def page() -> ResponseReturnValue:
    """List the competitions, those that run first."""
    text = wanted_text()
    with one_reading() as session:
        listing = find_competitions(session, resources().clock, text, wanted_page())
    return render_template(
        "hub/site/admin/competitions.html", page=listing, text=text, address_with=address_with
    )


@routes.post("/admin/<format_name>/<slug>/pause", endpoint="pause", defaults={"paused": True})
@routes.post("/admin/<format_name>/<slug>/resume", endpoint="resume", defaults={"paused": False})
@admins_only
def set_paused(format_name: str, slug: str, *, paused: bool) -> ResponseReturnValue:
    """Pause a competition, or let it go on."""
    here, hub = go(url_for("admin_competitions.page", q=slug)), resources()
    if not is_sure():
        return here
    with hub.database.writing() as session:
        facts = competitions.find(session, format_name, slug)
        done = facts and competitions.set_paused(
            session, hub.clock, facts.id, player().username, paused=paused
        )
    if done and facts:
        notice(f"{facts.title} {'is paused' if paused else 'goes on'}.")
    else:
        notice("The competition is not as you saw it.", "bad")
    return here
