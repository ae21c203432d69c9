"""How often bots are asked for their owners: requests to a host in an hour, and checks at once."""

from __future__ import annotations

from typing import Final

from limits import RateLimitItem, parse
from sqlalchemy import select
from sqlalchemy.orm import Session

from cw.hub.bots.addresses import host_of
from cw.hub.operation.rate_counts import RateCounts
from cw.hub.operation.resources import Resources
from cw.hub.store.tables import Bot

OF_OWNER: Final = parse("60 per 1 hour")
"""Requests to one host for one account or team."""

TO_HOST: Final = parse("300 per 1 hour")
"""Requests to a host at which no bot is active."""

OWNER_AT_ONCE: Final = parse("3 per 2 minute")
"""Checks of an owner that are not done; those of a process that was killed end by themselves."""

VISITOR_AT_ONCE: Final = parse("4 per 2 minute")
"""Checks that are not done and were asked for from one address."""

FIRST: Final = parse("1 per 1 hour")
"""Checks of a bot whose owner has not confirmed an address, until the first is done."""

CHECK: Final = 3
"""Requests of a full check: what is no bot gets no more, and Code Battle has no more."""

ONE: Final = 1
"""Requests of a look at the health of a bot, or whether it is ready."""

PRACTICE: Final = 20
"""Requests of a practice match to what is no bot: of two battles, each until it is given up."""


class TooOften(Exception):
    """A host was asked as often as may be."""

    def __init__(self, limit: RateLimitItem, *key: str) -> None:
        """Name the limit and what was counted."""
        super().__init__(str(limit))
        self.limit = limit
        self.key = key


def owner_of(bot: Bot) -> str:
    """Return the owner of a bot, as counts name it."""
    return owner_named(bot.user_id, bot.team_id)


def owner_named(user_id: int | None, team_id: int | None = None) -> str:
    """Return an account or a team as counts name it."""
    return f"user {user_id}" if team_id is None else f"team {team_id}"


def claim(session: Session, counts: RateCounts, owner: str, url: str, requests: int) -> None:
    """Count requests to the host of an address, which follow; raise TooOften if there were enough.

    The host is named by the address: whatever page, API or bot they are for, they count together.
    """
    host = host_of(url)
    if not counts.take(OF_OWNER, "bot-host", owner, host, cost=requests):
        raise TooOften(OF_OWNER, "bot-host", owner, host)
    if not counts.take(TO_HOST, "bot-host", host, cost=requests) and not is_home(session, host):
        raise TooOften(TO_HOST, "bot-host", host)


def may_claim(session: Session, counts: RateCounts, owner: str, url: str, requests: int) -> bool:
    """Count requests as `claim` does; return whether they may follow."""
    try:
        claim(session, counts, owner, url, requests)
    except TooOften:
        return False
    return True


def is_home(session: Session, host: str) -> bool:
    """Return whether an active bot is at a host, whose owner wants it to be asked."""
    named = Bot.endpoint.icontains(host, autoescape=True)
    urls = session.scalars(select(Bot.endpoint).where(Bot.status == "ACTIVE", named))
    return any(host_of(url) == host for url in urls)


def send(  # noqa: PLR0913, PLR0917 - the message, and who must wait for others
    hub: Resources, job: str, bot: int, owner: str, visitor: str, queue: str
) -> bool:
    """Send a check of a bot; return whether it was sent.

    It is not while its owner or the visitor waits for others, nor where no queue is there.
    `visitor` stands for the address from which it is asked for.
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
    """Let the next check begin of those for whom one is done."""
    if owner and visitor:
        counts.give_back(OWNER_AT_ONCE, "checks", owner)
        counts.give_back(VISITOR_AT_ONCE, "checks", visitor)
