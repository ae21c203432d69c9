"""The admin area at `/admin`: access, confirmation, its first page, and the audit log."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final, ParamSpec

from flask import Blueprint, abort, render_template, request
from flask.typing import ResponseReturnValue

from cw_hub.accounts.actor import actor, players_only
from cw_hub.pages.layout import address_with, notice
from cw_hub.pages.request import one_reading, resources, whole_number
from cw_hub.site.admin import overview
from cw_hub.site.admin.overview import LogChoice, latest, log

routes = Blueprint("admin", __name__)

P = ParamSpec("P")

FOR_ADMINS: Final = "This page is for admins."
UNSURE: Final = "Nothing has changed: tick the box to confirm."
LONGEST_REASON: Final = 200
MOST_PAGES: Final = 1000
LONGEST: Final = 60
"""Maximum length of a search text, in characters."""


def admins_only(view: Callable[P, ResponseReturnValue]) -> Callable[P, ResponseReturnValue]:
    """Restrict a page to admins: visitors are sent to log in, others get an error."""

    @players_only
    @wraps(view)
    def seen(*args: P.args, **kwargs: P.kwargs) -> ResponseReturnValue:
        if not actor().is_admin:
            abort(403, FOR_ADMINS)
        return view(*args, **kwargs)

    return seen


def is_sure() -> bool:
    """Return whether a form's confirmation box was ticked; if not, the next page says so.

    Browsers enforce the box, but other clients must not be able to do more than the pages allow.
    """
    if request.form.get("sure") == "yes":
        return True
    notice(UNSURE, "bad")
    return False


def wanted_page() -> int:
    """Return the requested page number, 1 if missing or invalid."""
    return min(whole_number(request.args.get("page", "")) or 1, MOST_PAGES)


def wanted_text(name: str = "q", longest: int = LONGEST) -> str:
    """Return the requested search text, stripped; "" without one."""
    return request.args.get(name, "").strip()[:longest]


@routes.get("/admin")
@admins_only
def page() -> ResponseReturnValue:
    """Show the problems of the site, its metrics, and the latest actions."""
    hub = resources()
    now, copies = hub.clock(), bool(hub.settings.backup_objects)
    with one_reading() as session:
        service = overview.service(session)
        lines = latest(session)
    return render_template(
        "hub/site/admin/page.html",
        service=service,
        problems=overview.problems(service, now, copies=copies),
        lines=lines,
    )


log_routes = Blueprint("admin_log", __name__)


@log_routes.get("/admin/log", endpoint="page")
@admins_only
def show_log() -> ResponseReturnValue:
    """Show the audited actions, the latest first."""
    wanted = LogChoice(*(wanted_text(name) for name in ("who", "verb", "of")))
    with one_reading() as session:
        listing = log(session, wanted, wanted_page())
    return render_template(
        "hub/site/admin/log.html", page=listing, wanted=wanted, address_with=address_with
    )
