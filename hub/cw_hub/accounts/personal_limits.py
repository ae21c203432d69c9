"""Personal limits that an admin has set for an account; 0 blocks the activity."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Final

from sqlalchemy import delete, select

from cw.errors import UsageError, choices
from cw_hub.store.database import Session, insert_or_set
from cw_hub.store.models import PersonalLimit

LIMITS: Final[Mapping[str, str]] = {
    "bots": "new bots per hour and per day",
    "practice": "practice matches per bot and hour",
    "challenges": "challenge matches per hour",
    "uploads": "versions per program and hour",
    "comparisons": "version comparisons per day",
}
"""The limits that can be set for a user, by name."""

MOST: Final = 10_000


def of_user(session: Session, user_id: int) -> dict[str, int]:
    """Return the limits set for a user, by name; for all others the defaults apply."""
    return of_users(session, [user_id]).get(user_id, {})


def of_users(session: Session, users: Collection[int]) -> Mapping[int, dict[str, int]]:
    """Return the limits set for several users, by their ids, in one query."""
    query = select(PersonalLimit).where(PersonalLimit.user_id.in_(users))
    limits: dict[int, dict[str, int]] = defaultdict(dict)
    for row in session.scalars(query.order_by(PersonalLimit.name)):
        limits[row.user_id][row.name] = row.most
    return limits


def read_most(text: str) -> int | None:
    """Parse a limit; return None (the default) for an empty text. Raise UsageError if invalid."""
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) <= MOST):
        raise UsageError(f"a limit is a whole number from 0 to {MOST}")
    return int(text)


def put(session: Session, user_id: int, name: str, most: int | None) -> None:
    """Set a limit for a user; None resets it. Idempotent.

    Raises UsageError for an unknown name.
    """
    if name not in LIMITS:
        raise UsageError(f"there is no limit {name!r}; {choices(name, LIMITS)}")
    key = {"user_id": user_id, "name": name}
    if most is None:
        session.execute(delete(PersonalLimit).filter_by(**key))
    else:
        insert_or_set(session, PersonalLimit, [{**key, "most": most}], ["most"])
