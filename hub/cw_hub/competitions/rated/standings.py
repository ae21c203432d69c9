"""Queries behind the rated leaderboards: pages, order, leaders, and bots' recent results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby, pairwise
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from sqlalchemy import ColumnElement, Select, and_, func, or_, select

from cw.league.fixtures import Outcome, outcome_of
from cw.league.glicko2 import Rating, shown_rating
from cw_hub.accounts.service import HOUSE
from cw_hub.competitions.rated.ratings import DAY
from cw_hub.competitions.service import CompetitionFacts
from cw_hub.matches.listings import WINNERS
from cw_hub.pages.request import Remembered
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, BotStatus, Match, MatchParticipant, RatingTotal, User
from cw_hub.store.models import Rating as ModelsRating

MOST: Final = 24
"""Maximum number of cached counts; with 10,000 bots they take about 50 MB."""


class Count(NamedTuple):
    """A bot's game counts."""

    games: int
    wins: int

    @property
    def rate(self) -> float:
        """The fraction of games won."""
        return self.wins / self.games


Counts: TypeAlias = Mapping[int, Count]
"""Game counts by bot id; bots without a game are absent."""


class Span(NamedTuple):
    """Selects the matches to count."""

    competition: int
    players: int
    """The number of players; 0: all."""
    since: int
    """The first day counted, in days since 1970; 0: all time."""


def first_day(now: datetime, days: int) -> int:
    """Return the first of the last `days` UTC days, with today, in days since 1970; 0 for 0."""
    return int(now.timestamp()) // DAY - days + 1 if days else 0


def counted(session: Session, cache: Remembered[Counts], span: Span, revision: int) -> Counts:
    """Return the counts of a span, cached at a revision of its competition."""
    counts = cache.get(span, revision)
    if counts is None:
        counts = summed(session, span)
        if counts:  # Empty counts are fast, and would crowd others out.
            cache.put(span, counts, revision)
    return counts


def summed(session: Session, span: Span) -> Counts:
    """Sum up bots' games and wins from the rows."""
    of_days = RatingTotal.day >= span.since if span.since else RatingTotal.day == 0
    rows = session.execute(
        select(RatingTotal.bot_id, func.sum(RatingTotal.games), func.sum(RatingTotal.wins))
        .where(
            RatingTotal.competition_id == span.competition,
            RatingTotal.players == span.players,
            of_days,
        )
        .group_by(RatingTotal.bot_id)
    )
    return {bot: Count(int(games), int(wins)) for bot, games, wins in rows}


PER_PAGE: Final = 100
UNSURE: Final = 110.0
"""A rating with a larger phi is considered unsure."""

LISTED: Final[tuple[BotStatus, ...]] = ("ACTIVE", "INACTIVE")

RATING: Final = ModelsRating.mu - 2 * ModelsRating.phi
"""The shown rating, as the SQL expression that its index covers."""

TOTAL: Final = and_(
    RatingTotal.competition_id == ModelsRating.competition_id,
    RatingTotal.bot_id == ModelsRating.bot_id,
    RatingTotal.players == 0,
    RatingTotal.day == 0,
)
"""The condition that joins a rating with the total of all its matches."""

SortKey: TypeAlias = Literal["rating", "name", "owner", "games", "rate", "active"]
SORTS: Final[tuple[SortKey, ...]] = get_args(SortKey)


@dataclass(frozen=True, slots=True)
class StandingsFilter:
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
        """Whether the rating is unsure, because it is based on few games."""
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
        .select_from(ModelsRating)
        .join(Bot, Bot.id == ModelsRating.bot_id)
        .where(
            ModelsRating.competition_id == competition,
            ModelsRating.last_match_at.is_not(None),
            Bot.status.in_(LISTED),
        )
    )


def entries(competition: int, *columns: Any) -> Select[*tuple[Any, ...]]:
    """Return a query for the row data of a competition's listed bots, plus more columns."""
    facts = (Bot, User, ModelsRating.mu, ModelsRating.phi, ModelsRating.last_match_at)
    return listed(competition, *facts, *columns).join(User, User.id == Bot.user_id)


def ranked(competition: int) -> Select[*tuple[Any, ...]]:
    """Return a query for a competition's listed bots with their ranks."""
    place = func.rank().over(order_by=RATING.desc()).label("rank")
    columns = (ModelsRating.bot_id, ModelsRating.mu, ModelsRating.phi, ModelsRating.last_match_at)
    return listed(competition, *columns, place)


