"""Pages of the rated competitions' leaderboards, and the list of all matches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, cast
from urllib.parse import urlencode

from flask import Blueprint, Flask, abort, current_app, render_template, request
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from cw.games.registry import game_entries
from cw.web.games import game_page
from cw_hub.accounts.actor import actor
from cw_hub.accounts.service import HOUSE
from cw_hub.competitions.format import is_shown
from cw_hub.competitions.rated import service as rated_service
from cw_hub.competitions.rated import standings
from cw_hub.competitions.rated.standings import (
    MOST,
    SORTS,
    Counts,
    LeaderboardPage,
    RowExtras,
    StandingsFilter,
    beside,
)
from cw_hub.competitions.service import CompetitionFacts, Dates, dates_of, everything
from cw_hub.matches import listings
from cw_hub.matches.listings import PLACES, MatchFilter
from cw_hub.matches.pages import shown_kinds
from cw_hub.matches.results import STATES
from cw_hub.pages import polls
from cw_hub.pages.layout import address_with, part_of_page
from cw_hub.pages.polls import Polled
from cw_hub.pages.request import Remembered, minute, one_reading, resources, whole_number
from cw_hub.store.database import Reading

routes = Blueprint("leaderboard", __name__)

RANGES: Final = {0: "All time", 1: "Today", 7: "Last 7 days", 30: "Last 30 days"}
"""Labels of the time ranges, by number of UTC days counted, including today."""

CAPACITY: Final = 64
"""Number of leaderboard pages whose rows a process caches, about 60 kB each."""

OF_OWN_BOTS: Final = {"mine": "my bots", "lost": "my bots, lost since yesterday"}
"""Filters for matches of the user's own bots."""

LARGEST_PAGE: Final = 100_000
LONGEST: Final = 64


def number(name: str, most: int = LARGEST_PAGE) -> int:
    """Return a numeric query parameter, or 0 if it is missing or invalid."""
    return min(whole_number(request.args.get(name, "")) or 0, most)


def wanted() -> StandingsFilter:
    """Return the requested leaderboard selection; invalid values count as absent."""
    days, sort = number("range"), request.args.get("sort", "")
    return StandingsFilter(
        number("players"),
        days if days in RANGES else 0,
        request.args.get("q", "").strip()[:LONGEST],
        next((one for one in SORTS if one == sort), "rating"),
        number("page") or 1,
    )


def install(app: Flask) -> None:
    """Add caches of win counts and leaderboard rows to an app."""
    app.extensions["win_counts"] = Remembered[Counts](MOST)
    app.extensions["boards"] = Remembered[RowsOfBoard](CAPACITY)


def board_of(
    reading: Reading, competition: CompetitionFacts, choice: StandingsFilter
) -> LeaderboardPage:
    """Return a page of a competition's current leaderboard.

    Aborts with 400 for a number of players that its matches never have.
    """
    check_players(reading, competition, choice.players)
    counts = cast("Remembered[Counts]", current_app.extensions["win_counts"])
    return standings.board(reading, counts, competition, choice, resources().clock())


def check_players(reading: Reading, competition: CompetitionFacts, players: int) -> None:
    """Abort with 400 for a number of players that the competition's matches never have; 0: any."""
    if not players:
        return
    formats = rated_service.settings_of(reading, competition).formats
    if players not in formats:
        numbers = ", ".join(map(str, formats))
        abort(400, f"Its matches have {numbers} players, not {players}.")


def kept_rows(
    reading: Reading, competition: CompetitionFacts, choice: StandingsFilter
) -> RowsOfBoard:
    """Return the rows of a page, cached per revision of the competition."""
    cache = cast("Remembered[RowsOfBoard]", current_app.extensions["boards"])

    def make() -> RowsOfBoard:
        board = board_of(reading, competition, choice)
        more = beside(reading, competition, [row.bot for row in board.rows])
        return RowsOfBoard(board, more, rows_html(board, more, None))

    revision = (competition.revision, minute(resources().clock()))
    return cache.find((competition.id, choice), make, revision)


def rows_html(board: LeaderboardPage, more: RowExtras, own: int | None) -> Markup:
    """Return the rows of a page as HTML, with the rows of user `own` marked."""
    values = {"board": board, "beside": more, "own": own, "house": HOUSE}
    return part_of_page("hub/competitions/rated/leaderboard_rows.html", **values)


