"""When digests are due: once a day or week, at 06:00 UTC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, get_args

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from cw.hub.clock import Clock
from cw.hub.store.tables import DigestEvery, User

EVERY: Final[tuple[DigestEvery, ...]] = get_args(DigestEvery)

PERIODS: Final[Mapping[DigestEvery, timedelta]] = {
    "daily": timedelta(days=1),
    "weekly": timedelta(days=7),
}

HOUR: Final = 6
"""Hour of the day in UTC; weekly digests are due on Mondays."""

AT_ONCE: Final = 20
"""Maximum number of digests per tick."""


@dataclass(frozen=True, slots=True)
class Period:
    """The period of a digest: after `since`, up to `until`."""

    since: datetime
    until: datetime


def every_named(text: str) -> DigestEvery:
    """Return the choice with a name, or `never` if unknown."""
    return next((every for every in PERIODS if every == text), "never")


def first_due(now: datetime, every: DigestEvery) -> datetime | None:
    """Return when the first digest is due to somebody who chooses them now, or None for never."""
    if every not in PERIODS:
        return None
    due = now.replace(hour=HOUR, minute=0, second=0, microsecond=0)
    if every == "weekly":
        due -= timedelta(days=due.weekday())
    return due if due > now else due + PERIODS[every]


def choose(session: Session, clock: Clock, user_id: int, every: DigestEvery) -> None:
    """Set how often a user gets a digest; no effect if unchanged."""
    others = (User.id == user_id, User.digest != every)
    values = {"digest": every, "digest_at": first_due(clock(), every)}
    session.execute(update(User).where(*others).values(values))


def due(session: Session, clock: Clock) -> Sequence[int]:
    """Return the ids of users whose digest is due, up to one tick's worth."""
    query = select(User.id).where(User.digest_at <= clock())
    return session.scalars(query.order_by(User.digest_at).limit(AT_ONCE)).all()


def take(session: Session, clock: Clock, user_id: int) -> Period | None:
    """Return the period of a user's digest that is due, and schedule the next one.

    None if none is due, or another process has taken it. After an outage one digest covers the
    whole time missed.
    """
    now = clock()
    wanted = select(User.digest, User.digest_at).where(User.id == user_id, User.digest_at <= now)
    row = session.execute(wanted.with_for_update()).one_or_none()
    if row is None:
        return None
    period = PERIODS.get(row.digest)
    following = period and row.digest_at + period * ((now - row.digest_at) // period + 1)
    session.execute(update(User).where(User.id == user_id).values(digest_at=following))
    return Period(row.digest_at - period, now) if period else None
