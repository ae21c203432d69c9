"""Pages at `/admin/people` where admins find and lock accounts, and end their sessions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from flask import Blueprint, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue

from cw.errors import UsageError
from cw_hub.accounts import administration, limits
from cw_hub.accounts.actor import player
from cw_hub.accounts.pages import go
from cw_hub.accounts.service import HOUSE
from cw_hub.pages.layout import address_with, notice
from cw_hub.pages.request import one_reading, resources
from cw_hub.site.admin.pages import admins_only, wanted_page, wanted_text
from cw_hub.site.admin.people import find_people

routes = Blueprint("people", __name__)

ACTS: Final[Mapping[str, tuple[Callable[..., Any], str]]] = {
    "lock": (administration.lock, "{name} is locked, and all their sessions have ended."),
    "unlock": (administration.unlock, "{name} may log in again."),
    "end-sessions": (administration.end_sessions, "All sessions of {name} have ended."),
    "confirm-email": (administration.confirm_email, "The address of {name} was confirmed."),
}
"""Actions by the last segment of the URL, each with the message that confirms it."""

OF_ADMINS: Final = (
    "Only the operator can change accounts of admins and that of the site: cw hub user."
)
NO_ADDRESS: Final = "Nothing has changed: {name} has no e-mail address."
UNCONFIRMED: Final = "Nothing has changed: to confirm, type {name}."


@routes.get("/admin/people")
@admins_only
def page() -> ResponseReturnValue:
    """List accounts, the newest first."""
    text = wanted_text()
    with one_reading() as session:
        listing = find_people(session, text, wanted_page())
    return render_template(
        "hub/site/admin/people.html",
        page=listing,
        text=text,
        address_with=address_with,
        limits=limits.LIMITS,
        most=limits.MOST,
    )


@routes.post(
    "/admin/people/<username>/<any('lock', 'unlock', 'end-sessions', 'confirm-email'):verb>"
)
@admins_only
def act(username: str, verb: str) -> ResponseReturnValue:
    """Apply an action to an account; its name must be typed as confirmation."""
    hub, (do, sentence) = resources(), ACTS[verb]
    try:
        with hub.database.writing() as session:
            account = administration.find(session, username)
            words = refusal(account)
            if not words:
                do(session, username, actor=player().username)
    except administration.NoAddress:
        words = NO_ADDRESS.format(name=username)
    except UsageError:
        abort(404, "There is no such account.")
    notice(words or sentence.format(name=account.username), "bad" if words else "good")
    return go(url_for("people.page", q=account.username))


@routes.post("/admin/people/<username>/limit")
@admins_only
def limit(username: str) -> ResponseReturnValue:
    """Set a limit of an account, or reset it to the default; its name must be typed."""
    hub, name = resources(), request.form.get("limit", "")
    try:
        most = limits.read_most(request.form.get("most", "").strip())
        with hub.database.writing() as session:
            account = administration.find(session, username)
            words = refusal(account)
            if not words:
                values = (username, name, most)
                administration.set_limit(session, *values, actor=player().username)
    except UsageError as error:
        notice(f"Nothing has changed: {error}.", "bad")
        return go(url_for("people.page", q=username))
    of_it = limits.LIMITS.get(name, name)
    sentence = f"{account.username}: {of_it}: {'as usual' if most is None else most}."
    notice(words or sentence, "bad" if words else "good")
    return go(url_for("people.page", q=account.username))


def refusal(account: administration.Facts) -> str:
    """Return why the request may not change an account, or ""."""
    if account.role == "admin" or account.username == HOUSE:
        return OF_ADMINS
    is_confirmed = request.form.get("sure", "").casefold() == account.username.casefold()
    return "" if is_confirmed else UNCONFIRMED.format(name=account.username)
