"""Pages at `/admin/mails`: which emails were sent to whom, and which ones failed."""

from __future__ import annotations

from typing import Final

from flask import Blueprint, render_template, request, url_for
from flask.typing import ResponseReturnValue

from cw_hub.accounts import audit, mail
from cw_hub.accounts.actor import player
from cw_hub.accounts.pages import go, send_soon
from cw_hub.pages.layout import address_with, notice
from cw_hub.pages.request import one_reading, resources
from cw_hub.site.admin.mails import STATES, MailChoice, find_mails
from cw_hub.site.admin.pages import admins_only, is_sure, wanted_page, wanted_text

routes = Blueprint("admin_mails", __name__)

LONGEST_ADDRESS: Final = 254


@routes.get("/admin/mails")
@admins_only
def page() -> ResponseReturnValue:
    """List emails, failed ones first."""
    state = request.args.get("state", "")
    wanted = MailChoice(wanted_text("to", LONGEST_ADDRESS), state if state in STATES else "")
    with one_reading() as session:
        listing = find_mails(session, wanted, wanted_page())
        numbers = mail.numbers(session)
    return render_template(
        "hub/site/admin/mails.html",
        page=listing,
        wanted=wanted,
        numbers=numbers,
        states=STATES,
        attempts=mail.ATTEMPTS,
        address_with=address_with,
    )


@routes.post("/admin/mails/<int:mail_id>/send")
@admins_only
def send(mail_id: int) -> ResponseReturnValue:
    """Retry a failed email."""
    here, hub = go(url_for("admin_mails.page")), resources()
    if not is_sure():
        return here
    with hub.database.writing() as session:
        done = mail.send_again(session, mail_id)
        if done:
            audit.note(session, player().username, "send mail", f"mail:{mail_id}")
    if done:
        send_soon(mail_id)
        notice("The mail is being sent.")
    else:
        notice("The mail has changed since you loaded the page.", "bad")
    return here
