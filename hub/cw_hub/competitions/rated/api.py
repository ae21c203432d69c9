"""API routes of rated competitions: leaderboard, ratings and opponents."""

from __future__ import annotations

from typing import Final

from flask import abort

from cw_hub.api import BotStanding, List, OfBotQuery, PlacesQuery, Routes, document, list_of
from cw_hub.bots import service as bots_service
from cw_hub.bots.service import BotView
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.rated import bot_standings, standings
from cw_hub.competitions.rated import service as rated_service
from cw_hub.competitions.rated.bot_standings import RatedPoint
from cw_hub.competitions.rated.documents import (
    LeaderboardQuery,
    LeaderboardRow,
    OpponentRow,
    RatingPoint,
)
from cw_hub.competitions.rated.pages import board_of
from cw_hub.competitions.rated.standings import PER_PAGE, StandingsFilter
from cw_hub.matches import listings
from cw_hub.matches.listings import PageRequest
from cw_hub.pages.request import one_reading
from cw_hub.store.database import Reading

routes: Final = Routes()

NO_BOT: Final = "There is no such bot."
NO_COMPETITION: Final = "There is no such rated competition."
NOT_RATED: Final = "There is no rated competition of this bot's game."


def leaderboard_row(row: standings.Row) -> LeaderboardRow:
    """Convert a leaderboard row to its API response."""
    return document(LeaderboardRow, row, rating=row.shown_rating, last_match_at=row.active_at)


@routes.add("GET", "/leaderboard")
def leaderboard_rows(query: LeaderboardQuery) -> List[LeaderboardRow]:
    """Return the bots of a rated competition, best first."""
    place = int(query.after or 0)
    choice = StandingsFilter(query.players, query.range, query.q, query.sort, place // PER_PAGE + 1)
    with one_reading() as reading:
        rows = rated_service.rated_competitions(reading)
        game = query.game or (rows[0].slug if rows else "")
        competition = next((row for row in rows if row.slug == game), None)
        if competition is None:
            abort(404, NO_COMPETITION)
        board = board_of(reading, competitions_service.facts_of(competition), choice)
    if board.page < choice.page:
        return List(items=[], next=None)
    first, is_last = (board.page - 1) * PER_PAGE, board.page == board.pages
    part = listings.cut_by_place(
        board.rows, PageRequest(query.limit, query.after), first, is_last=is_last
    )
    return list_of(part, leaderboard_row)


def rated_bot(reading: Reading, bot_id: str) -> tuple[int, int]:
    """Return the row ids of a bot and its game's rated competition; abort with 404 if missing."""
    bot = bots_service.find_by_id(reading, bot_id) or abort(404, NO_BOT)
    competition = rated_service.of_game(reading, bot.game) or abort(404, NOT_RATED)
    return bot.id, competition.id


@routes.add("GET", "/bots/<bot_id>/ratings")
def bot_ratings(bot_id: str, query: OfBotQuery) -> List[RatingPoint]:
    """Return the rating of a bot after each of its rated matches, latest first."""
    cut = PageRequest(query.limit, query.after)
    with one_reading() as reading:
        bot, competition = rated_bot(reading, bot_id)
        part = bot_standings.ratings_of_bot(reading, competition, bot, cut)
    return list_of(part, rating_point)


@routes.add("GET", "/bots/<bot_id>/opponents")
def bot_opponents(bot_id: str, query: PlacesQuery) -> List[OpponentRow]:
    """Return the opponents of a bot in rated matches, most frequent first."""
    first = int(query.after or 0)
    with one_reading() as reading:
        bot, competition = rated_bot(reading, bot_id)
        met = bot_standings.opponents(reading, competition, bot, first, query.limit)
    is_last = first + query.limit >= met.number
    cut = PageRequest(query.limit, query.after)
    return list_of(listings.cut_by_place(met.rows, cut, first, is_last=is_last), opponent_row)


def standing(reading: Reading, bot: BotView) -> BotStanding | None:
    """Return a bot's standing in the competition of its game, or None if it takes no part."""
    competition = rated_service.of_game(reading, bot.game)
    its = bot_standings.standing(reading, competition.id, bot.id) if competition else None
    if its is None:
        return None
    return document(
        BotStanding, its, rating=its.shown_rating, won=its.wins, drawn=its.draws, lost=its.losses
    )


def rating_point(point: RatedPoint) -> RatingPoint:
    """Convert the rating of a bot after a match to its API response."""
    return document(RatingPoint, point, rating=point.shown_rating)


def opponent_row(opponent: bot_standings.Opponent) -> OpponentRow:
    """Convert a bot's results against an opponent to their API response."""
    return document(OpponentRow, opponent, last_met_at=opponent.met_at)
