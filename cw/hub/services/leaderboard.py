"""What the leaderboard and the pages of bots show of the ratings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import ColumnElement, Select, and_, func, or_, select
from sqlalchemy.orm import Session, aliased

from cw.hub.services.competitions import CompetitionFacts
from cw.hub.services.win_counts import Count, Span, WinCounts, first_day
from cw.hub.store.tables import (
    Bot,
    BotStatus,
    Match,
    MatchParticipant,
    Rating,
    RatingTotal,
    User,
)

PER_PAGE: Final = 100
UNSURE: Final = 110.0
"""The phi above which a rating says little yet."""

LISTED: Final[tuple[BotStatus, ...]] = ("ACTIVE", "INACTIVE")

SHOWN: Final = Rating.mu - 2 * Rating.phi
"""The shown rating, as its index has it."""

SortKey: TypeAlias = Literal["rating", "name", "owner", "games", "rate", "active"]
SORTS: Final[tuple[SortKey, ...]] = ("rating", "name", "owner", "games", "rate", "active")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows of a leaderboard are wanted."""

    players: int = 0
    """0: all numbers of players."""
    days: int = 0
    """How many days of UTC, with today; 0: all time."""
    named: str = ""
    """Part of the name of a bot or its owner."""
    sort: SortKey = "rating"
    page: int = 1


@dataclass(frozen=True, slots=True)
class Row:
    """A bot on the leaderboard."""

    rank: int
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
    def shown(self) -> float:
        """The shown rating."""
        return self.mu - 2 * self.phi

    @property
    def is_unsure(self) -> bool:
        """Whether few games stand behind the rating."""
        return self.phi > UNSURE

    @property
    def win_rate(self) -> float:
        """Won games, in percent."""
        return 100 * self.wins / self.games


@dataclass(frozen=True, slots=True)
class Board:
    """A page of a leaderboard."""

    rows: Sequence[Row]
    page: int
    pages: int


def listed(competition: int, *columns: Any) -> Select[*tuple[Any, ...]]:
    """Return a query for the listed bots of a competition."""
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


def ranked(competition: int) -> Select[*tuple[Any, ...]]:
    """Return a query for the listed bots of a competition, each with its rank."""
    place = func.rank().over(order_by=SHOWN.desc()).label("rank")
    columns = (Rating.bot_id, Rating.mu, Rating.phi, Rating.last_match_at)
    return listed(competition, *columns, place)


def board(
    session: Session,
    counts: WinCounts,
    competition: CompetitionFacts,
    wanted: Wanted,
    now: datetime,
) -> Board:
    """Return a page of the leaderboard of a competition; a page beyond the last one is the last.

    Of all bots only what orders them is read; the rest is, of those on the page.
    """
    if replace(wanted, page=1) == Wanted():
        return whole_board(session, competition.id, wanted.page)
    span = Span(competition.id, wanted.players, first_day(now, wanted.days))
    played = counts.of(session, span, competition.revision)
    places = [one for one in session.execute(in_order(competition.id, wanted)) if one[0] in played]
    if wanted.sort == "games":
        places.sort(key=lambda one: -played[one[0]].games)
    elif wanted.sort == "rate":
        places.sort(key=lambda one: -played[one[0]].rate)
    page, pages = page_of(wanted.page, len(places))
    part = places[(page - 1) * PER_PAGE : page * PER_PAGE]
    found = rows_of(session, competition.id, [bot for bot, _ in part])
    return Board(
        [row_of(found[bot], rank, played[bot]) for bot, rank in part if bot in found], page, pages
    )


def in_order(competition: int, wanted: Wanted) -> Select[int, int]:
    """Return a query for the ids and ranks of listed bots, in the order that is wanted.

    Where that is one of games, it is by rank: those are not counted here.
    """
    ranks = ranked(competition).subquery()
    order = {
        "name": Bot.name_key,
        "owner": User.username_key,
        "active": ranks.c.last_match_at.desc(),
    }.get(wanted.sort, ranks.c.rank)
    found = (
        select(ranks.c.bot_id, ranks.c.rank)
        .join(Bot, Bot.id == ranks.c.bot_id)
        .join(User, User.id == Bot.user_id)
        .order_by(order, ranks.c.rank, Bot.bot_id)
    )
    return found.where(named_like(wanted.named)) if wanted.named else found


def rows_of(session: Session, competition: int, bots: Sequence[int]) -> dict[int, Any]:
    """Return what is shown of some listed bots, by their ids."""
    columns = (Bot, User, Rating.mu, Rating.phi, Rating.last_match_at)
    rows = listed(competition, *columns).join(User, User.id == Bot.user_id)
    return {one.Bot.id: one for one in session.execute(rows.where(Bot.id.in_(bots)))}


