"""The Profile page of a user, the card that opens at the name, and friends."""

from __future__ import annotations

import re
from typing import Final

from flask import Blueprint, Response, abort, jsonify, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from cw.hub.pages.account import go
from cw.hub.pages.actor import actor, one_reading, player, players_only, resources
from cw.hub.pages.graphs import DEFAULT, PERIODS, graph_of, points_of
from cw.hub.pages.times import machine_time
from cw.hub.services import avatars, leaderboard, people, rankings
from cw.hub.services.entrants import GAME

routes = Blueprint("profile", __name__)

NO_SUCH_USER: Final = "There is no such user."
FOR_EVER: Final = "public, max-age=31536000, immutable"


def find(username: str) -> people.Profile:
    """Return the profile of a name in any case; answer 404 if there is none."""
    user = actor().user
    with one_reading() as reading:
        profile = people.find_profile(reading, username, user.user_id if user else None)
    return profile or abort(404, NO_SUCH_USER)


@routes.get("/user/<username>")
def page(username: str) -> ResponseReturnValue:
    """Show a user to everybody."""
    profile = find(username)
    if profile.username != username:
        return redirect(url_for("profile.page", username=profile.username))
    with one_reading() as reading:
        graph = graph_of(reading, GAME, profile.user_id)
        bots = leaderboard.bots_of(reading, profile.user_id)
    return render_template(
        "hub/profile.html", profile=profile, graph=graph, last_rank=last_rank(profile), bots=bots
    )


@routes.get("/user/<username>/graph")
def graph(username: str) -> ResponseReturnValue:
    """Return the ranks of a user in the games of a period."""
    period = request.args.get("period", DEFAULT)
    if period not in PERIODS:
        abort(400, f"period must be one of {', '.join(PERIODS)}.")
    profile = find(username)
    game = request.args.get("game", GAME)
    with one_reading() as reading:
        found = points_of(reading, game, profile.user_id, period)
    return jsonify([{**one._asdict(), "at": machine_time(one.at)} for one in found])


@routes.get("/user/<username>/card")
def card(username: str) -> ResponseReturnValue:
    """Return the card of a user, a piece of HTML."""
    profile = find(username)
    return render_template("hub/card.html", profile=profile, last_rank=last_rank(profile))


def last_rank(profile: people.Profile) -> int | None:
    """Return the rank in the last daily game, None for who did not play."""
    with one_reading() as reading:
        return rankings.last_rank(reading, profile.user_id)


@routes.post("/user/<username>/friend")
@players_only
def befriend(username: str) -> ResponseReturnValue:
    """Add a user as a friend."""
    held = resources()
    try:
        with held.database.writing() as writing:
            name = people.befriend(writing, held.clock, player().user_id, username)
    except people.NoSuchUser:
        abort(404, NO_SUCH_USER)
    return go(url_for("profile.page", username=name))


@routes.post("/user/<username>/unfriend")
@players_only
def unfriend(username: str) -> ResponseReturnValue:
    """Remove a friend."""
    try:
        with resources().database.writing() as writing:
            name = people.unfriend(writing, player().user_id, username)
    except people.NoSuchUser:
        abort(404, NO_SUCH_USER)
    return go(url_for("profile.page", username=name))


@routes.get("/avatar/<digest>.webp")
def picture(digest: str) -> ResponseReturnValue:
    """Return a picture; what its name says never changes."""
    known = re.fullmatch("[0-9a-f]{64}", digest)
    data = resources().objects.get(avatars.key_of(digest)) if known else None
    if data is None:
        abort(404, "There is no such picture.")
    response = Response(data, mimetype="image/webp")
    response.headers["Cache-Control"] = FOR_EVER
    response.set_etag(digest)
    return response.make_conditional(request)
