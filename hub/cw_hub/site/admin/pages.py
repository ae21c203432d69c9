"""The admin area at `/admin`: access, its first page, its lists, and their actions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, Final, ParamSpec

from flask import Blueprint, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue

from cw.errors import UsageError
from cw_hub.accounts.actor import actor, one_writing, players_only
from cw_hub.accounts.pages import redirect_to
from cw_hub.bots.service import WrongStatus
from cw_hub.pages.layout import address_with, notice
from cw_hub.pages.request import one_reading, resources, whole_number
from cw_hub.site.admin import lists, overview
from cw_hub.site.admin.actions import ACTIONS, Action, Changed, Refused
from cw_hub.site.admin.lists import LISTS, Field, Row

routes = Blueprint("admin", __name__)

P = ParamSpec("P")

FOR_ADMINS: Final = "This page is for admins."
UNSURE: Final = "Nothing has changed: tick the box to confirm."
MOST_PAGES: Final = 1000

PARTS: Final = {"page": "Overview"} | {name: listing.title for name, listing in LISTS.items()}
"""The pages of the area by endpoint, with the words of their links."""


def admins_only(view: Callable[P, ResponseReturnValue]) -> Callable[P, ResponseReturnValue]:
    """Restrict a page to admins: visitors are sent to log in, others get an error."""

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
    """Show the problems of the site, its metrics, and the latest actions."""
    hub = resources()
    now, copies = hub.clock(), bool(hub.settings.backup_objects)
    with one_reading() as session:
        service = overview.service(session)
        lines = lists.latest(session)
    return render_template(
        "hub/site/admin/page.html",
        parts=PARTS,
        service=service,
        problems=overview.problems(service, now, copies=copies),
        lines=lines,
    )


def show(name: str) -> ResponseReturnValue:
    """Show a page of a list, with the actions on its rows."""
    listing, actions = LISTS[name], ACTIONS.get(name, ())
    wanted = {field.name: chosen(field) for field in listing.filters}
    number = min(whole_number(request.args.get("page", "")) or 1, MOST_PAGES)
    with one_reading() as session:
        found = listing.find(session, wanted, number)
        more = listing.more(session)

    def address_of(action: Action, row: Row) -> str:
        key = {column: getattr(row, column) for column in listing.key}
        return url_for(f"admin.{name}_{action.verb}", **key)

    return render_template(
        f"hub/site/admin/{name}.html",
        parts=PARTS,
        listing=listing,
        wanted=wanted,
        is_narrowed=any(wanted.values()),
        page=found,
        actions_on=lambda row: [action for action in actions if action.offered(row)],
        address_of=address_of,
        address_with=address_with,
        **more,
    )


def chosen(field: Field) -> str:
    """Return what is typed or chosen in a field above a list; "" for nothing, or no choice."""
    text = request.args.get(field.name, "").strip()[: field.longest]
    return text if text in field.choices or not field.choices else ""


def act(name: str, action: Action, **values: Any) -> ResponseReturnValue:
    """Perform an action on a row of a list, once it is confirmed; go back to the row.

    Browsers enforce the fields and the box, but other clients must not be able to do more than the
    pages allow.
    """
    listing = LISTS[name]
    key = [values[column] for column in listing.key]
    has_search = any(field.name == "q" for field in listing.filters)
    here = redirect_to(url_for(f"admin.{name}", q=key[-1] if has_search else None))
    texts = [request.form.get(field.name, "").strip()[: field.longest] for field in action.fields]
    for field, text in zip(action.fields, texts, strict=True):
        if field.is_required and not text:
            notice(f"Nothing has changed: please give a {field.name}.", "bad")
            return here
    if action.confirm and request.form.get("sure") != "yes":
        notice(UNSURE, "bad")
        return here
    try:
        with one_writing() as session:
            done = action.do(session, *key, *texts)
        action.after(done)
    except Changed:
        notice(f"The {listing.one} has changed since you loaded the page.", "bad")
    except Refused as error:
        notice(str(error), "bad")
        return redirect_to(error.page) if error.page else here
    except WrongStatus as error:
        notice(str(error), "bad")
    except UsageError:
        abort(404, f"There is no such {listing.one}.")
    else:
        notice(action.done.format(done))
    return here


for list_name in LISTS:
    routes.add_url_rule(f"/admin/{list_name}", list_name, admins_only(partial(show, list_name)))
    for each in ACTIONS.get(list_name, ()):
        view = admins_only(partial(act, list_name, each))
        routes.add_url_rule(each.address, f"{list_name}_{each.verb}", view, methods=["POST"])
