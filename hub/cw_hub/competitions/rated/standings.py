"""The leaderboard of a rated competition: pages, order, and leaders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Any, Final, Literal, TypeAlias, get_args

from sqlalchemy import ColumnElement, Select, and_, func, or_, select
from sqlalchemy.orm import Session

from cw.league.statistics.glicko2 import shown_rating
from cw_hub.competitions.rated.win_counts import Count, Span, WinCounts, first_day
from cw_hub.competitions.verbs import CompetitionFacts
from cw_hub.store.tables import (
    Bot,
    BotStatus,
    Rating,
    RatingTotal,
    User,
)

PER_PAGE: Final = 100
UNSURE: Final = 110.0
"""A rating with a larger phi is considered unsure."""

LISTED: Final[tuple[BotStatus, ...]] = ("ACTIVE", "INACTIVE")

RATING: Final = Rating.mu - 2 * Rating.phi
"""The shown rating, as an expression that uses its index."""

TOTAL: Final = and_(
    RatingTotal.competition_id == Rating.competition_id,
    RatingTotal.bot_id == Rating.bot_id,
    RatingTotal.players == 0,
    RatingTotal.day == 0,
)
"""Joins a rating with the total of all its matches."""

SortKey: TypeAlias = Literal["rating", "name", "owner", "games", "rate", "active"]
SORTS: Final[tuple[SortKey, ...]] = get_args(SortKey)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Selects rows of a leaderboard."""

    players: int = 0
    """Number of players; 0: all."""
    days: int = 0
    """Number of UTC days, including today; 0: all time."""
    named: str = ""
    """Part of a bot's or owner's name."""
    sort: SortKey = "rating"
    page: int = 1


@dataclass(frozen=True, slots=True)
class Row:
    """A bot on the leaderboard."""

    rank: int
    bot: int
    """The bot's row id."""
    bot_id: str
    name: str
    game: str
    description: str
    status: BotStatus
    user_id: int
    owner: str | None
    picture: str | None
    mu: float
    phi: float
    games: int
    wins: int
    active_at: datetime

    @property
    def shown_rating(self) -> float:
        """The shown rating."""
        return shown_rating(self.mu, self.phi)

    @property
    def is_unsure(self) -> bool:
        """Whether the rating rests on few games."""
        return self.phi > UNSURE

    @property
    def win_rate(self) -> float:
        """Percentage of games won."""
        return 100 * self.wins / self.games


@dataclass(frozen=True, slots=True)
class LeaderboardPage:
    """A page of a leaderboard."""

    rows: Sequence[Row]
    page: int
    pages: int


def listed(competition: int, *columns: Any) -> Select[*tuple[Any, ...]]:
    """Return a query for a competition's listed bots."""
    return (
        select(*columns)
        .select_from(Rating)
        .join(Bot, Bot.id == Rating.bot_id)
        .where(
            Rating.competition_id == competition,
            Rating.last_match_at.is_not(None),
            Bot.status.in_(LISTED),
        )
    )


def entries(competition: int, *columns: Any) -> Select[*tuple[Any, ...]]:
    """Return a query for the row data of a competition's listed bots, plus more columns."""
    facts = (Bot, User, Rating.mu, Rating.phi, Rating.last_match_at)
    return listed(competition, *facts, *columns).join(User, User.id == Bot.user_id)


def ranked(competition: int) -> Select[*tuple[Any, ...]]:
    """Return a query for a competition's listed bots with their ranks."""
    place = func.rank().over(order_by=RATING.desc()).label("rank")
    columns = (Rating.bot_id, Rating.mu, Rating.phi, Rating.last_match_at)
    return listed(competition, *columns, place)


def board(
    session: Session,
    counts: WinCounts,
    competition: CompetitionFacts,
    wanted: Wanted,
    now: datetime,
) -> LeaderboardPage:
    """Return a page of a competition's leaderboard; a page beyond the last means the last.

    For all bots, only the sort keys are read; the rest is read for the bots of the page.
    """
    if replace(wanted, page=1) == Wanted():
        return whole_board(session, competition.id, wanted.page)
    span = Span(competition.id, wanted.players, first_day(now, wanted.days))
    played = counts.of(session, span, competition.revision)
    places = [
        entry for entry in session.execute(in_order(competition.id, wanted)) if entry[0] in played
    ]
    if wanted.sort == "games":
        places.sort(key=lambda entry: -played[entry[0]].games)
    elif wanted.sort == "rate":
        places.sort(key=lambda entry: -played[entry[0]].rate)
    page, pages = page_of(wanted.page, len(places))
    part = places[(page - 1) * PER_PAGE : page * PER_PAGE]
    rows = rows_of(session, competition.id, [bot for bot, _ in part])
    return LeaderboardPage(
        [row_of(rows[bot], rank, played[bot]) for bot, rank in part if bot in rows],
        page,
        pages,
    )


