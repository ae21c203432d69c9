"""The page of a match, its state for who waits, and its replay."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from flask import (
    Blueprint,
    Response,
    abort,
    get_template_attribute,
    jsonify,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from cw.hub.pages import ladder_words, polls
from cw.hub.pages.actor import actor, one_reading, resources
from cw.hub.pages.countries import COUNTRIES
from cw.hub.pages.layout import flag
from cw.hub.pages.objects import link_to
from cw.hub.pages.polls import Polled
from cw.hub.pages.security import EMBEDDED
from cw.hub.services import ladder_standings, match_views, rankings
from cw.hub.services.daily import NOBODY
from cw.hub.services.entrants import GAME
from cw.hub.services.match_views import MatchView, SeatView
from cw.hub.services.matches import OPEN
from cw.hub.services.rankings import Neighbours
from cw.hub.services.replays import viewed_key
from cw.web.game_pages import game_page

routes = Blueprint("match", __name__)

SENTENCES: Final[Mapping[str, str]] = {
    "queued": "This match is waiting for a worker.",
    "in_progress": ("This match is being played: turn {turn}. It can be watched when it is over."),
    "interrupted": ("The machine that played this match was taken away. It will be played again."),
    "void": "This match was called off: {reason}.",
    "failed": "This match could not be played.",
    "done": (
        "Replays are kept for {days} days, the 100 strongest matches of each month for good."
        " This one is gone."
    ),
}
"""How a match stands that cannot be watched, by its state."""

NO_MATCH: Final = "There is no such match."
PAIRED: Final = ("ladder", "practice", "championship")
"""Kinds of matches that may have two battles."""

RUNNING: Final = "Game is currently running"
UNPLAYED: Final = "No bot was ready to play this game."
DELETED: Final = "deleted player"
PLAYING: Final = ("rated", "practice", "ladder")
"""Kinds of matches whose replays play by themselves."""
LARGEST_ID: Final = 2**63


def find(match_id: str, *, whole: bool = False) -> MatchView:
    """Return a match that the one who asks may see; answer 404 for any other.

    Of a daily game that is over it has the seats of who asks alone, unless it is wanted whole.
    """
    user = actor().user
    with one_reading() as reading:
        viewer, battle = user.user_id if user else None, wanted_battle()
        match = match_views.find(reading, match_id, viewer, whole=whole, battle=battle)
    if match is None or not may_see(match):
        abort(404, NO_MATCH)
    if battle > 1 and match.kind not in PAIRED:
        abort(404, NO_MATCH)
    return match


def wanted_battle() -> int:
    """Return the number of the battle that is asked for; answer 404 for what is none."""
    text = request.args.get("battle", "1")
    if text not in ("1", "2"):
        abort(404, NO_MATCH)
    return int(text)


def may_see(match: MatchView) -> bool:
    """Return whether the one who asks may see a match: practice is for owners and admins alone."""
    return match.is_public() or any(sees(seat) for seat in match.seats)


def sees(seat: SeatView) -> bool:
    """Return whether the one who asks sees all of a seat: its owner, its team, host and admins."""
    if actor().sees(seat.user_id):
        return True
    if seat.tournament is None:
        return False
    team = actor().team(seat.tournament)
    return (team is not None and team.team_id == seat.team_id) or actor().is_host(seat.tournament)


def sentence(match: MatchView) -> str:
    """Say how a match stands that cannot be watched."""
    if match.kind == "daily" and match.state in OPEN:
        return RUNNING
    if match.state == "done" and match.reason == NOBODY:
        return UNPLAYED
    days = resources().settings.replay_days
    return SENTENCES[match.state].format(turn=match.turn, reason=match.reason, days=days)


@routes.get("/match/<int:gameid>")
def of_game(gameid: int) -> ResponseReturnValue:
    """Lead to the page of a daily game by the number that bots are told."""
    with one_reading() as reading:
        name = match_views.name_of_game(reading, gameid) if gameid < LARGEST_ID else None
    if name is None:
        abort(404, "There is no such game.")
    return redirect(url_for("match.page", match_id=name), 301)


def neighbours(match: MatchView) -> Neighbours | None:
    """Return a daily game that is shown, with those before and after it."""
    if match.kind != "daily" or match.competition_id is None or match.state != "done":
        return None
    with one_reading() as reading:
        return rankings.find(reading, match.competition_id, match.match_id)


@routes.get("/match/<match_id>")
def page(match_id: str) -> ResponseReturnValue:
    """Show a match: how it stands, or the match itself."""
    match = find(match_id)
    with one_reading() as reading:
        match = match_views.with_ratings(reading, match)
        met = ladder_standings.of_match(reading, match_id) if match.kind == "ladder" else None
    found = neighbours(match)
    names_people = found is not None and match.game == GAME
    return render_template(
        "hub/match.html",
        match=match,
        found=found,
        viewer=viewer_of(
            request.script_root,
            match_id,
            names_people,
            plays=match.kind in PLAYING,
            battle=wanted_battle(),
        )
        if match.replay_key
        else "",
        met=met,
        battle=wanted_battle(),
        words=ladder_words,
        more={} if match.game == GAME else {"game": match.game},
        title=title_of(match.game),
        sentence=sentence(match),
        own=own_slots(match),
    )


@lru_cache
def title_of(game: str) -> str:
    """Return what a game is called, read once: its text does not change while a process runs."""
    return game_page(game).title


@lru_cache(maxsize=256)
def viewer_of(_root: str, match_id: str, names_people: bool, *, plays: bool, battle: int) -> Markup:
    """Return the HTML of the viewer of a match, remembered: only its addresses differ."""
    viewer = get_template_attribute("viewer.html", "viewer")
    drawn: Markup = viewer(
        url_for("match.document", match_id=match_id, battle=battle if battle > 1 else None),
        f"{match_id}-b{battle}.json" if battle > 1 else f"{match_id}.json",
        people=url_for("match.people", match_id=match_id) if names_people else None,
        plays=plays,
    )
    return drawn


def own_slots(match: MatchView) -> set[int]:
    """Return the slots whose bots are of the one who asks: sentences of faults are for owners."""
    return {seat.slot for seat in match.seats if sees(seat)}


@routes.get("/match/<match_id>/people")
def people(match_id: str) -> Response:
    """Return who played a daily game, for the viewer; 304 if that is known."""
    found = neighbours(find(match_id))
    if found is None:
        abort(404, "There is no such game.")
    with one_reading() as reading:
        ranked = rankings.people(reading, found.game.id)
    countries = {one.country: COUNTRIES.get(one.country, "") for one in ranked if one.country}
    answer = jsonify(
        people=[[one.user_id, one.name or DELETED, one.rank, one.country] for one in ranked],
        countries={code: {"name": name, "flag": flag(code)} for code, name in countries.items()},
    )
    answer.add_etag()
    answer.headers["Cache-Control"] = "private, no-cache"
    answer.make_conditional(request)
    return answer


@routes.get("/match/<match_id>/state")
def state(match_id: str) -> Response:
    """Return how a match stands, for the script of its page; 304 if nothing has changed."""
    return polls.answer(f"match {match_id}", lambda: polled(find(match_id)))


def polled(match: MatchView) -> Polled:
    """Return what the page of a match asks again and again."""
    said = {"state": match.state, "sentence": sentence(match)}
    return Polled(match.tag, said, match.is_public())


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
def document(match_id: str) -> ResponseReturnValue:
    """Lead to the replay that the viewer draws, by a link that is made for whoever may see it."""
    match = find(match_id)
    if match.replay_key is None:
        abort(404, sentence(match))
    return lead_to(viewed_key(match.game, match.replay_key))


@routes.get("/match/<match_id>/download")
def download(match_id: str) -> ResponseReturnValue:
    """Lead to the replay in the format of its game, or the arena's where it has none of its own."""
    match = find(match_id)
    if match.replay_key is None:
        abort(404, sentence(match))
    return lead_to(match.replay_key)


def lead_to(key: str) -> ResponseReturnValue:
    """Lead to an object by a link that ends, so that the way to it may not be kept."""
    answer = redirect(link_to(key), 302)
    answer.headers["Cache-Control"] = "no-store"
    return answer
