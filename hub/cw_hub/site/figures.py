"""Queries behind the site's metrics, which run periodically."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, get_args

from sqlalchemy import func, or_, select

from cw_hub.accounts import mail
from cw_hub.matches.stored_replays import stored_bytes
from cw_hub.operation import heartbeats, scheduler
from cw_hub.operation.heartbeats import Beat
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, BotStatus, Competition, Match, MatchState

LATELY: Final = timedelta(days=1)
"""How recently a failing bot must have worked to be counted; abandoned bots are not counted."""

TROUBLED: Final[tuple[MatchState, ...]] = ("queued", "in_progress", "interrupted", "failed")


@dataclass(frozen=True, slots=True)
class Present:
    """Metrics that are cheap to query."""

    workers: int
    queued: int
    bots: Mapping[BotStatus, int]
    """Bots by status; 0 if no bot has it."""
    failing: int
    health_failures: int
    """Since the site was created."""
    counts: Mapping[str, int]
    """Events counted by processes, since the site was created."""
    processes: Sequence[Beat]
    """The roles of live processes."""
    ages: Mapping[str, float]
    """Seconds since an event was last recorded, by its name in operation/heartbeats.py."""
    matches: Mapping[str, int]
    """Unfinished matches in each state that operators watch."""
    waiting: float
    """Seconds that the longest-waiting match has waited for a worker."""
    mails: Mapping[str, int]
    """Queued and failed emails."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts over whole tables."""

    done: Mapping[tuple[str, str], int]
    """By game and kind; a competition's games are listed from the start."""
    replay_bytes: int


def present(session: Session) -> Present:
    """Return the metrics that are cheap enough to query often."""
    counted = select(Bot.status, func.count()).group_by(Bot.status)
    bots = dict(session.execute(counted).all())
    # A bot that has been failing for long is no longer active: if only active bots were counted, an
    # outage of all bots would eventually seem to be over.
    failing = select(func.count()).where(
        Bot.status.in_(("ACTIVE", "INACTIVE")),
        Bot.failures > 0,
        Bot.healthy_at > session.now() - LATELY,
    )
    now = session.now()
    return Present(
        scheduler.live_workers(session),
        session.scalars(sendable(func.count())).one(),
        {status: bots.get(status, 0) for status in get_args(BotStatus)},
        session.scalars(failing).one(),
        int(session.scalars(select(func.coalesce(func.sum(Bot.failures_total), 0))).one()),
        heartbeats.totals(session),
        heartbeats.live(session),
        {name: (now - at).total_seconds() for name, at in heartbeats.moments(session).items()},
        troubled(session),
        seconds_since(session.scalars(sendable(func.min(Match.at))).one(), now),
        mail.numbers(session),
    )


def troubled(session: Session) -> Mapping[str, int]:
    """Return the number of matches in each watched state."""
    counted = select(Match.state, func.count()).where(Match.state.in_(TROUBLED))
    by_state = dict(session.execute(counted.group_by(Match.state)).all())
    return {state: by_state.get(state, 0) for state in TROUBLED}


def seconds_since(moment: datetime | None, now: datetime) -> float:
    """Return the seconds since a time, or 0 without one."""
    return max(0.0, (now - moment).total_seconds()) if moment else 0.0


def sendable(column: Any) -> Any:
    """Return a query for matches that wait for nothing but a worker.

    Matches of formats with their own sending order also wait for each other until they are sent.
    """
    may_be_sent = or_(
        Competition.format.is_(None),
        Competition.format.not_in(tuple(MATCH_TYPES.sendings)),
        Match.sent_at.is_not(None),
    )
    is_played = or_(Competition.state.is_(None), Competition.state != "paused")
    return (
        select(column)
        .select_from(Match)
        .outerjoin(Competition, Competition.id == Match.competition_id)
        .where(Match.state == "queued", may_be_sent, is_played)
    )


def totals(session: Session) -> Totals:
    """Return the counts whose queries take longer the more matches were played."""
    begun = session.execute(select(Competition.game, Competition.format))
    counted = (
        select(Match.game, Match.kind, func.count())
        .where(Match.state == "done")
        .group_by(Match.game, Match.kind)
    )
    done: dict[tuple[str, str], int] = {(row.game, row.format): 0 for row in begun}
    done |= {(game, kind): count for game, kind, count in session.execute(counted)}
    return Totals(done, stored_bytes(session))
