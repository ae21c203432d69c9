"""Known places of an account: browsers and networks from which its user has logged in.

Wrong passwords from a known place are counted separately from those of other clients, so that no
one can lock users out of their own accounts by guessing.
"""

from __future__ import annotations

import hmac
from collections.abc import Collection, Iterable
from datetime import timedelta
from typing import Final

from sqlalchemy import delete, select, update

from cw_hub.accounts.service import is_named
from cw_hub.store.database import Session, insert_missing
from cw_hub.store.models import KnownPlace, User

REMEMBERED: Final = timedelta(days=180)
"""How long a place stays known after the last login from it."""

MOST: Final = 20
"""Maximum number of known places per account: those of the latest logins."""


def key_of(secret: str, kind: str, place: str) -> str:
    """Return the digest under which a place is stored."""
    return hmac.new(secret.encode(), f"{kind} {place}".encode(), "sha256").hexdigest()


def remember(session: Session, user_id: int, places: Collection[str]) -> None:
    """Record a login from places, given by their digests. Each call updates the time."""
    now = session.now()
    rows = [{"user_id": user_id, "place": place, "seen_at": now} for place in places]
    insert_missing(session, KnownPlace, rows)
    mine = KnownPlace.user_id == user_id
    session.execute(
        update(KnownPlace).where(mine, KnownPlace.place.in_(places)).values(seen_at=now)
    )
    latest = select(KnownPlace.place).where(mine).order_by(KnownPlace.seen_at.desc()).limit(MOST)
    recent = session.scalars(latest).all()
    session.execute(delete(KnownPlace).where(mine, KnownPlace.place.not_in(recent)))


def known_places(session: Session, username: str, places: Iterable[str]) -> set[str]:
    """Return which of the given places an account has logged in from before."""
    query = (
        select(KnownPlace.place)
        .join(User, User.id == KnownPlace.user_id)
        .where(
            *is_named(username),
            KnownPlace.place.in_([*places]),
            KnownPlace.seen_at > session.now() - REMEMBERED,
        )
    )
    return set(session.scalars(query))


def sweep(session: Session) -> None:
    """Delete places without a recent login. Idempotent."""
    session.execute(delete(KnownPlace).where(KnownPlace.seen_at <= session.now() - REMEMBERED))
