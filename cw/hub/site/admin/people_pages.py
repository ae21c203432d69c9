"""PEOPLE, at `/admin/people`: admins find accounts, lock them, and end their sessions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from flask import Blueprint, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue

from cw.errors import UsageError
from cw.hub.accounts import users
from cw.hub.accounts.access.actor import player
from cw.hub.accounts.pages import go
from cw.hub.accounts.people import HOUSE
from cw.hub.pages.parts import address_with, notice
from cw.hub.pages.request import one_reading, resources
from cw.hub.site.admin.pages import admins_only, wanted_page, wanted_text
from cw.hub.site.admin.people import find_people

routes = Blueprint("people", __name__)

ACTS: Final[Mapping[str, tuple[Callable[..., Any], str]]] = {
    "lock": (users.lock, "{name} is locked, and all their sessions have ended."),
    "unlock": (users.unlock, "{name} may log in again."),
    "end-sessions": (users.end_sessions, "All sessions of {name} have ended."),
}
"""By the last word of the address: what is done, and the sentence about it."""

OF_ADMINS: Final = "Accounts of admins, and that of the site, are led by the operator: cw hub user."
UNCONFIRMED: Final = "Nothing has changed: to confirm, type {name}."


@routes.get("/admin/people")
@admins_only
def page() -> ResponseReturnValue:
    """List accounts, the newest first."""
    text = wanted_text()
    with one_reading() as session:
        listing = find_people(session, text, wanted_page())
    return render_template(
        "hub/site/admin/people.html", page=listing, text=text, address_with=address_with
    )


@routes.post("/admin/people/<username>/<any('lock', 'unlock', 'end-sessions'):verb>")
@admins_only
def act(username: str, verb: str) -> ResponseReturnValue:
    """Do something to the account whose name is typed."""
    hub, (do, sentence) = resources(), ACTS[verb]
    try:
        with hub.database.writing() as session:
            account = users.find(session, username)
            words = refusal(account)
            if not words:
                do(session, hub.clock, username, actor=player().username)
    except UsageError:
        abort(404, "There is no such account.")
    notice(words or sentence.format(name=account.username), "bad" if words else "good")
    return go(url_for("people.page", q=account.username))


def refusal(account: users.Facts) -> str:
    """Return why nothing is done to an account; "" if it is."""
    if account.role == "admin" or account.username == HOUSE:
        return OF_ADMINS
    is_confirmed = request.form.get("sure", "").casefold() == account.username.casefold()
    return "" if is_confirmed else UNCONFIRMED.format(name=account.username)
