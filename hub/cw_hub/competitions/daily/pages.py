"""Pages with the schedule and the rankings of daily games, and the data of players' rank graphs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from typing import Any, Final

from flask import (
    Blueprint,
    Response,
    abort,
    get_template_attribute,
    jsonify,
    make_response,
    render_template,
    request,
)
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from cw_hub.accounts import service as accounts_service
from cw_hub.accounts.actor import actor
from cw_hub.competitions.daily import bots, history
from cw_hub.competitions.daily import standings as rankings
from cw_hub.competitions.daily.history import DEFAULT, graph_of, points_of
from cw_hub.competitions.daily.service import GAME
from cw_hub.competitions.daily.standings import BLOCK, List, Neighbours, StandingRow
from cw_hub.competitions.format import is_shown
from cw_hub.competitions.home import PERIODS
from cw_hub.competitions.service import CompetitionFacts, dates_of
from cw_hub.pages import polls
from cw_hub.pages.layout import COUNTRIES, machine_time
from cw_hub.pages.polls import Polled
from cw_hub.pages.request import first_of_month, one_reading, whole_number

routes = Blueprint("ranking", __name__)

COOKIE: Final = "country"
EVERYWHERE: Final = "all"
YEAR: Final = 365 * 86_400
NO_SUCH_GAME: Final = "There is no such game."

NOBODY_WON: Final = {
    "all_dead": "none, the last players died together",
    "round_cap": "none, round limit reached",
}
"""Texts shown instead of a winner, by the reason why a game ended."""


def wanted_game() -> str:
    """Return the game in the query parameter `game`, by default End of Codes."""
    return request.args.get("game", GAME)


def is_of_bots() -> bool:
    """Return whether the ranking lists bots, not players, as a player may have several bots."""
    return wanted_game() != GAME


def more() -> dict[str, str]:
    """Return extra query parameters for links: the game, unless it is the default."""
    return {"game": wanted_game()} if is_of_bots() else {}


def competition(session: Any) -> CompetitionFacts | None:
    """Return the daily competition of the requested game, if the current user may see it.

    Returns None if the default game has none; aborts with 404 if another game has none.
    """
    facts = rankings.competition_of(session, wanted_game())
    if facts is not None and not is_shown(facts):
        facts = None
    if facts is None and wanted_game() != GAME:
        abort(404, NO_SUCH_GAME)
    return facts


def neighbours(session: Any, facts: CompetitionFacts | None) -> Neighbours | None:
    """Return the requested daily game, by default the last one, with its neighbours.

    Returns None if there is no game yet; aborts with 404 if the requested game is not shown.
    """
    name = request.args.get("match", "")
    around = None if facts is None else rankings.find(session, facts.id, name)
    if name and around is None:
        abort(404, NO_SUCH_GAME)
    return around


def chosen_country() -> str:
    """Return the country code from the query or the cookie; "" for all countries."""
    country = request.args.get("country", "")
    code = country if country == EVERYWHERE or country in COUNTRIES else ""
    code = code or (request.cookies.get(COOKIE, "") if not country else "")
    return code if code in COUNTRIES else ""


def remember_country(answer: Response) -> Response:
    """Store a newly chosen country in a cookie."""
    country = request.args.get("country", "")
    if country == EVERYWHERE or country in COUNTRIES:
        secure = request.is_secure
        answer.set_cookie(
            COOKIE, country, max_age=YEAR, secure=secure, httponly=True, samesite="Lax"
        )
    return answer


@routes.get("/ranking")
def page() -> ResponseReturnValue:
    """Show the ranking of the last game, or of the requested one."""
    user = actor().user
    country = chosen_country()
    viewer = user.user_id if user else None
    with one_reading() as reading:
        facts = competition(reading)
        around = neighbours(reading, facts)
        dates = facts and dates_of(reading, facts.id)
        coming = facts and rankings.upcoming(reading, facts)
        bot = bots.find(reading, viewer) if viewer and not is_of_bots() else None
        table = table_of(reading, List(around.game.id, country), viewer) if around else None
        winner = winner_of(reading, around, table) if around else None
        countries = countries_of(reading, around.game.id) if around else frozenset()
        graph = graph_of(reading, wanted_game(), viewer) if viewer else None
    answer = make_response(
        render_template(
            "hub/competitions/daily/ranking.html",
            competition=facts,
            dates=dates,
            game=wanted_game(),
            is_of_bots=is_of_bots(),
            more=more(),
            around=around,
            is_last=around is not None and around.next is None,
            coming=coming,
            bot=bot,
            table={**table, "rows": drawn(table["rows"], viewer)} if table else None,
            winner=winner,
            nobody=NOBODY_WON,
            country=country,
            countries=options_of(countries, country),
            viewer=viewer,
            graph=graph,
        )
    )
    return remember_country(answer)


def table_of(session: Any, choice: List, viewer: int | None) -> dict[str, Any]:
    """Return the ranking table's values: rows, hidden positions, own position and number."""
    if viewer is None:
        rows = rankings.places(session, choice, 1, BLOCK)
        return {"rows": rows, "gap": None, "own": None, "number": len(rows)}
    number, own = rankings.standing(session, choice, viewer)
    windows = rankings.windows(number, own)
    rows = rankings.place_rows(session, choice, windows, viewer)
    gap = (windows[0][1] + 1, windows[1][0] - 1) if len(windows) > 1 else None
    return {"rows": rows, "gap": gap, "own": own, "number": number}


