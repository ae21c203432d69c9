"""Daily games over time: the games of a month, and the history of players and bots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    bindparam,
    func,
    select,
)
from sqlalchemy.orm import Session

from cw_hub.competitions.daily import verbs as daily
from cw_hub.competitions.daily.entrants import GAME
from cw_hub.competitions.daily.standings import EARLIER, WITHIN, Game, game_of, is_shown
from cw_hub.competitions.verbs import CompetitionFacts
from cw_hub.store.tables import Bot, Competition, Match, MatchParticipant

_COMPETITIONS, _BOTS = Competition.__table__, Bot.__table__
_MATCHES, _SEATS = Match.__table__, MatchParticipant.__table__


def month(session: Session, facts: CompetitionFacts, first: date) -> dict[date, list[Game]]:
    """Return the shown games of a month by day, in the competition's time zone."""
    due = daily.read_settings(facts.settings).due
    begin = datetime.combine(first, time(), due.zone)
    end = datetime.combine((first + timedelta(days=32)).replace(day=1), time(), due.zone)
    values = {"competition": facts.id, "begin": begin, "end": end}
    rows = session.execute(WITHIN, values)
    days: dict[date, list[Game]] = {}
    for row in rows:
        days.setdefault(due.day_of(row.at), []).append(game_of(row))
    return days


class Point(NamedTuple):
    """A game that a user played, as a point of a graph."""

    match: str
    at: datetime
    rank: int
    players: int


_COMPETITION: Final = (
    select(_COMPETITIONS.c.id)
    .where(_COMPETITIONS.c.format == daily.FORMAT, _COMPETITIONS.c.slug == bindparam("game"))
    .scalar_subquery()
)
_THEIRS: Final = select(_BOTS.c.id).where(_BOTS.c.user_id == bindparam("user")).scalar_subquery()

# With a join, SQLite would read all participants of each game.
_BEST: Final = (
    select(func.min(_SEATS.c.rank))
    .where(_SEATS.c.match_id == _MATCHES.c.id, _SEATS.c.bot_id.in_(_THEIRS))
    .correlate(_MATCHES)
    .scalar_subquery()
)
_PLAYED: Final = (
    select(
        _MATCHES.c.match_id, _MATCHES.c.at, _BEST.label("best"), _MATCHES.c.players, _MATCHES.c.id
    )
    .where(
        _MATCHES.c.competition_id == _COMPETITION,
        _MATCHES.c.state == "done",
        _MATCHES.c.at >= bindparam("since"),
    )
    .subquery()
)
POINTS: Final = (
    select(_PLAYED.c.match_id, _PLAYED.c.at, _PLAYED.c.best, _PLAYED.c.players)
    .where(_PLAYED.c.best.is_not(None))
    .order_by(_PLAYED.c.at, _PLAYED.c.id)
)

_FIRST_OF_BOT: Final = (
    select(_MATCHES.c.at)
    .join(_SEATS, _SEATS.c.match_id == _MATCHES.c.id)
    .where(
        _SEATS.c.bot_id == _BOTS.c.id,
        _SEATS.c.rank.is_not(None),
        _MATCHES.c.kind == daily.FORMAT,
        _MATCHES.c.state == "done",
    )
    .order_by(_SEATS.c.match_id)
    .limit(1)
    .correlate(_BOTS)
    .scalar_subquery()
)
FIRST: Final = select(func.min(_FIRST_OF_BOT)).where(
    _BOTS.c.user_id == bindparam("user"), _BOTS.c.game == bindparam("game")
)

LAST_RANK: Final = select(func.min(_SEATS.c.rank)).where(
    _SEATS.c.match_id
    == select(_MATCHES.c.id)
    .where(_MATCHES.c.competition_id == _COMPETITION, is_shown())
    .order_by(_MATCHES.c.at.desc(), _MATCHES.c.id.desc())
    .limit(1)
    .scalar_subquery(),
    _SEATS.c.bot_id.in_(_THEIRS),
)

BEGINNING: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""Before all games."""


def points(session: Session, game: str, user_id: int, since: datetime = BEGINNING) -> list[Point]:
    """Return the shown games of a user since a moment, oldest first, each with the best rank."""
    values = {"game": game, "user": user_id, "since": since}
    return [Point(*row) for row in session.execute(POINTS, values)]


def first_played(session: Session, game: str, user_id: int) -> datetime | None:
    """Return when a user's first shown game took place, or None."""
    query: datetime | None = session.scalar(FIRST, {"game": game, "user": user_id})
    return query


@dataclass(frozen=True, slots=True)
class Behaviour:
    """A bot's behaviour in a game."""

    match_id: str
    at: datetime
    rank: int | None
    """None if the bot was not admitted."""
    report: Mapping[str, Any] | None
    """Its first problem, or None."""
    died: int | None


BEHAVIOURS: Final = (
    select(_MATCHES.c.match_id, _MATCHES.c.at, _SEATS.c.rank, _SEATS.c.faults, _SEATS.c.stats)
    .join(_SEATS, _SEATS.c.match_id == _MATCHES.c.id)
    .join(_BOTS, _BOTS.c.id == _SEATS.c.bot_id)
    .where(_BOTS.c.user_id == bindparam("user"), _MATCHES.c.game == GAME, is_shown())
    .order_by(_MATCHES.c.at.desc(), _MATCHES.c.id.desc())
    .limit(EARLIER)
)


def behaviours(session: Session, user_id: int) -> list[Behaviour]:
    """Return the behaviour of a user's bot in its last shown games, latest first."""
    return [
        Behaviour(match, at, rank, faults[0] if faults else None, stats.get("died"))
        for match, at, rank, faults, stats in session.execute(BEHAVIOURS, {"user": user_id})
    ]


def last_rank(session: Session, user_id: int) -> int | None:
    """Return a user's rank in the last daily game of End of Codes, or None if they did not play."""
    rank: int | None = session.scalar(LAST_RANK, {"game": GAME, "user": user_id})
    return rank
