"""The page of a match, its state for who waits, and its replay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from flask import Blueprint, Response, abort, jsonify, make_response, render_template, request
from flask.typing import ResponseReturnValue

from cw.hub.pages.actor import actor, resources
from cw.hub.pages.security import EMBEDDED
from cw.hub.services import match_views
from cw.hub.services.match_views import MatchView
from cw.hub.services.replays import viewed_key
from cw.replays.document import unpacked
from cw.web.game_pages import game_page

routes = Blueprint("match", __name__)

SENTENCES: Final[Mapping[str, str]] = {
    "queued": "This match is waiting for a worker.",
    "in_progress": ("This match is being played: turn {turn}. It can be watched when it is over."),
    "interrupted": ("The machine that played this match was taken away. It will be played again."),
    "void": "This match was called off: {reason}.",
    "failed": "This match could not be played.",
    "done": "",
}
"""How a match stands, by its state."""

GONE: Final = "The replay of this match is gone."


def find(match_id: str) -> MatchView:
    """Return a match that the one who asks may see; answer 404 for any other."""
    with resources().database.reading() as reading:
        match = match_views.find(reading, match_id)
    if match is None or not may_see(match):
        abort(404, "There is no such match.")
    return match


def may_see(match: MatchView) -> bool:
    """Return whether the one who asks may see a match: practice is for owners and admins alone."""
    who = actor()
    if match.is_public() or who.is_admin:
        return True
    return who.user is not None and match.is_of(who.user.user_id)


def sentence(match: MatchView) -> str:
    """Say how a match stands that cannot be watched."""
    return SENTENCES[match.state].format(turn=match.turn, reason=match.reason)


@routes.get("/match/<match_id>")
def page(match_id: str) -> ResponseReturnValue:
    """Show a match: how it stands, or the match itself."""
    match = find(match_id)
    return render_template(
        "hub/match.html",
        match=match,
        title=game_page(match.game).title,
        sentence=sentence(match),
        own=own_slots(match),
    )


def own_slots(match: MatchView) -> set[int]:
    """Return the slots whose bots are of the one who asks: sentences of faults are for owners."""
    who = actor()
    return {
        seat.slot
        for seat in match.seats
        if who.is_admin or (seat.user_id is not None and who.is_user(seat.user_id))
    }


@routes.get("/match/<match_id>/state")
def state(match_id: str) -> Response:
    """Return how a match stands, for the script of its page; 304 if nothing has changed."""
    match = find(match_id)
    answer = jsonify(state=match.state, sentence=sentence(match))
    answer.set_etag(match.tag)
    answer.headers["Cache-Control"] = "private, no-cache"
    answer.make_conditional(request)
    return answer


@routes.get("/replay/<match_id>")
def replay(match_id: str) -> ResponseReturnValue:
    """Show the replay of a match alone, as shared links do; other sites may show it in theirs."""
    match = find(match_id)
    if match.replay_key is None:
        abort(404, sentence(match))
    embedded = request.args.get("embed") == "1"
    shown = make_response(render_template("hub/replay.html", match=match, embedded=embedded))
    if embedded:
        shown.headers["Content-Security-Policy"] = EMBEDDED
    return shown


@routes.get("/match/<match_id>/replay")
def document(match_id: str) -> Response:
    """Return the replay that the viewer draws, packed where the client takes that."""
    match = find(match_id)
    if match.replay_key is None:
        abort(404, GONE)
    key = viewed_key(match.game, match.replay_key)
    # It never changes: who has it need not ask the store again.
    answer = Response(mimetype="application/json")
    answer.set_etag(key.replace("/", "-"))
    answer.headers["Cache-Control"] = "private, no-cache"
    answer.headers["Vary"] = "Accept-Encoding, Cookie"
    if answer.make_conditional(request).status_code == 304:
        return answer
    return fill(answer, key)


def fill(answer: Response, key: str) -> Response:
    """Put an object into an answer."""
    data = resources().objects.get(key)
    if data is None:
        abort(404, GONE)
    if "gzip" in request.headers.get("Accept-Encoding", ""):
        answer.headers["Content-Encoding"] = "gzip"
        answer.set_data(data)
    else:
        answer.set_data(unpacked(data))
    return answer
