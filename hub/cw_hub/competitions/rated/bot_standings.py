"""Queries for a bot's standing in a rated competition, its opponents and its rating history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, cast

from sqlalchemy import and_, bindparam, func, select, true
from sqlalchemy.orm import aliased

from cw.league.glicko2 import shown_rating
from cw_hub.competitions.rated.standings import LISTED, RATING, TOTAL, listed
from cw_hub.competitions.rated.standings import PER_PAGE as STANDINGS_PER_PAGE
from cw_hub.matches.listings import (
    PER_PAGE,
    WINNERS,
    PageRequest,
    Part,
    cut_by_name,
    is_lost_since,
    of_bot,
)
from cw_hub.matches.lookup import views_of, with_ratings
from cw_hub.matches.match_types import MatchTypes, MatchView
from cw_hub.pages.forms import natural_order
from cw_hub.store.database import Session
from cw_hub.store.models import (
    Bot,
    BotStatus,
    Competition,
    Match,
    MatchParticipant,
    Rating,
    RatingTotal,
)

NARROWED: Final = 2000
"""Number of a bot's last matches searched for those of a version."""


@dataclass(frozen=True, slots=True)
class RatedPoint:
    """The rating of a bot after a match."""

    match_id: str
    at: datetime
    mu: float
    phi: float

    @property
    def shown_rating(self) -> float:
        """The shown rating."""
        return shown_rating(self.mu, self.phi)


def ratings_of_bot(
    session: Session, competition: int, bot: int, cut: PageRequest
) -> Part[RatedPoint]:
    """Return a page of a bot's ratings after its rated matches, latest first."""
    columns = (Match.match_id, Match.finished_at, MatchParticipant.mu, MatchParticipant.phi)
    wanted = of_bot(select(*columns).select_from(Match), bot, cut)
    rated = wanted.where(Match.competition_id == competition, Match.seq.is_not(None))
    rows: list[Any] = list(session.execute(rated))
    return cut_by_name([RatedPoint(*row) for row in rows], cut, lambda point: point.match_id)


def rated_matches_of(  # noqa: PLR0913, PLR0917 - of which bot where, and which of them
    session: Session,
    kinds: MatchTypes,
    competition: int,
    bot: int,
    version: int = 0,
    lost_since: datetime | None = None,
) -> list[MatchView]:
    """Return the last finished rated matches of a bot, latest first, with all ratings.

    With a version number, only matches of that version; with `lost_since`, only matches lost since
    then.
    """
    lost = () if lost_since is None else (is_lost_since(lost_since),)
    # Ordering by `match_id` lets the database walk the index of the seats from match to match.
    played = session.execute(
        select(Match, MatchParticipant.version)
        .join(MatchParticipant, MatchParticipant.match_id == Match.id)
        .where(
            MatchParticipant.bot_id == bot,
            Match.competition_id == competition,
            Match.seq.is_not(None),
            *lost,
        )
        .order_by(MatchParticipant.match_id.desc())
        .limit(NARROWED if version else PER_PAGE)
    ).all()
    matches = [match for match, by in played if version in (0, by)][:PER_PAGE]
    return with_ratings(session, views_of(session, kinds, matches, with_replays=False))


@dataclass(frozen=True, slots=True)
class RankedBot:
    """A bot's standing in a competition."""

    rank: int | None
    """None for an unlisted bot."""
    of: int
    """Number of listed bots."""
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
    def shown_rating(self) -> float:
        """The shown rating."""
        return shown_rating(self.mu, self.phi)


def standing(session: Session, competition: int, bot: int) -> RankedBot | None:
    """Return a bot's standing, or None if it takes no part."""
    row = session.execute(
        select(Rating, Bot.status, RatingTotal)
        .join(Bot, Bot.id == Rating.bot_id)
        .outerjoin(RatingTotal, TOTAL)
        .where(Rating.competition_id == competition, Rating.bot_id == bot)
    ).one_or_none()
    if row is None:
        return None
    rating, status, counts = row
    better = func.count().filter(shown_rating(rating.mu, rating.phi) < RATING)
    number, above = session.execute(listed(competition, func.count(), better)).one()
    is_listed = status in LISTED and rating.last_match_at is not None
    return RankedBot(
        above + 1 if is_listed else None,
        number,
        rating.mu,
        rating.phi,
        rating.crash_streak,
        rating.last_match_at,
        rating.playing_id is not None,
        *((counts.games, counts.wins, counts.draws, counts.losses) if counts else (0, 0, 0, 0)),
    )


