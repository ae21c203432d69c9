"""Starts and ends competitions on schedule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import and_, or_, select
from sqlalchemy.orm import Session

from cw.errors import UsageError
from cw_hub.clock import Clock
from cw_hub.competitions import verbs as competitions
from cw_hub.competitions.dates import END, IS_PLANNED, PROBLEM, START
from cw_hub.competitions.format import Format, format_named
from cw_hub.store.tables import Competition, CompetitionState, Event

ACTOR: Final = "timetable"
"""The actor in the audit."""

CAN_OCCUR: Final = or_(
    and_(Event.kind == START, Competition.state == "planned"),
    and_(Event.kind == END, Competition.state.in_(("running", "paused"))),
)


def sweep(session: Session, clock: Clock, formats: Sequence[Format]) -> None:
    """Start and end competitions that are due. Idempotent, also when called concurrently.

    A competition that cannot begin becomes a draft again, and its page says why. Formats with their
    own events handle these themselves.
    """
    names = [format_.name for format_ in formats if not format_.has_events]
    due = (
        select(Event.id)
        .join(Competition, Competition.id == Event.competition_id)
        .where(Competition.format.in_(names), *IS_PLANNED, Event.at <= clock(), CAN_OCCUR)
        .order_by(Event.at, Event.id)
    )
    for event in session.scalars(due).all():
        apply(session, clock, formats, event)


def apply(session: Session, clock: Clock, formats: Sequence[Format], event_id: int) -> None:
    """Apply an event, unless another caller just did."""
    row = competitions.lock(session, session.get_one(Event, event_id).competition_id)
    event = session.get(Event, event_id, populate_existing=True)
    format_ = format_named(formats, row.format)
    if event is None or event.applied_at is not None or format_ is None:
        return
    state: CompetitionState = "running" if event.kind == START else "over"
    try:
        with session.begin_nested():
            format_.steer(session, clock, competitions.facts_of(row), state, ACTOR)
    except UsageError as error:
        event.applied_at, event.data = clock(), {PROBLEM: str(error)}
        competitions.set_state(session, clock, row.id, "draft", ACTOR)
