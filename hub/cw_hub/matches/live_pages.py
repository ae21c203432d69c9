"""Pages of matches in progress, and the requests that viewers poll."""

from __future__ import annotations

from typing import Final, cast

from flask import Blueprint, Flask, Response, current_app, render_template, request

from cw_hub.matches import lookup
from cw_hub.matches.live import Answer, Answers, Wish
from cw_hub.matches.match_types import MatchView
from cw_hub.matches.pages import find, shown_kinds, title_of, viewer_or_nothing
from cw_hub.pages import polls
from cw_hub.pages.polls import Polled
from cw_hub.pages.request import one_reading, resources
from cw_hub.players.playing import is_shown

routes = Blueprint("live", __name__)

LONGEST_NUMBER: Final = 6
LONGEST_RUN: Final = 16


def install(app: Flask) -> None:
    """Set up the response cache of an app."""
    app.extensions["live_answers"] = Answers()


@routes.get("/match/<match_id>/live")
def document(match_id: str) -> Response:
    """Return a match as far as it is played, or what follows a number of turns of a run.

    202 with a message while there is nothing to show, 304 if nothing has changed.
    """
    wish = wanted(match_id)
    answers = cast(Answers, current_app.extensions["live_answers"])
    answer = answers.find(wish)
    if answer is None:
        match = find(match_id)
        answer = answers.answer_to(resources().lines, wish) if is_shown(match.game) else HIDDEN
        if match.kind.is_public:
            answers.keep(wish, answer)
    return response_of(answer)


HIDDEN: Final = Answer(
    202, "", b'{"waiting": "its end, as its players must not see all", "over": true}'
)


def wanted(match_id: str) -> Wish:
    """Parse the query string of a page's request; an invalid `after` counts as not given."""
    text, run = request.args.get("after", ""), request.args.get("run", "")[:LONGEST_RUN]
    is_number = text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER
    return Wish(match_id, run, int(text) if is_number else None)


def response_of(answer: Answer) -> Response:
    """Return an HTTP response that browsers must revalidate."""
    response = Response(answer.body, answer.status, content_type="application/json")
    response.headers["Cache-Control"] = "private, no-cache"
    if answer.tag:
        response.set_etag(answer.tag)
        response.make_conditional(request)
    return response


@routes.get("/live")
def page() -> str:
    """Show the strongest match in progress, otherwise the latest finished one."""
    with one_reading() as reading:
        match, running = lookup.on_now(reading, shown_kinds())
    return render_template(
        "hub/matches/live.html",
        watched_match=match,
        running=running,
        viewer=viewer_or_nothing(match, plays=True) if match else "",
        title_of=title_of,
        tag=tag_of(match, running),
    )


@routes.get("/live/state")
def state() -> Response:
    """Return which match to watch now; 304 if that has not changed."""
    return polls.answer("live", polled)


def polled() -> Polled:
    """Return what the page of live matches polls."""
    with one_reading() as reading:
        match, running = lookup.on_now(reading, shown_kinds())
    is_on = match is not None and match.state == "in_progress"
    payload = {"match": match.match_id if match else None, "on": is_on}
    return Polled(tag_of(match, running), payload)


def tag_of(match: MatchView | None, running: list[MatchView]) -> str:
    """Return a tag that changes with the set of matches in progress."""
    names = [each.match_id for each in (*([match] if match else ()), *running)]
    return "-".join(names) or "none"
