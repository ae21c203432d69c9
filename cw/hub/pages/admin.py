"""What admins look at and do: pause competitions, suspend bots, read what was done."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final, ParamSpec

from flask import Blueprint, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue

from cw.errors import UsageError
from cw.hub.pages.account import go
from cw.hub.pages.actor import actor, player, players_only, resources
from cw.hub.pages.layout import notice
from cw.hub.services import bots, competitions, overview

routes = Blueprint("admin", __name__)

P = ParamSpec("P")

FOR_ADMINS: Final = "This page is for admins."
LONGEST_REASON: Final = 200


def admins_only(view: Callable[P, ResponseReturnValue]) -> Callable[P, ResponseReturnValue]:
    """Let admins alone see a page: visitors are sent to log in, others are told so."""

    @players_only
    @wraps(view)
    def seen(*args: P.args, **kwargs: P.kwargs) -> ResponseReturnValue:
        if not actor().is_admin:
            abort(403, FOR_ADMINS)
        return view(*args, **kwargs)

    return seen


@routes.get("/admin")
@admins_only
def page() -> ResponseReturnValue:
    """Show how the site does, its bots, and what was done."""
    held, text = resources(), request.args.get("q", "").strip()[:LONGEST_REASON]
    with held.database.reading() as session:
        service = overview.service(session, held.clock)
        found, log = overview.find_bots(session, text), overview.log(session)
    return render_template("hub/admin.html", service=service, found=found, log=log, text=text)


@routes.post("/admin/<format_name>/<slug>/pause", endpoint="pause", defaults={"paused": True})
@routes.post("/admin/<format_name>/<slug>/resume", endpoint="resume", defaults={"paused": False})
@admins_only
def set_paused(format_name: str, slug: str, *, paused: bool) -> ResponseReturnValue:
    """Pause a competition, or let it go on."""
    held, actor = resources(), player().username
    with held.database.writing() as session:
        of = competitions.find(session, format_name, slug)
        done = of and competitions.set_paused(session, held.clock, of.id, actor, paused=paused)
    if not done:
        notice("The competition is not as you saw it.", "bad")
    return go(url_for("admin.page"))


@routes.post("/bot/<bot_id>/suspend")
@admins_only
def suspend(bot_id: str) -> ResponseReturnValue:
    """Take a bot out until it is restored; its reason is shown to its owner."""
    reason = request.form.get("reason", "").strip()[:LONGEST_REASON]
    if not reason:
        notice("Please give a reason.", "bad")
        return go(url_for("admin.page", q=request.form.get("q", "")))
    held = resources()
    try:
        with held.database.writing() as session:
            bots.suspend(session, held.clock, bot_id, reason, player().username)
    except bots.WrongStatus as error:
        abort(409, str(error))
    except UsageError as error:
        abort(404, str(error))
    notice("The bot is suspended.")
    return go(url_for("admin.page"))


@routes.post("/bot/<bot_id>/restore")
@admins_only
def restore(bot_id: str) -> ResponseReturnValue:
    """Lift a suspension: the bot is checked again."""
    held = resources()
    try:
        with held.database.writing() as session:
            bot = bots.restore(session, held.clock, bot_id, player().username)
    except bots.WrongStatus as error:
        abort(409, str(error))
    except UsageError as error:
        abort(404, str(error))
    held.queue.send(bots.CHECK, bot)
    notice("The bot is being checked.")
    return go(url_for("admin.page"))
