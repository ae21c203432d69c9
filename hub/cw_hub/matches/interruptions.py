"""Failures of matches: interruptions, troubles, lost workers, cancellation."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, get_args

from sqlalchemy import ColumnElement, and_, case, func, literal, null, or_, select, update
from sqlalchemy.orm import Session

from cw_hub.clock import Clock
from cw_hub.matches.claims import Claim, hits, mine
from cw_hub.matches.results import LONGEST_REASON
from cw_hub.matches.sending import forget_messages
from cw_hub.store.tables import Match, MatchState, Moment, Round

MOST_TROUBLES: Final = 5
"""Attempts that may fail through our fault before the match fails."""

ANEW: Final[Mapping[str, Any]] = {
    "state": "queued",
    "sent_at": None,
    "troubles": 0,
    "reason": None,
    "finished_at": None,
}
"""Values of a match's row when it is played again after it was over."""

STATES: Final[tuple[MatchState, ...]] = get_args(MatchState)
OPEN: Final[tuple[MatchState, ...]] = ("queued", "in_progress", "interrupted")

REAPED: Final = "its worker was lost"


def interrupt(session: Session, claim: Claim, reason: str) -> bool:
    """Release an attempt in an orderly way: it is played again, and counts as no trouble.

    Repeated or late: returns False, and nothing changes.
    """
    return hits(session, update(Match).where(mine(claim)).values(interruption(reason)))


def interrupt_all_of(session: Session, worker: str, reason: str) -> int:
    """Release all matches of a worker; return how many. Idempotent."""
    theirs = and_(Match.worker == worker, Match.state == "in_progress")
    change = update(Match).where(theirs).values(interruption(reason))
    return len(session.execute(change.returning(Match.id)).all())


def interruption(reason: str) -> dict[str, Any]:
    """Return the row values of an attempt that is to be played again."""
    ended = {"worker": None, "lease_until": None, "reason": reason[:LONGEST_REASON]}
    return {"state": "interrupted", **ended}


def trouble(session: Session, clock: Clock, claim: Claim, reason: str) -> bool:
    """Record an attempt that failed through our fault; the fifth one fails the match.

    Repeated or late: returns False, and nothing changes.
    """
    return hits(session, update(Match).where(mine(claim)).values(troubled(reason, clock())))


def refuse(session: Session, clock: Clock, claim: Claim, reason: str) -> bool:
    """Fail a match at once, as it cannot be played.

    Repeated or late: returns False, and nothing changes.
    """
    failed = {**interruption(reason), "state": "failed", "finished_at": clock()}
    return hits(session, update(Match).where(mine(claim)).values(failed))


def troubled(reason: str, now: datetime) -> dict[str, Any]:
    """Return the row values of an attempt that was a trouble."""
    is_last = Match.troubles + 1 >= MOST_TROUBLES
    state = case((is_last, "failed"), else_="interrupted")
    ended = case((is_last, literal(now, Moment())), else_=null())
    counted = {"state": state, "finished_at": ended, "troubles": Match.troubles + 1}
    return {**interruption(reason), **counted}


def reap(session: Session, clock: Clock) -> int:
    """Record a trouble for each match whose lease has expired; return how many. Idempotent."""
    return reap_where(session, clock, Match.lease_until < clock())


def reap_all(session: Session, clock: Clock) -> int:
    """Take all matches from their workers; call it only if all workers are known to be dead."""
    return reap_where(session, clock, Match.state == "in_progress")


def reap_where(session: Session, clock: Clock, over: ColumnElement[bool]) -> int:
    """Take the matches that meet a condition from their workers; return how many."""
    lost = troubled(REAPED, clock())
    change = update(Match).where(Match.state == "in_progress", over).values(lost)
    return len(session.execute(change.returning(Match.id)).all())


def requeue(session: Session) -> int:
    """Queue interrupted matches; return how many. Idempotent."""
    again = {"state": "queued", "sent_at": None}
    change = update(Match).where(Match.state == "interrupted").values(again)
    return len(session.execute(change.returning(Match.id)).all())


def queue_all(session: Session) -> int:
    """Queue all started matches, without a trouble; only for a site that has never played any.

    Returns how many matches were queued. Idempotent.
    """
    again = {**interruption("restored from a back-up"), "state": "queued", "sent_at": None}
    begun = Match.state.in_(("in_progress", "interrupted"))
    rows = session.execute(update(Match).where(begun).values(again).returning(Match.id)).all()
    forget_messages(session)
    return len(rows)


def requeue_failed(session: Session, match_id: str) -> bool:
    """Give a failed match another five attempts; return False if it has not failed.

    Also False if its round is over, as its points have been awarded.
    """
    opened = select(Round.id).where(Round.closed_at.is_(None))
    is_open = or_(Match.round_id.is_(None), Match.round_id.in_(opened))
    failed = and_(Match.match_id == match_id, Match.state == "failed", is_open)
    return hits(session, update(Match).where(failed).values(ANEW))


def void(session: Session, clock: Clock, match_id: str, reason: str) -> bool:
    """Cancel a waiting match; return False if it is not waiting any more."""
    waiting = and_(Match.match_id == match_id, Match.state.in_(("queued", "interrupted")))
    off = {"state": "void", "finished_at": clock(), "reason": reason[:LONGEST_REASON]}
    return hits(session, update(Match).where(waiting).values(off))


def open_counts(session: Session) -> dict[MatchState, int]:
    """Return the number of matches in each unfinished state."""
    counted = select(Match.state, func.count()).where(Match.state.in_(OPEN)).group_by(Match.state)
    return dict(session.execute(counted).all())


def counts(session: Session) -> dict[MatchState, int]:
    """Return the number of matches in each state, without empty states."""
    counted = select(Match.state, func.count()).group_by(Match.state)
    return dict(session.execute(counted).all())