def board(
    session: Session,
    counts: Remembered[Counts],
    competition: CompetitionFacts,
    wanted: StandingsFilter,
    now: datetime,
) -> LeaderboardPage:
    """Return a page of a competition's leaderboard; the last page for numbers beyond it.

    For all bots, only the sort keys are read; the other columns are read for the page's bots.
    """
    if replace(wanted, page=1) == StandingsFilter():
        return whole_board(session, competition.id, wanted.page)
    span = Span(competition.id, wanted.players, first_day(now, wanted.days))
    played = counted(session, counts, span, competition.revision)
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


def in_order(competition: int, wanted: StandingsFilter) -> Select[int, int]:
    """Return a query for the ids and ranks of listed bots, in the requested order.

    Orders by games or win rate are left to the caller, as games are not counted here; the query
    then sorts by rank.
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
    """Return the existing page nearest to a requested one, and the number of pages of a list."""
    pages = max(1, -(-number // PER_PAGE))
    return min(max(page, 1), pages), pages


def whole_board(session: Session, competition: int, wanted: int) -> LeaderboardPage:
    """Return a page of an unfiltered leaderboard.

    Its rows are read in index order, so that the other pages add no cost.
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
    """Return the rank of a shown rating among the listed bots."""
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
    """The SHA-256 of the owner's avatar."""
    shown_rating: float
    """The shown rating."""


def leaders(session: Session, competition: int, number: int) -> list[Leader]:
    """Return a competition's top listed bots; tied bots share a rank."""
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
    """Build a leaderboard row from a fetched row, a rank and game counts."""
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


RESULTS: Final = 5
"""Number of latest results shown per bot, and of matches that its trend covers."""

LATEST: Final = 500
"""Number of a competition's latest matches that are read for recent results and trends.

Bots without a match among them have no trend.
"""


@dataclass(frozen=True, slots=True)
class Recent:
    """A bot's recent form."""

    results: Sequence[Outcome] = ()
    """Latest first."""
    trend: int | None = None
    """Change of the shown rating over these matches; None if unknown."""


NOTHING_YET: Final = Recent()


class HouseBot(NamedTuple):
    """A house bot on the leaderboard: a benchmark for users' bots."""

    name: str
    shown_rating: float


@dataclass(frozen=True, slots=True)
class RowExtras:
    """Data that leaderboard rows show in addition to ratings."""

    recent: Mapping[int, Recent]
    """Recent form by bot id."""
    house: Sequence[HouseBot]
    """House bots, weakest first."""

    def recent_of(self, bot: int) -> Recent:
        """Return a bot's recent form."""
        return self.recent.get(bot, NOTHING_YET)

    def passed_by(self, shown_rating: float) -> list[str]:
        """Return the names of the house bots below a rating."""
        return [bot.name for bot in self.house if bot.shown_rating < shown_rating]


def beside(session: Session, competition: CompetitionFacts, bots: Sequence[int]) -> RowExtras:
    """Return the extra data of some bots' rows, with two SQL statements for any history length."""
    return RowExtras(recent(session, competition, bots), house_bots(session, competition.id))


def house_bots(session: Session, competition: int) -> list[HouseBot]:
    """Return a competition's listed house bots, weakest first."""
    rows = listed(competition, Bot.name, RATING).join(User, User.id == Bot.user_id)
    own = session.execute(rows.where(User.username_key == HOUSE).order_by(RATING))
    return [HouseBot(*row) for row in own]


def recent(
    session: Session, competition: CompetitionFacts, bots: Sequence[int]
) -> dict[int, Recent]:
    """Return the recent form of some bots in a competition, by bot."""
    own = MatchParticipant
    rows = session.execute(
        select(own.bot_id, own.rank, own.mu, own.phi, WINNERS.label("winners"))
        .join(Match, Match.id == own.match_id)
        .where(Match.competition_id == competition.id, Match.seq > competition.last_seq - LATEST)
        .where(own.bot_id.in_(bots))
        .order_by(own.bot_id, Match.seq.desc())
    )
    by_bot = groupby(rows, key=lambda row: row.bot_id)
    return {bot: recent_in(seats) for bot, seats in by_bot}


def recent_in(seats: Iterable[Any]) -> Recent:
    """Return a bot's form from its seats, latest first."""
    latest = list(seats)[: RESULTS + 1]
    ratings = [Rating(seat.mu, seat.phi).shown_rating for seat in latest if seat.mu is not None]
    trend = round(ratings[0]) - round(ratings[-1]) if len(ratings) > 1 else None
    return Recent([outcome_of(seat.rank, seat.winners) for seat in latest[:RESULTS]], trend)
