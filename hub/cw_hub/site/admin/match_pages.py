"""Pages at `/admin/matches`: waiting and failed matches, workers and live processes."""

from __future__ import annotations

from typing import Final

from flask import Blueprint, render_template, request, url_for
from flask.typing import ResponseReturnValue

from cw_hub.accounts import audit
from cw_hub.accounts.actor import player
from cw_hub.accounts.pages import go
from cw_hub.matches import comparisons, results
from cw_hub.operation import heartbeats
from cw_hub.pages.layout import address_with, notice
from cw_hub.pages.request import one_reading, resources
from cw_hub.site import figures
from cw_hub.site.admin.matches import SHOWN, find_matches, machines
from cw_hub.site.admin.overview import PER_PAGE
from cw_hub.site.admin.pages import LONGEST_REASON, admins_only, is_sure, wanted_page

routes = Blueprint("admin_matches", __name__)

CHANGED: Final = "The match has changed since you loaded the page."
NO_REASON: Final = "Nothing has changed: please give a reason."


@routes.get("/admin/matches")
@admins_only
def page() -> ResponseReturnValue:
    """Show unfinished and failed matches, comparisons, workers and processes."""
    hub, state = resources(), request.args.get("state", "")
    wanted = state if state in SHOWN else ""
    with one_reading() as session:
        noted = heartbeats.moments(session)
        values = {
            "page": find_matches(session, wanted, wanted_page()),
            "counts": figures.troubled(session),
            "machines": machines(session),
            "comparisons": comparisons.queue(session, PER_PAGE),
        }
    return render_template(
        "hub/site/admin/matches.html",
        wanted=wanted,
        states=SHOWN,
        marks=noted,
        is_ticking=heartbeats.is_ticking(noted, hub.clock),
        address_with=address_with,
        **values,
    )


@routes.post("/admin/matches/<match_id>/requeue")
@admins_only
def requeue(match_id: str) -> ResponseReturnValue:
    """Give a failed match another five attempts."""
    here, hub = go(url_for("admin_matches.page")), resources()
    if not is_sure():
        return here
    with hub.database.writing() as session:
        done = results.requeue_failed(session, match_id)
        if done:
            audit.note(session, player().username, "requeue", f"match:{match_id}")
    notice("The match will be played again." if done else CHANGED, "good" if done else "bad")
    return here


@routes.post("/admin/matches/<match_id>/void")
@admins_only
def void(match_id: str) -> ResponseReturnValue:
    """Cancel a waiting match; its page shows the reason."""
    here, hub = go(url_for("admin_matches.page")), resources()
    reason = request.form.get("reason", "").strip()[:LONGEST_REASON]
    if not reason:
        notice(NO_REASON, "bad")
        return here
    if not is_sure():
        return here
    with hub.database.writing() as session:
        done = results.void(session, match_id, reason)
        if done:
            detail = {"reason": reason}
            who, what = player().username, f"match:{match_id}"
            audit.note(session, who, "void", what, detail=detail)
    notice("The match was called off." if done else CHANGED, "good" if done else "bad")
    return here
