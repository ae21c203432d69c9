"""Checks of bots: requested, run by workers, repeated regularly; and the health of bots."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from limits import RateLimitItem, parse
from sqlalchemy import select
from sqlalchemy.orm import Session

from cw_hub.bots import programs
from cw_hub.bots.addresses import host_of
from cw_hub.bots.service import ASKED
from cw_hub.bots.service import CHECK as SERVICE_CHECK
from cw_hub.context import Clock
from cw_hub.operation.queue import PROGRAMS
from cw_hub.operation.resources import Resources
from cw_hub.operation.shared import RateCounts
from cw_hub.store.models import Bot, BotVersion

OF_OWNER: Final = parse("60 per 1 hour")
"""Requests to one host on behalf of one account or team."""

TO_HOST: Final = parse("300 per 1 hour")
"""Requests to a host without an active bot."""

OWNER_AT_ONCE: Final = parse("3 per 2 minute")
"""Pending checks of an owner; those of a killed process expire by themselves."""

VISITOR_AT_ONCE: Final = parse("4 per 2 minute")
"""Pending checks requested from one address."""

FIRST: Final = parse("1 per 1 hour")
"""Checks of a bot whose owner has no confirmed address, until the first one is done."""

CHECK: Final = 3
"""Requests of a full check: the most that Code Battle sends, or that go to something that is not
a bot.
"""

ONE: Final = 1
"""Requests of a health check, or of a readiness check."""

PRACTICE: Final = 20
"""Requests of a practice match to something that is not a bot: two battles, until it is given up
in each.
"""


class TooOften(Exception):
    """The limit of requests to a host is reached."""

    def __init__(self, limit: RateLimitItem, *key: str) -> None:
        """Store the limit and the key that was counted."""
        super().__init__(str(limit))
        self.limit = limit
        self.key = key


def owner_of(bot: Bot) -> str:
    """Return the owner of a bot as part of a key."""
    return owner_named(bot.user_id, bot.team_id)


def owner_named(user_id: int | None, team_id: int | None = None) -> str:
    """Return an account or a team as part of a key."""
    return f"user {user_id}" if team_id is None else f"team {team_id}"


def claim(session: Session, counts: RateCounts, owner: str, url: str, requests: int) -> None:
    """Count upcoming requests to the host of an address; raise TooOften if the limit is reached.

    The host is taken from the address: requests of all pages, APIs and bots count together.
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
    """Return whether a host has an active bot, whose owner therefore wants requests."""
    named = Bot.endpoint.icontains(host, autoescape=True)
    urls = session.scalars(select(Bot.endpoint).where(Bot.status == "ACTIVE", named))
    return any(host_of(url) == host for url in urls)


def send(  # noqa: PLR0913, PLR0917 - the message, and who must wait for others
    hub: Resources, job: str, bot: int, owner: str, visitor: str, queue: str
) -> bool:
    """Send a check of a bot; return whether it was sent.

    It is not sent while its owner or the visitor has too many pending, or if the queue is away.
    `visitor` identifies the address that requests it.
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
    """Free the slots of the owner and the visitor of a check that is done."""
    if owner and visitor:
        counts.give_back(OWNER_AT_ONCE, "checks", owner)
        counts.give_back(VISITOR_AT_ONCE, "checks", visitor)


PATIENCE: Final = timedelta(minutes=10)
"""How long a version waits for its check before that counts as lost."""

AGAIN: Final = parse("1 per 10 minute")
"""How often the check of a bot is sent again."""

AT_ONCE: Final = 100
"""Maximum number of bots per tick."""


def send_again(resources: Resources) -> None:
    """Send lost checks again, if there is a live worker that can run them.

    Each is sent at most once in ten minutes, even with concurrent callers.
    """
    with resources.database.reading() as session:
        bots = lost(session, resources.clock)
        is_of_use = bool(bots and programs.offered(session, resources.clock))
    for bot in bots if is_of_use else ():
        if resources.rate_counts.take(AGAIN, "lost-check", str(bot)):
            resources.queue.send(SERVICE_CHECK, bot, queue=PROGRAMS)


def lost(session: Session, clock: Clock) -> list[int]:
    """Return the ids of the bots with a version that has waited too long for its check."""
    waiting = (
        select(Bot.id)
        .join(BotVersion, BotVersion.bot_id == Bot.id)
        .where(BotVersion.state == "building", BotVersion.created_at < clock() - PATIENCE)
        .where(Bot.status.in_(ASKED), Bot.kind == "program")
    )
    return list(session.scalars(waiting.distinct().order_by(Bot.id).limit(AT_ONCE)))
