"""What admins look at and do: pause competitions, suspend bots, read what was done."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final, ParamSpec

from flask import Blueprint, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue

from cw.errors import UsageError
from cw.hub.accounts.access.actor import actor, player, players_only
from cw.hub.accounts.mails import outbox
from cw.hub.accounts.pages import go, send_soon
from cw.hub.bots import verbs as bots
from cw.hub.bots.checks import check_requests
from cw.hub.competitions import verbs as competitions
from cw.hub.matches.comparisons import views as comparisons
from cw.hub.pages.parts import notice
from cw.hub.pages.request import resources
from cw.hub.site.admin import overview
from cw.hub.site.admin.overview import LogChoice

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
    hub, text = resources(), request.args.get("q", "").strip()[:LONGEST_REASON]
    wanted = LogChoice(*(request.args.get(name, "").strip()[:60] for name in ("who", "verb", "of")))
    with hub.database.reading() as session:
        service = overview.service(session, hub.clock)
        rows, log = overview.find_bots(session, text), overview.log(session, wanted)
        mails = overview.Mails(outbox.numbers(session), outbox.dead(session))
        queue = comparisons.queue(session, overview.MOST)
    return render_template(
        "hub/site/admin/page.html",
        service=service,
        rows=rows,
        log=log,
        wanted=wanted,
        text=text,
        mails=mails,
        comparisons=queue,
    )


@routes.post("/admin/mails/<int:mail_id>/send")
@admins_only
def send_mail(mail_id: int) -> ResponseReturnValue:
    """Let a mail that could not be sent be tried again."""
    hub = resources()
    with hub.database.writing() as session:
        done = outbox.send_again(session, hub.clock, mail_id)
    if done:
        send_soon(mail_id)
        notice("The mail is being sent.")
    else:
        notice("The mail is not as you saw it.", "bad")
    return go(url_for("admin.page"))


@routes.post("/admin/<format_name>/<slug>/pause", endpoint="pause", defaults={"paused": True})
@routes.post("/admin/<format_name>/<slug>/resume", endpoint="resume", defaults={"paused": False})
@admins_only
def set_paused(format_name: str, slug: str, *, paused: bool) -> ResponseReturnValue:
    """Pause a competition, or let it go on."""
    hub, actor = resources(), player().username
    with hub.database.writing() as session:
        competition = competitions.find(session, format_name, slug)
        done = competition and competitions.set_paused(
            session, hub.clock, competition.id, actor, paused=paused
        )
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
    hub = resources()
    try:
        with hub.database.writing() as session:
            bots.suspend(session, hub.clock, bot_id, reason, player().username)
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
    hub = resources()
    try:
        with hub.database.writing() as session:
            bot = bots.restore(session, hub.clock, bot_id, player().username)
    except bots.WrongStatus as error:
        abort(409, str(error))
    except UsageError as error:
        abort(404, str(error))
    check_requests.send_unasked(hub, bot)
    notice("The bot is being checked.")
    return go(url_for("admin.page"))
