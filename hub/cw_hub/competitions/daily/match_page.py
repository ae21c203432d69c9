"""Parts of a daily game's match page: links to its ranking and its neighbours, and its players."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from typing import Final

from flask import Response, abort, jsonify, redirect, request, url_for
from flask.typing import ResponseReturnValue

from cw_hub.competitions.daily import standings as rankings
from cw_hub.competitions.daily.pages import routes
from cw_hub.competitions.daily.service import FORMAT, GAME, name_of_game
from cw_hub.competitions.daily.standings import Neighbours
from cw_hub.matches.match_types import NO_PART, MatchPart, MatchView
from cw_hub.matches.pages import find
from cw_hub.matches.results import OPEN
from cw_hub.pages.layout import COUNTRIES, flag, part_of_page
from cw_hub.pages.request import minute, one_reading, resources
from cw_hub.store.database import Reading

RUNNING: Final = "Game is currently running"
DELETED: Final = "deleted player"


def title(at: datetime) -> str:
    """Return the title of a game, given its due time."""
    return f"Game of {at:%Y-%m-%d %H:%M} UTC"


def words(match: MatchView) -> str | None:
    """Return the status text of an open game, or None once it is over."""
    return RUNNING if match.state in OPEN else None


def neighbours(reading: Reading, match: MatchView) -> Neighbours | None:
    """Return a finished game with its neighbours, or None if it is not finished."""
    if match.kind.name != FORMAT or match.competition_id is None or match.state != "done":
        return None
    return rankings.find(reading, match.competition_id, match.match_id)


def part(reading: Reading, match: MatchView, _battle: int) -> MatchPart:
    """Return links from a finished game to its ranking and its neighbours."""
    around = neighbours(reading, match)
    if around is None:
        return NO_PART
    return drawn(request.script_root, match.game, around, minute(resources().clock()))


@lru_cache(maxsize=256)
def drawn(_root: str, game: str, around: Neighbours, _minute: int) -> MatchPart:
    """Render the parts of a finished game's match page; cached for a minute."""
    match_id = around.game.match_id
    more = {} if game == GAME else {"game": game}
    values = {"match_id": match_id, "around": around, "more": more}
    return MatchPart(
        part_of_page("hub/competitions/daily/match_head.html"),
        part_of_page("hub/competitions/daily/match.html", **values),
        people=url_for("ranking.people", match_id=match_id) if game == GAME else None,
        has_places=False,
    )


@routes.get("/match/<int:gameid>")
def of_game(gameid: int) -> ResponseReturnValue:
    """Redirect from the game id that bots receive to the match page."""
    with one_reading() as reading:
        name = name_of_game(reading, gameid)
    if name is None:
        abort(404, "There is no such game.")
    return redirect(url_for("match.page", match_id=name), 301)


@routes.get("/match/<match_id>/people")
def people(match_id: str) -> Response:
    """Return the ranked players of a game as JSON for the viewer, or 304 if unchanged."""
    match = find(match_id)
    with one_reading() as reading:
        around = neighbours(reading, match)
        if around is None:
            abort(404, "There is no such game.")
        ranked = rankings.people(reading, around.game.id)
    codes = {person.country for person in ranked if person.country}
    answer = jsonify(
        people=[
            [person.user_id, person.name or DELETED, person.rank, person.country]
            for person in ranked
        ],
        countries={
            code: {"name": COUNTRIES.get(code, ""), "flag": flag(code)} for code in sorted(codes)
        },
    )
    answer.add_etag()
    answer.headers["Cache-Control"] = "private, no-cache"
    answer.make_conditional(request)
    return answer