@dataclass(frozen=True, slots=True)
class RowsOfBoard:
    """A leaderboard page, with its HTML rendered for users who have no bot on it."""

    board: LeaderboardPage
    beside: RowExtras
    html: Markup

    def html_for(self, user: int | None) -> Markup:
        """Return the rows for a user (None: a visitor), with their own rows marked."""
        is_there = user is not None and any(row.user_id == user for row in self.board.rows)
        return rows_html(self.board, self.beside, user) if is_there else self.html


@dataclass(frozen=True, slots=True)
class ShownBoard:
    """A page of a competition's leaderboard."""

    competition: CompetitionFacts
    competitions: Sequence[CompetitionFacts]
    dates: Dates
    rows: RowsOfBoard
    formats: Sequence[int]


def read_board(choice: StandingsFilter) -> ShownBoard | None:
    """Return the requested leaderboard page, or None on a site without rated competitions.

    Aborts with 404 if the requested competition is missing or not shown.
    """
    with one_reading() as reading:
        rated_ones = [one for one in everything(reading) if one.format == "rated"]
        open_ones = [one for one in rated_ones if one.state != "draft"]
        slug = request.args.get("game") or (open_ones[0].slug if open_ones else "")
        if not slug:
            return None
        competition = next((one for one in rated_ones if one.slug == slug and is_shown(one)), None)
        if competition is None:
            abort(404, "There is no such competition.")
        rows, dates = kept_rows(reading, competition, choice), dates_of(reading, competition.id)
        formats = rated_service.settings_of(reading, competition).formats
        return ShownBoard(competition, open_ones, dates, rows, formats)


@routes.get("/leaderboard")
def page() -> ResponseReturnValue:
    """Show the bots of a rated competition, best first, or return JSON for the page's script."""
    choice = wanted()
    if request.args.get("format") == "json":
        game = request.args.get("game", "")[:LONGEST]
        return polls.answer(f"leaderboard {game} {choice}", lambda: polled(choice))
    board_view = read_board(choice)
    if board_view is None:
        return render_template(
            "hub/competitions/rated/leaderboard.html", board=None, competitions=[]
        )
    own = user.user_id if (user := actor().user) else None
    return render_template(
        "hub/competitions/rated/leaderboard.html",
        board=board_view.rows.board,
        rows=board_view.rows.html_for(own),
        competition=board_view.competition,
        dates=board_view.dates,
        competitions=board_view.competitions,
        titles={one.slug: name_of(one) for one in board_view.competitions},
        formats=board_view.formats,
        ranges=RANGES,
        wanted=choice,
        address_with=address_with,
        renew_from=f"{request.path}?{urlencode({**request.args.to_dict(), 'format': 'json'})}",
        own=own,
    )


def name_of(competition: CompetitionFacts) -> str:
    """Return a competition's title in the list: that of its game if it is the game's main one."""
    is_of_game = competition.slug == competition.game
    return game_page(competition.game).title if is_of_game else competition.title


def polled(choice: StandingsFilter) -> Polled:
    """Return the rows for the page's script, which marks the user's own rows itself."""
    board_view = read_board(choice)
    if board_view is None:
        abort(404, "There is no such competition.")
    now = resources().clock()
    day = now.date() if choice.days else ""
    value = {"rows": board_view.rows.html, "updated": now.isoformat(timespec="seconds")}
    return Polled(f"{board_view.competition.id}-{board_view.competition.revision}-{day}", value)


def of_own_bots(choice: MatchFilter, name: str) -> MatchFilter:
    """Restrict a choice to the user's own bots if requested; ignored for visitors.

    `mine`: all their matches; `lost`: those lost since yesterday.
    """
    user = actor().user
    if user is None or name not in OF_OWN_BOTS:
        return choice
    since = listings.yesterday(resources().clock()) if name == "lost" else None
    return replace(choice, owner=user.user_id, lost_since=since)


@routes.get("/matches")
def matches() -> ResponseReturnValue:
    """List the public matches."""
    state, best = request.args.get("state", ""), request.args.get("best", "")
    game = request.args.get("game", "")
    choice = MatchFilter(
        game if game in game_entries() else "",
        request.args.get("bot", "").strip()[:LONGEST],
        number("players", 1000),
        state if state in STATES else "",
        best if listings.month_of(best) else "",
        number("page", 1000) or 1,
    )
    choice = of_own_bots(choice, request.args.get("of", ""))
    with one_reading() as session:
        listing = listings.listing(session, shown_kinds(), choice)
    return render_template(
        "hub/matches/matches.html",
        listing=listing,
        choice=choice,
        places=PLACES,
        games={game: game_page(game).title for game in game_entries()},
        states=STATES,
        own_choices=OF_OWN_BOTS,
        of=request.args.get("of", ""),
        address_with=address_with,
    )
