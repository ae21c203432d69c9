"""The events of a tournament for pages: the countdown, and the phases of groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw.league.ladder.phases import STOPS, EventKind, GroupEvent, Phase, phase
from cw_hub.competitions.tournament.events import MOST_EVENTS
from cw_hub.competitions.tournament.views import GroupView
from cw_hub.store.tables import Event


@dataclass(frozen=True, slots=True)
class EventView:
    """An event, applied or planned."""

    id: int
    group_id: int | None
    at: datetime
    kind: EventKind
    title: str
    text: str
    announced: bool
    applied_at: datetime | None

    def is_about(self, group_id: int) -> bool:
        """Return whether the event concerns a group, alone or with all groups."""
        return self.group_id in (None, group_id)


@dataclass(frozen=True, slots=True)
class Countdown:
    """The next event of a tournament, and its past events."""

    next: EventView | None
    past: tuple[EventView, ...]
    """Latest first."""
    is_over: bool
    """Whether the tournament has ended."""
    is_preparing: bool
    """Whether a final is due but waits for rounds to end."""


EVENT_COLUMNS: Final = tuple(getattr(Event, name) for name in EventView.__dataclass_fields__)
"""The columns of an EventView, in order."""


def events_of(session: Session, competition: int) -> list[EventView]:
    """Return the events of a tournament in order of application."""
    query = (
        select(*EVENT_COLUMNS)
        .where(Event.competition_id == competition)
        .order_by(Event.at, Event.id)
        .limit(MOST_EVENTS)
    )
    return [EventView(*row) for row in session.execute(query)]


def countdown(events: Sequence[EventView], now: datetime) -> Countdown:
    """Return the countdown of a tournament with these events."""
    coming = next((event for event in events if event.applied_at is None), None)
    past = [event for event in events if event.applied_at is not None]
    past.sort(key=lambda event: (event.applied_at, event.at, event.id), reverse=True)
    is_over = any(event.kind == "end" and event.group_id is None for event in past)
    is_preparing = coming is not None and coming.kind == "final" and coming.at <= now
    return Countdown(coming, tuple(past), is_over, is_preparing)


def phase_of(group: GroupView, events: Iterable[EventView], now: datetime) -> Phase:
    """Return the phase of a group; a due final counts even while it waits."""
    due = [
        GroupEvent(event.kind, event.applied_at is not None)
        for event in events
        if event.is_about(group.id)
        and (event.applied_at is not None or (event.kind == "final" and event.at <= now))
    ]
    return phase(due, is_final=group.kind == "final", is_open=group.is_open)


def pause_of(group: GroupView, events: Iterable[EventView]) -> EventView | None:
    """Return the event that paused a group, or None if it is not paused."""
    stops = [
        event
        for event in events
        if event.kind in STOPS and event.applied_at is not None and event.is_about(group.id)
    ]
    return stops[-1] if stops and stops[-1].kind == "pause" else None
