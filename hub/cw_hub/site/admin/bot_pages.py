"""Pages at `/admin/bots` where admins find, check, suspend and restore bots."""

from __future__ import annotations

from typing import Final

from flask import Blueprint, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from cw.errors import UsageError
from cw_hub.accounts import audit
from cw_hub.accounts.actor import player
from cw_hub.accounts.pages import go
from cw_hub.bots import check_requests, checks
from cw_hub.bots import service as bots_service
from cw_hub.pages.layout import address_with, notice
from cw_hub.pages.request import one_reading, resources
from cw_hub.site.admin.bots import CHOICES, BotChoice, find, find_bots, why_no_check
from cw_hub.site.admin.pages import LONGEST_REASON, admins_only, is_sure, wanted_page, wanted_text

routes = Blueprint("admin_bots", __name__)

NO_BOT: Final = "There is no such bot."
NO_REASON: Final = "Nothing has changed: please give a reason."
NOT_NOW: Final = "Bots cannot be checked right now. Please try again soon."


@routes.get("/admin/bots")
@admins_only
def page() -> ResponseReturnValue:
    """List bots, the newest first."""
    state = request.args.get("state", "")
    wanted = BotChoice(wanted_text(), state if state in CHOICES else "")
    with one_reading() as session:
        listing = find_bots(session, wanted, wanted_page())
    return render_template(
        "hub/site/admin/bots.html",
        page=listing,
        wanted=wanted,
        choices=CHOICES,
        address_with=address_with,
    )


def back_to(bot_id: str) -> Response:
    """Redirect to the bot in the list."""
    return go(url_for("admin_bots.page", q=bot_id))


@routes.post("/bot/<bot_id>/suspend")
@admins_only
def suspend(bot_id: str) -> ResponseReturnValue:
    """Suspend a bot until it is restored; its owner sees the reason."""
    reason, hub = request.form.get("reason", "").strip()[:LONGEST_REASON], resources()
    if not reason:
        notice(NO_REASON, "bad")
        return back_to(bot_id)
    if not is_sure():
        return back_to(bot_id)
    try:
        with hub.database.writing() as session:
            bots_service.suspend(session, bot_id, reason, player().username)
    except bots_service.WrongStatus as error:
        notice(str(error), "bad")
    except UsageError:
        abort(404, NO_BOT)
    else:
        notice("The bot was suspended. Its owner sees the reason.")
    return back_to(bot_id)


@routes.post("/bot/<bot_id>/restore")
@admins_only
def restore(bot_id: str) -> ResponseReturnValue:
    """Lift a suspension: the bot is checked again."""
    hub = resources()
    if not is_sure():
        return back_to(bot_id)
    try:
        with hub.database.writing() as session:
            bot = bots_service.restore(session, bot_id, player().username)
    except bots_service.WrongStatus as error:
        notice(str(error), "bad")
    except UsageError:
        abort(404, NO_BOT)
    else:
        check_requests.send_unasked(hub, bot)
        notice("The bot is being checked, and plays again once it has passed.")
    return back_to(bot_id)


@routes.post("/admin/bots/<bot_id>/check")
@admins_only
def check(bot_id: str) -> ResponseReturnValue:
    """Request a check of a bot, within the usual limits."""
    hub = resources()
    with one_reading() as session:
        bot = find(session, bot_id)
        refusal = why_no_check(bot) if bot else ""
    if bot is None:
        abort(404, NO_BOT)
    if refusal:
        notice(refusal, "bad")
        return back_to(bot_id)
    if not is_sure():
        return back_to(bot_id)
    owner = checks.owner_named(player().user_id)
    if bot.kind == "url":
        check_requests.claim_for(owner, bot.endpoint)
    if check_requests.send_for(owner, bot.id, is_program=bot.kind == "program"):
        with hub.database.writing() as writing:
            audit.note(writing, player().username, "check", f"bot:{bot_id}")
        notice(f"{bot.name} is being checked.", "plain")
    else:
        notice(NOT_NOW, "bad")
    return back_to(bot_id)
