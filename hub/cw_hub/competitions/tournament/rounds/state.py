"""A locked tournament: its due events, its groups and their last rounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from sqlalchemy import and_, func, or_, select
from sqlalchemy.orm import Session

from cw.league.ladder.boards import BoardSpec, Mode, active_boards
from cw.league.ladder.phases import STOPS, EventKind, GroupEvent, Phase, due_now, phase
from cw_hub.clock import Clock
from cw_hub.competitions.tournament.settings import TournamentSettings, stored_settings
from cw_hub.store.tables import Competition, CompetitionState, Event, Group, Round


@dataclass(slots=True)
class TournamentState:
    """The state of a tournament, read under a lock; whoever changes the tournament updates it."""

    now: datetime
    row: Competition
    settings: TournamentSettings
    events: list[Event]
    """The applied or due events, in order."""
    groups: list[Group]
    last_rounds: dict[int, Round]
    """The last round by group id."""

    def waiting_events(self) -> list[Event]:
        """Return the events that are due but not applied."""
        return [event for event in self.events if event.applied_at is None]

    def next_event(self) -> Event | None:
        """Return the next event to apply, or None."""
        waiting = self.waiting_events()
        is_ready = all(self.open_round(group) is None for group in self.groups)
        index = due_now([kind_of(event) for event in waiting], is_final_ready=is_ready)
        return None if index is None else waiting[index]

    def events_of(self, group: Group) -> Iterator[Event]:
        """Yield a group's applied events, and a waiting final."""
        for event in self.events:
            counts = event.applied_at is not None or event.kind == "final"
            if counts and event.group_id in (None, group.id):
                yield event

    def phase(self, group: Group) -> Phase:
        """Return the phase of a group."""
        events = [
            GroupEvent(kind_of(event), event.applied_at is not None)
            for event in self.events_of(group)
        ]
        is_open = self.open_round(group) is not None
        return phase(events, is_final=group.kind == "final", is_open=is_open)

    def open_round(self, group: Group) -> Round | None:
        """Return the open round of a group, or None."""
        last = self.last_rounds.get(group.id)
        return last if last is not None and last.closed_at is None else None

    def boards(self, group: Group) -> list[BoardSpec]:
        """Return the active board types of a group."""
        lists: list[tuple[Mode, Sequence[BoardSpec]]] = []
        for event in self.events_of(group):
            if event.applied_at is None:
                continue
            if event.kind == "start":
                lists.append(("add", self.settings.boards))
            boards = [BoardSpec.from_json(document) for document in event.data.get("boards", ())]
            if boards and (event.kind == "boards" or group.kind == "final"):
                lists.append((event.data.get("mode", "add"), boards))
        return active_boards(lists) or list(self.settings.boards)

    def competition_state(self) -> CompetitionState:
        """Return the state of the whole tournament, from its events and groups."""
        applied = [event for event in self.events if event.applied_at is not None]
        is_over = all(self.phase(group) == "over" for group in self.groups)
        if is_over and any(event.kind == "end" for event in applied):
            return "over"
        if not any(event.kind == "start" for event in applied):
            return "draft"
        stops = [e.kind for e in applied if e.group_id is None and kind_of(e) in STOPS]
        return "paused" if stops and stops[-1] == "pause" else "running"


def kind_of(event: Event) -> EventKind:
    """Return the kind of an event."""
    return cast(EventKind, event.kind)


def read_state(session: Session, clock: Clock, row: Competition) -> TournamentState:
    """Return the state of a tournament whose row is locked."""
    now = clock()
    is_due = or_(Event.applied_at.is_not(None), Event.at <= now)
    events = select(Event).where(Event.competition_id == row.id, is_due)
    last = (
        select(Round.group_id, func.max(Round.number).label("number"))
        .group_by(Round.group_id)
        .subquery()
    )
    groups = session.execute(
        select(Group, Round)
        .outerjoin(last, last.c.group_id == Group.id)
        .outerjoin(Round, and_(Round.group_id == Group.id, Round.number == last.c.number))
        .where(Group.competition_id == row.id)
        .order_by(Group.id)
    ).all()
    return TournamentState(
        now,
        row,
        stored_settings(row.game, row.settings),
        list(session.scalars(events.order_by(Event.at, Event.id))),
        [group for group, _ in groups],
        {group.id: last_round for group, last_round in groups if last_round is not None},
    )