def drawn(places: Sequence[StandingRow], viewer: int | None) -> list[tuple[StandingRow, Markup]]:
    """Return ranking rows, each with its HTML."""
    root, of_bots = request.script_root, is_of_bots()
    return [(row, row_of(root, row, row.user_id == viewer, of_bots)) for row in places]


@lru_cache(maxsize=4096)
def row_of(_root: str, place: StandingRow, is_mine: bool, is_of_bots: bool) -> Markup:
    """Return a ranking row as HTML; cached, because rows of the last game are shown often."""
    row = get_template_attribute("hub/competitions/daily/ranking_table.html", "row")
    cells: Markup = row(place, is_mine, is_of_bots)
    return cells


def countries_of(session: Any, game: int) -> frozenset[str]:
    """Return the countries in a game's ranking; cached, because this reads all rows."""
    codes = polls.recently(f"countries {game}", lambda: " ".join(rankings.countries(session, game)))
    return frozenset(codes.split())


@lru_cache(maxsize=256)
def options_of(countries: frozenset[str], choice: str) -> Markup:
    """Return the options of the country filter as HTML, sorted by name; cached."""
    codes = sorted(countries | {choice} - {""}, key=COUNTRIES.__getitem__)
    options = get_template_attribute("hub/competitions/daily/ranking_table.html", "options")
    part: Markup = options(codes, choice)
    return part


def winner_of(
    session: Any, winners: Neighbours, table: dict[str, Any] | None
) -> StandingRow | None:
    """Return the only winner of a game, or None; use the loaded rows if the table is unfiltered."""
    if winners.game.reason in NOBODY_WON:
        return None
    rows = table["rows"] if table and not chosen_country() else None
    first = rows[:2] if rows else rankings.places(session, List(winners.game.id), 1, 2)
    return first[0] if [winner.rank for winner in first].count(1) == 1 else None


@routes.get("/ranking/rows")
def rows() -> ResponseReturnValue:
    """Return a range of table rows as HTML."""
    first, last = number_of("from"), number_of("to")
    if not 1 <= first <= last < first + BLOCK:
        abort(400, f"At most {BLOCK} positions per request, starting at 1.")
    user = actor().user
    viewer = user.user_id if user else None
    with one_reading() as reading:
        around = neighbours(reading, competition(reading))
        if around is None:
            abort(404, NO_SUCH_GAME)
        facts = List(around.game.id, chosen_country())
        places = rankings.places(reading, facts, first, last, viewer)
    return "".join(row for _, row in drawn(places, viewer))


def number_of(name: str) -> int:
    """Return a numeric query parameter; abort with 400 if it is not a number."""
    number = whole_number(request.args.get(name, ""))
    if number is None:
        abort(400, f"{name} must be a number.")
    return number


@routes.get("/ranking/calendar")
def calendar() -> ResponseReturnValue:
    """Return the games of a month by day, as JSON."""
    first = month_of(request.args.get("month", ""))
    with one_reading() as reading:
        facts = competition(reading)
        days = history.month(reading, facts, first) if facts else {}
    return jsonify(
        {
            day.isoformat(): [
                {"match": game.match_id, "at": machine_time(game.at)} for game in games
            ]
            for day, games in days.items()
        }
    )


def month_of(text: str) -> date:
    """Return the first day of a month such as `2026-11`; abort with 400 for any other text."""
    first = first_of_month(text)
    if first is None:
        abort(400, "month must have the form 2026-11.")
    return first


@routes.get("/ranking/now")
def now() -> Response:
    """Return the running, next and last game as JSON for scripts, or 304 if unchanged."""
    return polls.answer(f"ranking {wanted_game()}", going_on)


def going_on() -> Polled:
    """Look up the running game, the next due time and the last game."""
    with one_reading() as reading:
        facts = competition(reading)
        coming = facts and rankings.upcoming(reading, facts)
        around = facts and rankings.find(reading, facts.id)
    payload = {
        "running": coming.running if coming else None,
        "next": machine_time(coming.next) if coming and coming.next else None,
        "last": around.game.match_id if around else None,
    }
    return Polled("-".join(str(value) for value in payload.values()), payload)


history_routes = Blueprint("rank_graph", __name__)


@history_routes.get("/user/<username>/graph")
def points(username: str) -> ResponseReturnValue:
    """Return a user's ranks in the games of a period, as JSON."""
    period = request.args.get("period", DEFAULT)
    if period not in PERIODS:
        abort(400, f"period must be one of {', '.join(PERIODS)}.")
    game = request.args.get("game", GAME)
    with one_reading() as reading:
        profile = accounts_service.find_profile(reading, username)
        if profile is None:
            abort(404, "There is no such user.")
        ranks = points_of(reading, game, profile.user_id, period)
    return jsonify([{**point._asdict(), "at": machine_time(point.at)} for point in ranks])
