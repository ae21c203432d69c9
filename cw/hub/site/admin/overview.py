"""What admins see of a site: its competitions, matches, workers, bots, and what was done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from cw.hub.accounts.mails.outbox import DeadMail
from cw.hub.clock import Clock
from cw.hub.matches import states
from cw.hub.operation.health import heartbeats, marks
from cw.hub.store.tables import (
    Audit,
    Battle,
    Bot,
    Competition,
    Heartbeat,
    Match,
    MatchState,
    Rating,
    User,
    Worker,
)

MOST: Final = 100
"""Rows of a list."""


@dataclass(frozen=True, slots=True)
class Running:
    """A competition, and how much is played in it."""

    title: str
    slug: str
    format: str
    game: str
    state: str
    bots: int
    matches_a_day: float
    """Per bot, in the last day."""


@dataclass(frozen=True, slots=True)
class Service:
    """How a site does."""

    competitions: Sequence[Running]
    queue: dict[MatchState, int]
    workers: Sequence[Worker]
    processes: Sequence[Heartbeat]
    marks: Mapping[str, datetime]
    """When things were last done, by their names in cw/hub/operation/marks.py."""
    is_ticking: bool
    replay_bytes: int


@dataclass(frozen=True, slots=True)
class Mails:
    """How the mails do."""

    numbers: Mapping[str, int]
    """How many wait and are dead."""
    dead: Sequence[DeadMail]


@dataclass(frozen=True, slots=True)
class FoundBot:
    """A bot as admins find it."""

    bot: Bot
    owner: str | None


def service(session: Session, clock: Clock) -> Service:
    """Return how the site does."""
    live = select(Worker).where(Worker.seen_at > clock() - heartbeats.LIVE).order_by(Worker.id)
    competitions = session.scalars(select(Competition).order_by(Competition.id)).all()
    noted = marks.moments(session)
    return Service(
        [running(session, clock, row) for row in competitions],
        states.counts(session),
        session.scalars(live).all(),
        heartbeats.live(session, clock),
        noted,
        marks.is_ticking(noted, clock),
        session.scalar(
            select(func.coalesce(func.sum(Battle.bytes), 0)).where(Battle.pruned_at.is_(None))
        )
        or 0,
    )


def running(session: Session, clock: Clock, competition: Competition) -> Running:
    """Return how much is played in a competition."""
    bots = session.scalars(
        select(func.count())
        .select_from(Rating)
        .join(Bot, Bot.id == Rating.bot_id)
        .where(Rating.competition_id == competition.id, Bot.status == "ACTIVE")
    ).one()
    lately = (
        Match.competition_id == competition.id,
        Match.finished_at > clock() - timedelta(days=1),
        Match.state == "done",
    )
    seats = session.scalar(select(func.coalesce(func.sum(Match.players), 0)).where(*lately)) or 0
    return Running(
        competition.title,
        competition.slug,
        competition.format,
        competition.game,
        competition.state,
        bots,
        seats / bots if bots else 0.0,
    )


def find_bots(session: Session, text: str) -> list[FoundBot]:
    """Return the bots whose name, owner, address or status has a text in it."""
    key = text.casefold()
    query = select(Bot, User.username).outerjoin(User, User.id == Bot.user_id)
    if key:
        columns = (Bot.name_key, User.username_key, Bot.endpoint, func.lower(Bot.status))
        query = query.where(or_(*(column.contains(key, autoescape=True) for column in columns)))
    rows = session.execute(query.order_by(Bot.id.desc()).limit(MOST))
    return [FoundBot(bot, owner) for bot, owner in rows]


@dataclass(frozen=True, slots=True)
class LogChoice:
    """Which lines of the log are wanted, by parts of what they say; "": all."""

    who: str = ""
    verb: str = ""
    of: str = ""

    @property
    def narrows(self) -> bool:
        """Whether some lines are not wanted."""
        return self != LogChoice()


def log(session: Session, choice: LogChoice) -> Sequence[Audit]:
    """Return what was done, the latest first."""
    parts = ((Audit.actor, choice.who), (Audit.verb, choice.verb), (Audit.object, choice.of))
    query = select(Audit)
    for column, text in parts:
        if text:
            query = query.where(func.lower(column).contains(text.lower(), autoescape=True))
    return session.scalars(query.order_by(Audit.id.desc()).limit(MOST)).all()