def page_of(page: int, number: int) -> tuple[int, int]:
    """Return the page of a list of so many rows that is shown for the one asked for, and all."""
    pages = max(1, -(-number // PER_PAGE))
    return min(max(page, 1), pages), pages


def whole_board(session: Session, competition: int, wanted: int) -> Board:
    """Return a page of a leaderboard from which nothing is left out.

    Its rows are read in the order of the index, so that the other pages cost nothing.
    """
    number = session.scalars(listed(competition, func.count())).one()
    page, pages = page_of(wanted, number)
    first = (page - 1) * PER_PAGE
    total = and_(
        RatingTotal.competition_id == Rating.competition_id,
        RatingTotal.bot_id == Rating.bot_id,
        RatingTotal.players == 0,
        RatingTotal.day == 0,
    )
    columns = (Bot, User, Rating.mu, Rating.phi, Rating.last_match_at)
    rows = session.execute(
        listed(competition, *columns, RatingTotal.games, RatingTotal.wins)
        .join(RatingTotal, total)
        .join(User, User.id == Bot.user_id)
        .order_by(SHOWN.desc(), Bot.bot_id)
        .limit(PER_PAGE)
        .offset(first)
    ).all()
    if not rows:
        return Board([], page, pages)
    ranks = [1 if page == 1 else rank_at(session, competition, shown_of(rows[0]))]
    for place, (before, one) in enumerate(pairwise(rows), first + 2):
        ranks.append(ranks[-1] if shown_of(one) == shown_of(before) else place)
    counts = (Count(one.games, one.wins) for one in rows)
    shown = [row_of(*one) for one in zip(rows, ranks, counts, strict=True)]
    return Board(shown, page, pages)


def rank_at(session: Session, competition: int, shown: float) -> int:
    """Return the rank of a listed bot by its shown rating."""
    better: int = session.scalars(listed(competition, func.count()).where(shown < SHOWN)).one()
    return better + 1


def shown_of(found: Any) -> float:
    """Return the shown rating of a row that was found."""
    shown: float = found.mu - 2 * found.phi
    return shown


@dataclass(frozen=True, slots=True)
class Leader:
    """A bot at the top."""

    rank: int
    name: str
    owner: str | None
    """The username; None where that was deleted."""
    picture: str | None
    """The SHA-256 of the owner's picture."""
    shown: float
    """The shown rating."""


def leaders(session: Session, competition: int, number: int) -> list[Leader]:
    """Return the first of the listed bots of a competition; equal ones share a rank."""
    ranks = ranked(competition).subquery()
    shown = ranks.c.mu - 2 * ranks.c.phi
    rows = session.execute(
        select(ranks.c.rank, Bot.name, User.username, User.avatar, shown)
        .join(ranks, ranks.c.bot_id == Bot.id)
        .outerjoin(User, User.id == Bot.user_id)
        .order_by(ranks.c.rank, Bot.bot_id)
        .limit(number)
    )
    return [Leader(*one) for one in rows]


def named_like(text: str) -> ColumnElement[bool]:
    """Return what holds of bots whose name, or whose owner's, has a text in it."""
    key = text.casefold()
    return or_(
        Bot.name_key.contains(key, autoescape=True),
        User.username_key.contains(key, autoescape=True),
    )


def row_of(found: Any, rank: int, count: Count) -> Row:
    """Return a row of the leaderboard."""
    bot, user = found.Bot, found.User
    return Row(
        rank,
        bot.bot_id,
        bot.name,
        bot.game,
        bot.description,
        bot.status,
        user.id,
        user.username,
        user.avatar,
        found.mu,
        found.phi,
        count.games,
        count.wins,
        found.last_match_at,
    )


# One bot


@dataclass(frozen=True, slots=True)
class Standing:
    """How a bot stands in a competition."""

    rank: int | None
    """None for one that is not listed."""
    of: int
    """Listed bots."""
    mu: float
    phi: float
    crash_streak: int
    last_match_at: datetime | None
    is_playing: bool
    games: int
    wins: int
    draws: int
    losses: int

    @property
    def shown(self) -> float:
        """The shown rating."""
        return self.mu - 2 * self.phi


def standing(session: Session, competition: int, bot: int) -> Standing | None:
    """Return how a bot stands, None if it takes no part."""
    total = and_(
        RatingTotal.competition_id == Rating.competition_id,
        RatingTotal.bot_id == Rating.bot_id,
        RatingTotal.players == 0,
        RatingTotal.day == 0,
    )
    found = session.execute(
        select(Rating, Bot.status, RatingTotal)
        .join(Bot, Bot.id == Rating.bot_id)
        .outerjoin(RatingTotal, total)
        .where(Rating.competition_id == competition, Rating.bot_id == bot)
    ).one_or_none()
    if found is None:
        return None
    rating, status, counts = found
    better = func.count().filter(rating.mu - 2 * rating.phi < SHOWN)
    of, above = session.execute(listed(competition, func.count(), better)).one()
    is_listed = status in LISTED and rating.last_match_at is not None
    return Standing(
        above + 1 if is_listed else None,
        of,
        rating.mu,
        rating.phi,
        rating.crash_streak,
        rating.last_match_at,
        rating.playing_id is not None,
        *((counts.games, counts.wins, counts.draws, counts.losses) if counts else (0, 0, 0, 0)),
    )


@dataclass(frozen=True, slots=True)
class RatedBot:
    """A bot of a user, and what it has come to in the rated competition of its game."""

    game: str
    name: str
    status: BotStatus
    shown: float | None
    """None for one that has played no rated match."""
    games: int
    wins: int
    draws: int
    losses: int


def bots_of(session: Session, user_id: int) -> list[RatedBot]:
    """Return the bots of a user, retired ones too, by game and name."""
    its = and_(Rating.bot_id == Bot.id, Rating.last_match_at.is_not(None))
    total = and_(
        RatingTotal.competition_id == Rating.competition_id,
        RatingTotal.bot_id == Rating.bot_id,
        RatingTotal.players == 0,
        RatingTotal.day == 0,
    )
    counts = (RatingTotal.games, RatingTotal.wins, RatingTotal.draws, RatingTotal.losses)
    rows = session.execute(
        select(
            Bot.game,
            Bot.name,
            Bot.status,
            Rating.mu - 2 * Rating.phi,
            *(func.coalesce(count, 0) for count in counts),
        )
        .outerjoin(Rating, its)
        .outerjoin(RatingTotal, total)
        .where(Bot.user_id == user_id)
        .order_by(Bot.game, Bot.name_key)
    )
    found: list[Any] = list(rows)
    return [RatedBot(*one) for one in found]


@dataclass(frozen=True, slots=True)
class Opponent:
    """How a bot has fared against another."""

    bot_id: str
    name: str
    games: int
    won: int
    drawn: int
    lost: int
    met_at: datetime


@dataclass(frozen=True, slots=True)
class Opponents:
    """Some of those whom a bot has met, most often met first."""

    rows: Sequence[Opponent]
    number: int
    """How many there are in all; 0 behind the last one, too."""


def opponents(
    session: Session, competition: int, bot: int, first: int = 0, most: int = PER_PAGE
) -> Opponents:
    """Return whom a bot has met in rated matches, most often met first, from a place on."""
    own, other = aliased(MatchParticipant), aliased(MatchParticipant)
    met = (
        select(
            other.bot_id,
            func.count().label("games"),
            func.count().filter(own.pair_rank < other.pair_rank).label("won"),
            func.count().filter(own.pair_rank == other.pair_rank).label("drawn"),
            func.count().filter(own.pair_rank > other.pair_rank).label("lost"),
            func.max(Match.finished_at).label("met_at"),
        )
        .select_from(own)
        .join(Match, Match.id == own.match_id)
        .join(other, and_(other.match_id == own.match_id, other.slot != own.slot))
        .where(own.bot_id == bot, Match.competition_id == competition, Match.seq.is_not(None))
        .group_by(other.bot_id)
        .subquery()
    )
    counts = (met.c.games, met.c.won, met.c.drawn, met.c.lost, met.c.met_at)
    found = session.execute(
        select(Bot.bot_id, Bot.name, *counts, func.count().over())
        .join(met, met.c.bot_id == Bot.id)
        .order_by(met.c.games.desc(), Bot.bot_id)
        .limit(most)
        .offset(first)
    )
    rows: list[Any] = list(found)
    return Opponents([Opponent(*one[:-1]) for one in rows], rows[0][-1] if rows else 0)


@dataclass(frozen=True, slots=True)
class Point:
    """The shown rating of a bot after a match."""

    at: datetime
    shown: float


def history(session: Session, competition: int, bot: int, most: int = 2000) -> list[Point]:
    """Return the shown ratings of a bot after its last matches, the oldest first."""
    found = session.execute(
        select(Match.finished_at, MatchParticipant.mu, MatchParticipant.phi)
        .join(Match, Match.id == MatchParticipant.match_id)
        .where(
            MatchParticipant.bot_id == bot,
            Match.competition_id == competition,
            Match.seq.is_not(None),
        )
        .order_by(Match.seq.desc())
        .limit(most)
    )
    rows: list[Any] = list(found)
    return [Point(at, mu - 2 * phi) for at, mu, phi in reversed(rows)]
