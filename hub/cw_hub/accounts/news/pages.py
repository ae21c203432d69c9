"""The page behind links that turn news off; mail programs may press its button by themselves."""

from __future__ import annotations

from flask import Blueprint, abort, render_template, request
from flask.typing import ResponseReturnValue

from cw_hub.accounts.news import choices
from cw_hub.pages.request import resources

routes = Blueprint("news", __name__)

NOT_OURS = "This link is incomplete. Turn mails off in your settings instead."


@routes.route("/unsubscribe/<ticket>", methods=["GET", "POST"])
def unsubscribe(ticket: str) -> ResponseReturnValue:
    """Ask whether to turn news off; a POST does so, with no token but the link (RFC 8058).

    Opening the link changes nothing: security scanners open all links in mails.
    """
    hub = resources()
    subscription = choices.read_ticket(hub.secret_key, ticket)
    if subscription is None:
        abort(404, NOT_OURS)
    is_off = request.method == "POST"
    if is_off:
        with hub.database.writing() as session:
            choices.turn_off(session, subscription)
    about = choices.CHOICES[subscription.kind].about
    return render_template("hub/accounts/unsubscribe.html", about=about, is_off=is_off)
