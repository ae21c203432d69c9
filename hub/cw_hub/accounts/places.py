"""Places from which people have logged in before: browsers, by a cookie, and networks.

Wrong passwords from such a place are counted separately from those of strangers, so that nobody
can lock people out of their own account by guessing.
"""

from __future__ import annotations

import hmac
from collections.abc import Collection, Iterable
from datetime import timedelta
from typing import Final

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from cw_hub.accounts.service import is_named
from cw_hub.context import Clock
from cw_hub.store.database import insert_missing
from cw_hub.store.models import KnownPlace, User

REMEMBERED: Final = timedelta(days=180)
"""How long a place stays known after the last log-in from it."""

MOST: Final = 20
"""Maximum number of known places of one account: those of the latest log-ins."""


def key_of(secret: str, kind: str, place: str) -> str:
    """Return the digest under which a place is stored."""
    return hmac.new(secret.encode(), f"{kind} {place}".encode(), "sha256").hexdigest()


def remember(session: Session, clock: Clock, user_id: int, places: Collection[str]) -> None:
    """Record a log-in from places, by their digests. Each call updates the time."""
    now = clock()
    rows = [{"user_id": user_id, "place": place, "seen_at": now} for place in places]
    insert_missing(session, KnownPlace, rows)
    mine = KnownPlace.user_id == user_id
    session.execute(
        update(KnownPlace).where(mine, KnownPlace.place.in_(places)).values(seen_at=now)
    )
    latest = select(KnownPlace.place).where(mine).order_by(KnownPlace.seen_at.desc()).limit(MOST)
    recent = session.scalars(latest).all()
    session.execute(delete(KnownPlace).where(mine, KnownPlace.place.not_in(recent)))


def known_places(session: Session, clock: Clock, username: str, places: Iterable[str]) -> set[str]:
    """Return the given places from which an account has been logged in to before."""
    query = (
        select(KnownPlace.place)
        .join(User, User.id == KnownPlace.user_id)
        .where(
            *is_named(username),
            KnownPlace.place.in_([*places]),
            KnownPlace.seen_at > clock() - REMEMBERED,
        )
    )
    return set(session.scalars(query))


def sweep(session: Session, clock: Clock) -> None:
    """Forget places without a recent log-in. Idempotent."""
    session.execute(delete(KnownPlace).where(KnownPlace.seen_at <= clock() - REMEMBERED))
