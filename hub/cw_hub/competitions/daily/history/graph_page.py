"""The points of a player's rank graph, as fetched by scripts."""

from __future__ import annotations

from flask import Blueprint, abort, jsonify, request
from flask.typing import ResponseReturnValue

from cw_hub.accounts import profiles
from cw_hub.competitions.daily.entrants import GAME
from cw_hub.competitions.daily.history.graph import DEFAULT, points_of
from cw_hub.competitions.periods import PERIODS
from cw_hub.pages.request import one_reading
from cw_hub.pages.times import machine_time

routes = Blueprint("rank_graph", __name__)


@routes.get("/user/<username>/graph")
def points(username: str) -> ResponseReturnValue:
    """Return the ranks of a user in the games of a period."""
    period = request.args.get("period", DEFAULT)
    if period not in PERIODS:
        abort(400, f"period must be one of {', '.join(PERIODS)}.")
    game = request.args.get("game", GAME)
    with one_reading() as reading:
        profile = profiles.find_profile(reading, username)
        if profile is None:
            abort(404, "There is no such user.")
        ranks = points_of(reading, game, profile.user_id, period)
    return jsonify([{**point._asdict(), "at": machine_time(point.at)} for point in ranks])
