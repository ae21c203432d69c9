"""LOG, at `/admin/log`: audited actions, with filters."""

from __future__ import annotations

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

from cw_hub.pages.parts import address_with
from cw_hub.pages.request import one_reading
from cw_hub.site.admin.log import LogChoice, log
from cw_hub.site.admin.pages import admins_only, wanted_page, wanted_text

routes = Blueprint("admin_log", __name__)


@routes.get("/admin/log")
@admins_only
def page() -> ResponseReturnValue:
    """Show the audited actions, the latest first."""
    wanted = LogChoice(*(wanted_text(name) for name in ("who", "verb", "of")))
    with one_reading() as session:
        listing = log(session, wanted, wanted_page())
    return render_template(
        "hub/site/admin/log.html", page=listing, wanted=wanted, address_with=address_with
    )
