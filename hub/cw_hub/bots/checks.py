"""Bot checks: rate limits, sending checks to the queue, and resending lost ones."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from limits import RateLimitItem, parse
from sqlalchemy import select

from cw_hub.bots import programs
from cw_hub.bots.addresses import host_of
from cw_hub.bots.service import ASKED
from cw_hub.bots.service import CHECK as SERVICE_CHECK
from cw_hub.operation.queue import PROGRAMS
from cw_hub.operation.resources import Resources
from cw_hub.operation.shared import RateCounts
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, BotVersion

OF_OWNER: Final = parse("60 per 1 hour")
"""Limit on requests to one host on behalf of one account or team."""

TO_HOST: Final = parse("300 per 1 hour")
"""Limit on requests to a host without an active bot."""

OWNER_AT_ONCE: Final = parse("3 per 2 minute")
"""Limit on pending checks per owner; those of a killed process expire by themselves."""

VISITOR_AT_ONCE: Final = parse("4 per 2 minute")
"""Limit on pending checks requested from one IP address."""

FIRST: Final = parse("1 per 1 hour")
"""Limit on checks per new bot whose owner has no confirmed email address, until one is done."""

CHECK: Final = 3
"""Number of requests in a full check.

This is the most that Code Battle sends, or that something that is not a bot receives.
"""

ONE: Final = 1
"""Number of requests in a health check or a readiness check."""

PRACTICE: Final = 20
"""Number of requests in a practice match against something that is not a bot.

There are two battles, each played until the opponent is given up.
"""


class TooOften(Exception):
    """The request limit for a host is reached."""

    def __init__(self, limit: RateLimitItem, *key: str) -> None:
        """Store the limit and the key that was counted."""
        super().__init__(str(limit))
        self.limit = limit
        self.key = key


def owner_of(bot: Bot) -> str:
    """Return the part of a rate-limit key that identifies a bot's owner."""
    return owner_named(bot.user_id, bot.team_id)


def owner_named(user_id: int | None, team_id: int | None = None) -> str:
    """Return the part of a rate-limit key that identifies an account or a team."""
    return f"user {user_id}" if team_id is None else f"team {team_id}"


def claim(session: Session, counts: RateCounts, owner: str, url: str, requests: int) -> None:
    """Count upcoming requests to a URL's host; raise TooOften if the limit is reached.

    Because they are counted by host, requests from all pages, APIs and bots count together.
    """
    host = host_of(url)
    if not counts.take(OF_OWNER, "bot-host", owner, host, cost=requests):
        raise TooOften(OF_OWNER, "bot-host", owner, host)
    if not counts.take(TO_HOST, "bot-host", host, cost=requests) and not is_home(session, host):
        raise TooOften(TO_HOST, "bot-host", host)


def may_claim(session: Session, counts: RateCounts, owner: str, url: str, requests: int) -> bool:
    """Count requests as `claim` does; return whether they are allowed."""
    try:
        claim(session, counts, owner, url, requests)
    except TooOften:
        return False
    return True


def is_home(session: Session, host: str) -> bool:
    """Return whether a host has an active bot, so that its owner expects requests."""
    named = Bot.endpoint.icontains(host, autoescape=True)
    urls = session.scalars(select(Bot.endpoint).where(Bot.status == "ACTIVE", named))
    return any(host_of(url) == host for url in urls)


def send(  # noqa: PLR0913, PLR0917 - the message, and who must wait for others
    hub: Resources, job: str, bot: int, owner: str, visitor: str, queue: str
) -> bool:
    """Queue a check of a bot; return whether it was queued.

    It is not queued while its owner or the visitor has too many pending checks, or if the queue is
    unavailable. `visitor` identifies the IP address that requests it.
    """
    counts = hub.rate_counts
    if not counts.take(OWNER_AT_ONCE, "checks", owner):
        return False
    if not counts.take(VISITOR_AT_ONCE, "checks", visitor):
        counts.give_back(OWNER_AT_ONCE, "checks", owner)
        return False
    if hub.queue.send(job, bot, owner, visitor, queue=queue):
        return True
    release(counts, owner, visitor)
    return False


def release(counts: RateCounts, owner: str, visitor: str) -> None:
    """Release the slots that a completed check occupied for its owner and its visitor."""
    if owner and visitor:
        counts.give_back(OWNER_AT_ONCE, "checks", owner)
        counts.give_back(VISITOR_AT_ONCE, "checks", visitor)


PATIENCE: Final = timedelta(minutes=10)
"""How long a version may wait for its check before the check counts as lost."""

AGAIN: Final = parse("1 per 10 minute")
"""How often a bot's lost check may be sent again."""

AT_ONCE: Final = 100
"""Maximum number of bots whose lost checks are sent again per tick."""


def send_again(resources: Resources) -> None:
    """Resend lost checks if there is a live worker that can run them.

    Each is resent at most once in ten minutes, even with concurrent callers.
    """
    with resources.database.reading() as session:
        bots = lost(session)
        is_of_use = bool(bots and programs.offered(session))
    for bot in bots if is_of_use else ():
        if resources.rate_counts.take(AGAIN, "lost-check", str(bot)):
            resources.queue.send(SERVICE_CHECK, bot, queue=PROGRAMS)


def lost(session: Session) -> list[int]:
    """Return the row ids of bots with a version that has waited too long for its check."""
    waiting = (
        select(Bot.id)
        .join(BotVersion, BotVersion.bot_id == Bot.id)
        .where(BotVersion.state == "building", BotVersion.created_at < session.now() - PATIENCE)
        .where(Bot.status.in_(ASKED), Bot.kind == "program")
    )
    return list(session.scalars(waiting.distinct().order_by(Bot.id).limit(AT_ONCE)))
