"""API routes of daily games and their rankings."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final

from flask import abort
from msgspec import Meta, Struct

from cw_hub.api import (
    Limit,
    List,
    MatchIdOrNone,
    Name,
    PlaceOrNone,
    Query,
    Routes,
    document,
    list_of,
)
from cw_hub.competitions.daily import standings as rankings
from cw_hub.competitions.daily.service import GAME
from cw_hub.competitions.daily.standings import Game, StandingRow
from cw_hub.competitions.format import is_shown
from cw_hub.competitions.service import CompetitionFacts
from cw_hub.matches.listings import Part
from cw_hub.pages.request import one_reading
from cw_hub.store.database import Reading

routes: Final = Routes()

NO_COMPETITION: Final = "There is no daily competition of this game."
NO_GAME: Final = "There is no such daily game."


class DailyQuery(Query, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Selects daily games."""

    game: Annotated[Name, Meta(description="The game.")] = GAME
    limit: Limit = 50
    after: MatchIdOrNone = ""


class RankingQuery(Query, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Selects rows of a daily game's ranking."""

    game: Annotated[Name, Meta(description="The game.")] = GAME
    match: Annotated[
        str, Meta(pattern="^(m_[0-9a-f]{8})?$", description="A daily game. Default: the last one.")
    ] = ""
    country: Annotated[
        str, Meta(pattern="^([A-Z]{2})?$", description="Only players of this country; empty: all.")
    ] = ""
    limit: Limit = 50
    after: PlaceOrNone = ""


class DailyGame(Struct, frozen=True, kw_only=True):
    """A finished daily game; `at` is the time at which it was due."""

    match_id: str
    at: datetime
    reason: str
    players: int


class RankingRow(Struct, frozen=True, kw_only=True):
    """A row of a ranking; `username` is null if the account was deleted."""

    position: int
    rank: int
    score: float
    name: str
    username: str | None
    country: str | None


def competition_or_404(reading: Reading, game: str) -> CompetitionFacts:
    """Return the daily competition of a game; abort with 404 if there is none."""
    facts = rankings.competition_of(reading, game)
    if facts is None or not is_shown(facts):
        abort(404, NO_COMPETITION)
    return facts


def game_or_404(reading: Reading, game: str, match_id: str) -> Game:
    """Return a daily game, by default the last one; abort with 404 if there is none."""
    facts = competition_or_404(reading, game)
    around = rankings.find(reading, facts.id, match_id) or abort(404, NO_GAME)
    return around.game


@routes.add("GET", "/daily-games")
def daily_games(query: DailyQuery) -> List[DailyGame]:
    """Return the finished daily games of a game, latest first."""
    with one_reading() as reading:
        facts = competition_or_404(reading, query.game)
        before = game_or_404(reading, query.game, query.after) if query.after else None
        games = rankings.latest(reading, facts.id, query.limit + 1, before)
    items = games[: query.limit]
    more = items[-1].match_id if len(games) > query.limit else None
    return list_of(Part(items, more), daily_game)


def daily_game(game: Game) -> DailyGame:
    """Convert a daily game to its API response."""
    return document(DailyGame, game)


@routes.add("GET", "/ranking")
def ranking(query: RankingQuery) -> List[RankingRow]:
    """Return the ranking of a daily game, best first."""
    first = int(query.after or 0) + 1
    with one_reading() as reading:
        game = game_or_404(reading, query.game, query.match)
        choice = rankings.List(game.id, query.country)
        rows = rankings.places(reading, choice, first, first + query.limit)
    items = rows[: query.limit]
    more = str(items[-1].position) if len(rows) > query.limit else None
    return list_of(Part(items, more), ranking_row)


def ranking_row(place: StandingRow) -> RankingRow:
    """Convert a row of a ranking to its API response."""
    return document(RankingRow, place)