def of_version(
    session: Session, competition: int, bot: int, version: int, its: RankedBot
) -> RankedBot:
    """Return a bot's standing, but with the game counts of one version of its program."""
    own = MatchParticipant
    played = (
        select(own.rank, WINNERS.label("winners"))
        .join(Match, Match.id == own.match_id)
        .where(own.bot_id == bot, own.version == version)
        .where(Match.competition_id == competition, Match.seq.is_not(None))
        .subquery()
    )
    is_first = played.c.rank == 1
    games, wins, firsts = session.execute(
        select(
            func.count(),
            func.count().filter(is_first, played.c.winners == 1),
            func.count().filter(is_first),
        ).select_from(played)
    ).one()
    return replace(its, games=games, wins=wins, draws=firsts - wins, losses=games - firsts)


def shown_ratings(session: Session, user_id: int) -> dict[int, float]:
    """Return the shown ratings of a user's bots that have played, by row id."""
    rows = session.execute(
        select(Rating.bot_id, RATING)
        .join(Bot, Bot.id == Rating.bot_id)
        .join(Competition, Competition.id == Rating.competition_id)
        .where(Bot.user_id == user_id, Rating.last_match_at.is_not(None))
        .where(Competition.slug == Bot.game)
    )
    return {bot: rating for bot, rating in rows}  # noqa: C416 - of rows


@dataclass(frozen=True, slots=True)
class RatedBot:
    """A user's bot, with its record in the rated competition of its game."""

    bot: int
    """Its row id."""
    game: str
    name: str
    status: BotStatus
    shown_rating: float | None
    """None for a bot without rated matches."""
    games: int
    wins: int
    draws: int
    losses: int


RATED_BOTS: Final = (
    select(
        Bot.id,
        Bot.game,
        Bot.name,
        Bot.status,
        RATING,
        func.coalesce(RatingTotal.games, 0),
        func.coalesce(RatingTotal.wins, 0),
        func.coalesce(RatingTotal.draws, 0),
        func.coalesce(RatingTotal.losses, 0),
    )
    .outerjoin(Rating, and_(Rating.bot_id == Bot.id, Rating.last_match_at.is_not(None)))
    .outerjoin(RatingTotal, TOTAL)
    .where(Bot.user_id == bindparam("user"))
)


def bots_of(session: Session, user_id: int) -> list[RatedBot]:
    """Return a user's bots, including retired ones, by game and name."""
    rows = session.execute(RATED_BOTS, {"user": user_id})
    bots = [RatedBot(*cast(Any, row)) for row in rows]
    return sorted(bots, key=lambda bot: (bot.game, natural_order(bot.name)))


@dataclass(frozen=True, slots=True)
class Opponent:
    """A bot's results against an opponent."""

    bot_id: str
    name: str
    games: int
    won: int
    drawn: int
    lost: int
    met_at: datetime


@dataclass(frozen=True, slots=True)
class Opponents:
    """A page of a bot's opponents, most frequent first."""

    rows: Sequence[Opponent]
    number: int
    """Total number of opponents; 0 for a page beyond the last."""


def opponents(  # noqa: PLR0913, PLR0917 - whose, and which of them
    session: Session,
    competition: int,
    bot: int,
    first: int = 0,
    most: int = STANDINGS_PER_PAGE,
    version: int = 0,
) -> Opponents:
    """Return a bot's opponents in rated matches from an offset on, most frequent first.

    With a version number, only the opponents of that version.
    """
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
        .where(own.version == version if version else true())
        .group_by(other.bot_id)
        .subquery()
    )
    counts = (met.c.games, met.c.won, met.c.drawn, met.c.lost, met.c.met_at)
    query = (
        select(Bot.bot_id, Bot.name, *counts, func.count().over())
        .join(met, met.c.bot_id == Bot.id)
        .order_by(met.c.games.desc(), Bot.bot_id)
        .limit(most)
        .offset(first)
    )
    rows: list[Any] = list(session.execute(query))
    return Opponents([Opponent(*row[:-1]) for row in rows], rows[0][-1] if rows else 0)


@dataclass(frozen=True, slots=True)
class Point:
    """The shown rating of a bot after a match."""

    at: datetime
    shown_rating: float


def history(session: Session, competition: int, bot: int, most: int = 2000) -> list[Point]:
    """Return a bot's shown ratings after its last matches, oldest first."""
    points = session.execute(
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
    rows: list[Any] = list(points)
    return [Point(at, shown_rating(mu, phi)) for at, mu, phi in reversed(rows)]
