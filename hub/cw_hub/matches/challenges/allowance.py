"""How many challenge matches a player may start per hour; refused ones do not count."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from limits import RateLimitItem, RateLimitItemPerHour

from cw.errors import QuotaError
from cw_hub.accounts import personal_limits
from cw_hub.operation.resources import Resources

SCOPE: Final = "challenge"


@dataclass(frozen=True, slots=True)
class Allowance:
    """A player's remaining allowance."""

    left: int
    more_at: datetime | None
    """When more is available; None if nothing is used up."""


class NoneLeft(QuotaError):
    """A player has started as many matches as allowed per hour."""

    def __init__(self, limit: RateLimitItem, left: int, until: datetime) -> None:
        """Take what is left, and when more is available."""
        matches = f"{left} match{'' if left == 1 else 'es'}"
        super().__init__(f"{matches} of challenges left of {limit.amount} in an hour.")
        self.limit = limit
        self.until = until


def limit_of(hub: Resources, user_id: int) -> RateLimitItem:
    """Return how many matches a player may start per hour."""
    with hub.database.reading() as reading:
        own = personal_limits.of_user(reading, user_id)
    return RateLimitItemPerHour(own.get("challenges", hub.settings.challenges))


def allowance(hub: Resources, user_id: int) -> Allowance | None:
    """Return a player's remaining allowance, or None while the counts are unavailable."""
    limit = limit_of(hub, user_id)
    left = hub.rate_counts.left(limit, SCOPE, str(user_id))
    if left is None:
        return None
    is_whole = left == limit.amount
    return Allowance(left, None if is_whole else hub.rate_counts.ends(limit, SCOPE, str(user_id)))


@contextmanager
def counting(hub: Resources, user_id: int, matches: int) -> Iterator[None]:
    """Count matches started by the block; if it raises, they are not counted.

    Raises NoneLeft if fewer are left.
    """
    limit, key = limit_of(hub, user_id), (SCOPE, str(user_id))
    if not hub.rate_counts.take(limit, *key, cost=matches):
        now = allowance(hub, user_id) or Allowance(0, None)
        raise NoneLeft(limit, now.left, now.more_at or hub.clock())
    try:
        yield
    except BaseException:
        hub.rate_counts.give_back(limit, *key, cost=matches)
        raise
