"""What the home page tells of each competition: what is on now, what is next, who leads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from cw.hub.clock import Clock
from cw.hub.services import competitions, daily, leaderboard, rankings
from cw.hub.store.tables import Bot, Competition, Match, MatchParticipant, User

PLACES: Final = 3
"""Places at the top."""

SHOWN: Final = ("running", "paused")
"""The states of competitions that are told of."""


@dataclass(frozen=True, slots=True)
class Place:
    """Who has one of the first places of a competition."""

    rank: int
    name: str
    owner: str | None
    """The username; None where that was deleted, and for teams."""
    picture: str | None
    """The SHA-256 of the owner's picture."""
    figure: str
    """What the place was given for, in few words."""


@dataclass(frozen=True, slots=True)
class Top:
    """A competition as the home page tells of it."""

    format: str
    slug: str
    game: str
    title: str
    is_paused: bool
    playing: int
    """Matches that are being played."""
    match_id: str | None
    """The one that was begun last."""
    next_at: datetime | None
    """When the next one is planned; None where no time is known."""
    places: tuple[Place, ...]


First: TypeAlias = Callable[[Session, int], Sequence[Place]]
"""Returns the first places of a competition, by its id."""


def tops(session: Session, clock: Clock) -> list[Top]:
    """Return the competitions that go on, in the order in which they were made."""
    rows = select(Competition).where(Competition.state.in_(SHOWN)).order_by(Competition.id)
    return [top_of(session, clock, row) for row in session.scalars(rows)]


def top_of(session: Session, clock: Clock, row: Competition) -> Top:
    """Return what is told of a competition."""
    playing = session.scalars(
        select(Match.match_id)
        .where(Match.competition_id == row.id, Match.state == "in_progress")
        .order_by(Match.started_at.desc())
    ).all()
    first = FIRST.get(row.format)
    return Top(
        row.format,
        row.slug,
        row.game,
        row.title,
        row.state == "paused",
        len(playing),
        playing[0] if playing else None,
        next_of(session, clock, row),
        tuple(first(session, row.id)) if first else (),
    )


def next_of(session: Session, clock: Clock, row: Competition) -> datetime | None:
    """Return when the next match of a competition is planned, or due; None where that is open."""
    waiting = session.scalar(
        select(func.min(Match.at)).where(Match.competition_id == row.id, Match.state == "queued")
    )
    if waiting is not None or row.format != daily.FORMAT:
        return waiting
    return next(iter(daily.upcoming(session, clock, competitions.facts_of(row), 1)), None)


def first_of_daily(session: Session, competition: int) -> Sequence[Place]:
    """Return who was first in the last game of a daily competition that somebody is ranked in."""
    last = rankings.find(session, competition)
    if last is None:
        return []
    rows = session.execute(
        select(MatchParticipant, User.username, User.avatar)
        .outerjoin(Bot, Bot.id == MatchParticipant.bot_id)
        .outerjoin(User, User.id == Bot.user_id)
        .where(MatchParticipant.match_id == last.game.id, MatchParticipant.rank.is_not(None))
        .order_by(MatchParticipant.rank, MatchParticipant.slot)
        .limit(PLACES)
    )
    return [
        Place(seat.rank or 0, seat.name, owner, picture, f"outlived {seat.score or 0:g}")
        for seat, owner, picture in rows
    ]


def first_of_rated(session: Session, competition: int) -> Sequence[Place]:
    """Return whose bots have the highest shown ratings; equal ones share a place."""
    return [
        Place(one.rank, one.name, one.owner, one.picture, f"{one.shown:.0f}")
        for one in leaderboard.leaders(session, competition, PLACES)
    ]


FIRST: Final[Mapping[str, First]] = {"daily": first_of_daily, "rated": first_of_rated}
"""Who leads, by format; of one that is not there nobody is told."""
