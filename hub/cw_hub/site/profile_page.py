"""A user's profile, and the card that opens at a username, with the formats' sections."""

from __future__ import annotations

import re
from tempfile import SpooledTemporaryFile
from typing import Any, Final, cast

from flask import (
    Blueprint,
    Response,
    abort,
    redirect,
    render_template,
    request,
    send_file,
    url_for,
)
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from cw_hub.accounts import avatars
from cw_hub.accounts import service as accounts_service
from cw_hub.accounts.actor import actor, one_writing, player, players_only
from cw_hub.accounts.pages import redirect_to
from cw_hub.pages.request import one_reading, resources
from cw_hub.site import own_data
from cw_hub.site.formats import site_formats

routes = Blueprint("profile", __name__)


@routes.get("/user/<username>")
def page(username: str) -> ResponseReturnValue:
    """Show a user's public profile."""
    profile = find(username)
    if profile.username != username:
        return redirect(url_for("profile.page", username=profile.username))
    with one_reading() as reading:
        parts = [
            each.profile_part(reading, profile.user_id, profile.username) for each in site_formats()
        ]
    heads = [each.profile_head() for each in site_formats()]
    return render_template(
        "hub/site/profile.html", profile=profile, heads=heads, parts=parts, lines=lines(profile)
    )


@routes.get("/user/<username>/card")
def card(username: str) -> ResponseReturnValue:
    """Return the card of a user as an HTML fragment."""
    profile = find(username)
    return render_template("hub/site/card.html", profile=profile, lines=lines(profile))


def lines(profile: accounts_service.Profile) -> list[tuple[str, str]]:
    """Return the statistics of a profile, with their names."""
    with one_reading() as reading:
        found = [each.profile_line(reading, profile.user_id) for each in site_formats()]
    return [line for line in found if line is not None]


def settings_cards(user_id: int) -> Markup:
    """Return the sections that the formats contribute to a player's Settings page."""
    with one_reading() as reading:
        return Markup().join(each.settings_part(reading, user_id) for each in site_formats())


@routes.get("/settings/data.zip")
@players_only
def own_data_zip() -> ResponseReturnValue:
    """Send players all data stored about them."""
    hub, user = resources(), player()
    # The server closes the file after sending it.
    file = cast(Any, SpooledTemporaryFile(IN_MEMORY))  # noqa: SIM115
    with one_reading() as reading:
        own_data.write_zip(reading, hub.objects, user.user_id, file)
    file.seek(0)
    name = f"{user.username}.zip"
    answer = send_file(file, "application/zip", as_attachment=True, download_name=name, max_age=0)
    answer.headers["Cache-Control"] = "no-store"
    return answer


IN_MEMORY: Final = 1 << 20
"""Size in bytes above which a zip is moved from memory to a file."""

NO_SUCH_USER: Final = "There is no such user."


FOR_EVER: Final = "public, max-age=31536000, immutable"


def find(username: str) -> accounts_service.Profile:
    """Return a profile by name, ignoring case; abort with 404 if there is none."""
    user = actor().user
    with one_reading() as reading:
        profile = accounts_service.find_profile(reading, username, user.user_id if user else None)
    return profile or abort(404, NO_SUCH_USER)


@routes.post("/user/<username>/friend")
@players_only
def befriend(username: str) -> ResponseReturnValue:
    """Add a user as a friend."""
    try:
        with one_writing() as writing:
            name = accounts_service.befriend(writing, player().user_id, username)
    except accounts_service.NoSuchUser:
        abort(404, NO_SUCH_USER)
    return redirect_to(url_for("profile.page", username=name))


@routes.post("/user/<username>/unfriend")
@players_only
def unfriend(username: str) -> ResponseReturnValue:
    """Remove a friend."""
    try:
        with one_writing() as writing:
            name = accounts_service.unfriend(writing, player().user_id, username)
    except accounts_service.NoSuchUser:
        abort(404, NO_SUCH_USER)
    return redirect_to(url_for("profile.page", username=name))


@routes.get("/avatar/<digest>.webp")
def picture(digest: str) -> ResponseReturnValue:
    """Return an avatar; the content behind its URL never changes."""
    is_digest = re.fullmatch("[0-9a-f]{64}", digest)
    data = resources().objects.get(avatars.key_of(digest)) if is_digest else None
    if data is None:
        abort(404, "There is no such picture.")
    response = Response(data, mimetype="image/webp")
    response.headers["Cache-Control"] = FOR_EVER
    response.set_etag(digest)
    return response.make_conditional(request)
