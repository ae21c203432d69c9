"""The area of admins, at `/admin`: who may come in, how they confirm, and its first page."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final, ParamSpec

from flask import Blueprint, abort, render_template, request
from flask.typing import ResponseReturnValue

from cw.hub.accounts.access.actor import actor, players_only
from cw.hub.pages.parts import notice
from cw.hub.pages.queries import whole_number
from cw.hub.pages.request import one_reading, resources
from cw.hub.site.admin import overview
from cw.hub.site.admin.log import latest

routes = Blueprint("admin", __name__)

P = ParamSpec("P")

FOR_ADMINS: Final = "This page is for admins."
UNSURE: Final = "Nothing has changed: tick the box to confirm."
LONGEST_REASON: Final = 200
MOST_PAGES: Final = 1000
LONGEST: Final = 60
"""Characters of what a list is searched for."""


def admins_only(view: Callable[P, ResponseReturnValue]) -> Callable[P, ResponseReturnValue]:
    """Let admins alone see a page: visitors are sent to log in, others are told so."""

    @players_only
    @wraps(view)
    def seen(*args: P.args, **kwargs: P.kwargs) -> ResponseReturnValue:
        if not actor().is_admin:
            abort(403, FOR_ADMINS)
        return view(*args, **kwargs)

    return seen


def is_sure() -> bool:
    """Return whether the box of a form was ticked that confirms it; if not, the next page says so.

    Browsers insist on it; what is sent without a browser shall not do more than a page lets one.
    """
    if request.form.get("sure") == "yes":
        return True
    notice(UNSURE, "bad")
    return False


def wanted_page() -> int:
    """Return the number of the page that the address asks for, 1 for none or what is no number."""
    return min(whole_number(request.args.get("page", "")) or 1, MOST_PAGES)


def wanted_text(name: str = "q", longest: int = LONGEST) -> str:
    """Return what the address asks to search for, without spaces around it; "" for nothing."""
    return request.args.get(name, "").strip()[:longest]


@routes.get("/admin")
@admins_only
def page() -> ResponseReturnValue:
    """Show what is wrong with the site, its figures, and what was done last."""
    hub = resources()
    now, copies = hub.clock(), bool(hub.settings.backup_objects)
    with one_reading() as session:
        service = overview.service(session, hub.clock)
        lines = latest(session)
    return render_template(
        "hub/site/admin/page.html",
        service=service,
        problems=overview.problems(service, now, copies=copies),
        lines=lines,
    )
