"""How the site does, in figures that are read from its rows again and again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, cast, get_args

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from cw.hub.clock import Clock
from cw.hub.services import upkeep
from cw.hub.services.tournament_settings import FORMAT
from cw.hub.store.tables import Battle, Bot, BotStatus, Competition, Match, MatchKind

LATELY: Final = timedelta(days=1)
"""How long ago a bot that counts as failing was well: one that nobody mends counts no longer."""


@dataclass(frozen=True, slots=True)
class Present:
    """What a few rows tell."""

    workers: int
    queued: int
    bots: Mapping[BotStatus, int]
    """By each status, 0 for those that no bot has."""
    failing: int
    health_failures: int
    """Since the site began."""


@dataclass(frozen=True, slots=True)
class Totals:
    """What is counted over whole tables."""

    done: Mapping[tuple[str, MatchKind], int]
    """By game and kind; what a competition plays is counted from its first moment on."""
    replay_bytes: int


def present(session: Session, clock: Clock) -> Present:
    """Return what can be asked for often."""
    counted = select(Bot.status, func.count()).group_by(Bot.status)
    bots = dict(session.execute(counted).all())
    # A bot that fails long enough is no longer active: were those alone counted, an outage of all
    # bots would seem to be over then.
    failing = select(func.count()).where(
        Bot.status.in_(("ACTIVE", "INACTIVE")), Bot.failures > 0, Bot.healthy_at > clock() - LATELY
    )
    return Present(
        upkeep.live_workers(session, clock),
        sendable(session),
        {status: bots.get(status, 0) for status in get_args(BotStatus)},
        session.scalars(failing).one(),
        int(session.scalars(select(func.coalesce(func.sum(Bot.failures_total), 0))).one()),
    )


def sendable(session: Session) -> int:
    """Return how many matches wait for a worker alone.

    Those of a tournament are sent as its limits allow; until then they wait for each other.
    """
    may_be_sent = or_(Competition.format.is_distinct_from(FORMAT), Match.sent_at.is_not(None))
    waiting = (
        select(func.count())
        .select_from(Match)
        .outerjoin(Competition, Competition.id == Match.competition_id)
        .where(Match.state == "queued", may_be_sent)
    )
    return session.scalars(waiting).one()


def totals(session: Session) -> Totals:
    """Return what takes the longer the more was played."""
    begun = session.execute(select(Competition.game, Competition.format))
    counted = (
        select(Match.game, Match.kind, func.count())
        .where(Match.state == "done")
        .group_by(Match.game, Match.kind)
    )
    done = {(game, cast(MatchKind, kind)): 0 for game, kind in begun}
    done |= {(game, kind): count for game, kind, count in session.execute(counted)}
    stored = select(func.coalesce(func.sum(Battle.bytes), 0)).where(Battle.pruned_at.is_(None))
    return Totals(done, int(session.scalars(stored).one()))
