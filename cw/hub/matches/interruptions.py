"""What can go wrong with a match: interruptions, troubles, lost workers; and calling one off."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, get_args

from sqlalchemy import ColumnElement, and_, case, func, literal, null, or_, select, update
from sqlalchemy.orm import Session

from cw.hub.clock import Clock
from cw.hub.matches.claims import Claim, hits, mine
from cw.hub.matches.results import LONGEST_REASON
from cw.hub.matches.sending import forget_messages
from cw.hub.store.tables import Match, MatchState, Moment, Round

MOST_TROUBLES: Final = 5
"""Attempts that may end by a fault of ours; then the match has failed."""

ANEW: Final[Mapping[str, Any]] = {
    "state": "queued",
    "sent_at": None,
    "troubles": 0,
    "reason": None,
    "finished_at": None,
}
"""What the row of a match says that is to be played although it was over."""

STATES: Final[tuple[MatchState, ...]] = get_args(MatchState)
OPEN: Final[tuple[MatchState, ...]] = ("queued", "in_progress", "interrupted")

REAPED: Final = "its worker was lost"


def interrupt(session: Session, claim: Claim, reason: str) -> bool:
    """Give an attempt back in an orderly way: it will be played again, and is no trouble.

    Twice, late: False, and nothing changes.
    """
    return hits(session, update(Match).where(mine(claim)).values(interruption(reason)))


def interrupt_all_of(session: Session, worker: str, reason: str) -> int:
    """Give back all that a worker plays; return how many those were. Twice: 0."""
    theirs = and_(Match.worker == worker, Match.state == "in_progress")
    change = update(Match).where(theirs).values(interruption(reason))
    return len(session.execute(change.returning(Match.id)).all())


def interruption(reason: str) -> dict[str, Any]:
    """Return what becomes of an attempt that is to be played again."""
    ended = {"worker": None, "lease_until": None, "reason": reason[:LONGEST_REASON]}
    return {"state": "interrupted", **ended}


def trouble(session: Session, clock: Clock, claim: Claim, reason: str) -> bool:
    """Note that an attempt has ended by a fault of ours; after five of them the match has failed.

    Twice, late: False, and nothing changes.
    """
    return hits(session, update(Match).where(mine(claim)).values(troubled(reason, clock())))


def refuse(session: Session, clock: Clock, claim: Claim, reason: str) -> bool:
    """Note that an attempt was asked for what cannot be played: the match has failed at once.

    Twice, late: False, and nothing changes.
    """
    failed = {**interruption(reason), "state": "failed", "finished_at": clock()}
    return hits(session, update(Match).where(mine(claim)).values(failed))


def troubled(reason: str, now: datetime) -> dict[str, Any]:
    """Return what becomes of an attempt that was a trouble."""
    is_last = Match.troubles + 1 >= MOST_TROUBLES
    state = case((is_last, "failed"), else_="interrupted")
    ended = case((is_last, literal(now, Moment())), else_=null())
    counted = {"state": state, "finished_at": ended, "troubles": Match.troubles + 1}
    return {**interruption(reason), **counted}


def reap(session: Session, clock: Clock) -> int:
    """Take matches from the workers whose lease is over: troubles; return how many. Twice: 0."""
    return reap_where(session, clock, Match.lease_until < clock())


def reap_all(session: Session, clock: Clock) -> int:
    """Take all matches from their workers: to be called where all of them are known to be dead."""
    return reap_where(session, clock, Match.state == "in_progress")


def reap_where(session: Session, clock: Clock, over: ColumnElement[bool]) -> int:
    """Take the matches from their workers of which this holds; return how many."""
    lost = troubled(REAPED, clock())
    change = update(Match).where(Match.state == "in_progress", over).values(lost)
    return len(session.execute(change.returning(Match.id)).all())


def requeue(session: Session) -> int:
    """Queue what was interrupted; return how many. Twice: 0."""
    again = {"state": "queued", "sent_at": None}
    change = update(Match).where(Match.state == "interrupted").values(again)
    return len(session.execute(change.returning(Match.id)).all())


def queue_all(session: Session) -> int:
    """Queue all that was begun, without a trouble: to be called where nobody has ever played here.

    Returns how many matches those were. Twice: 0.
    """
    again = {**interruption("restored from a back-up"), "state": "queued", "sent_at": None}
    begun = Match.state.in_(("in_progress", "interrupted"))
    rows = session.execute(update(Match).where(begun).values(again).returning(Match.id)).all()
    forget_messages(session)
    return len(rows)


def requeue_failed(session: Session, match_id: str) -> bool:
    """Give a failed match another five attempts; False if it has not failed.

    So it is where its round is over: its points were given.
    """
    opened = select(Round.id).where(Round.closed_at.is_(None))
    is_open = or_(Match.round_id.is_(None), Match.round_id.in_(opened))
    failed = and_(Match.match_id == match_id, Match.state == "failed", is_open)
    return hits(session, update(Match).where(failed).values(ANEW))


def void(session: Session, clock: Clock, match_id: str, reason: str) -> bool:
    """Call a match off that waits; False if it does not wait any more."""
    waiting = and_(Match.match_id == match_id, Match.state.in_(("queued", "interrupted")))
    off = {"state": "void", "finished_at": clock(), "reason": reason[:LONGEST_REASON]}
    return hits(session, update(Match).where(waiting).values(off))


def open_counts(session: Session) -> dict[MatchState, int]:
    """Return how many matches there are in each state that is not the end."""
    counted = select(Match.state, func.count()).where(Match.state.in_(OPEN)).group_by(Match.state)
    return dict(session.execute(counted).all())


def counts(session: Session) -> dict[MatchState, int]:
    """Return how many matches there are in each state that has any."""
    counted = select(Match.state, func.count()).group_by(Match.state)
    return dict(session.execute(counted).all())