def in_order(competition: int, wanted: Wanted) -> Select[int, int]:
    """Return a query for the ids and ranks of listed bots, in the requested order.

    For an order by games it sorts by rank, as games are not counted here.
    """
    ranks = ranked(competition).subquery()
    order = {
        "name": Bot.name_key,
        "owner": User.username_key,
        "active": ranks.c.last_match_at.desc(),
    }.get(wanted.sort, ranks.c.rank)
    query = (
        select(ranks.c.bot_id, ranks.c.rank)
        .join(Bot, Bot.id == ranks.c.bot_id)
        .join(User, User.id == Bot.user_id)
        .order_by(order, ranks.c.rank, Bot.bot_id)
    )
    return query.where(named_like(wanted.named)) if wanted.named else query


def rows_of(session: Session, competition: int, bots: Sequence[int]) -> dict[int, Any]:
    """Return the row data of some listed bots, by id."""
    rows = session.execute(entries(competition).where(Bot.id.in_(bots)))
    return {row.Bot.id: row for row in rows}


def page_of(page: int, number: int) -> tuple[int, int]:
    """Return the page to show for a requested one, and the number of pages, of a list of rows."""
    pages = max(1, -(-number // PER_PAGE))
    return min(max(page, 1), pages), pages


def whole_board(session: Session, competition: int, wanted: int) -> LeaderboardPage:
    """Return a page of an unfiltered leaderboard.

    Its rows are read in index order, so that other pages cost nothing.
    """
    number = session.scalars(listed(competition, func.count())).one()
    page, pages = page_of(wanted, number)
    first = (page - 1) * PER_PAGE
    rows = session.execute(
        entries(competition, RatingTotal.games, RatingTotal.wins)
        .join(RatingTotal, TOTAL)
        .order_by(RATING.desc(), Bot.bot_id)
        .limit(PER_PAGE)
        .offset(first)
    ).all()
    if not rows:
        return LeaderboardPage([], page, pages)
    ranks = [1 if page == 1 else rank_at(session, competition, shown_of(rows[0]))]
    for place, (before, row) in enumerate(pairwise(rows), first + 2):
        ranks.append(ranks[-1] if shown_of(row) == shown_of(before) else place)
    counts = (Count(row.games, row.wins) for row in rows)
    rating = [row_of(*row) for row in zip(rows, ranks, counts, strict=True)]
    return LeaderboardPage(rating, page, pages)


def rank_at(session: Session, competition: int, rating: float) -> int:
    """Return the rank of a listed bot by its shown rating."""
    better: int = session.scalars(listed(competition, func.count()).where(rating < RATING)).one()
    return better + 1


def shown_of(row: Any) -> float:
    """Return the shown rating of a fetched row."""
    return shown_rating(row.mu, row.phi)


@dataclass(frozen=True, slots=True)
class Leader:
    """A bot at the top of the leaderboard."""

    rank: int
    name: str
    owner: str | None
    """The username; None if the user was deleted."""
    picture: str | None
    """The SHA-256 of the owner's picture."""
    shown_rating: float
    """The shown rating."""


def leaders(session: Session, competition: int, number: int) -> list[Leader]:
    """Return the top of a competition's listed bots; tied bots share a rank."""
    ranks = ranked(competition).subquery()
    rating = ranks.c.mu - 2 * ranks.c.phi
    rows = session.execute(
        select(ranks.c.rank, Bot.name, User.username, User.avatar, rating)
        .join(ranks, ranks.c.bot_id == Bot.id)
        .outerjoin(User, User.id == Bot.user_id)
        .order_by(ranks.c.rank, Bot.bot_id)
        .limit(number)
    )
    return [Leader(*leader) for leader in rows]


def named_like(text: str) -> ColumnElement[bool]:
    """Return the SQL condition for bots whose name or owner's name contains a text."""
    key = text.casefold()
    return or_(
        Bot.name_key.contains(key, autoescape=True),
        User.username_key.contains(key, autoescape=True),
    )


def row_of(row: Any, rank: int, count: Count) -> Row:
    """Return a leaderboard row."""
    bot, user = row.Bot, row.User
    return Row(
        rank,
        bot.id,
        bot.bot_id,
        bot.name,
        bot.game,
        bot.description,
        bot.status,
        user.id,
        user.username,
        user.avatar,
        row.mu,
        row.phi,
        count.games,
        count.wins,
        row.last_match_at,
    )
