"""Functions that plan and call off a tournament's events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import delete, func, select

from cw.errors import UsageError
from cw.league.ladder import EventKind, Mode
from cw_hub.accounts import audit
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.service import IS_PLANNED, CompetitionFacts, Dates
from cw_hub.competitions.tournament import teams
from cw_hub.competitions.tournament.groups import groups_of, mark_changed, named_group
from cw_hub.competitions.tournament.settings import clean_name, read_boards
from cw_hub.store.database import Session
from cw_hub.store.models import Competition, Event

MOST_EVENTS: Final = 200
LONGEST_TITLE: Final = 120
LONGEST_TEXT: Final = 2000

DATES: Final[Mapping[EventKind, str]] = {"start": "Start", "end": "End"}
"""The titles of a tournament's start and end."""

TAKEN_BACK: Final = "The end was undone"
"""The new title of an end that a host has undone."""

NO_TIME: Final = "Please enter a time"
PAST: Final = "The time is in the past"
NO_TITLE: Final = "Please enter a title"
NO_BOARD: Final = "Please enter a board"


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event to plan."""

    kind: EventKind
    at: datetime
    title: str
    text: str = ""
    group: str = ""
    """The name of its group; "": all groups."""
    boards: Sequence[Mapping[str, Any]] = ()
    mode: Mode = "add"
    announced: bool = False
    """Whether pages show the title before the event takes effect."""


def add_event(
    session: Session,
    competition: int,
    event: NewEvent,
    *,
    is_late: bool = False,
) -> int:
    """Plan an event; return its id. `progress.advance` applies it when it is due.

    A start with `is_late` replaces a planned one. Raises UsageError for an event in the past,
    unless `is_late`, and for invalid boards.
    """
    row = competitions_service.lock(session, competition)
    if event.at < session.now() and not is_late:
        raise UsageError(PAST)
    title, text = clean_texts(event)
    groups = groups_of(session, competition)
    group = named_group(groups, event.group) if event.group else None
    if event.kind == "final" and all(other.kind != "final" for other in groups):
        raise UsageError("there is no final sandbox: add one first")
    planned = session.scalar(select(func.count()).where(Event.competition_id == competition)) or 0
    if planned >= MOST_EVENTS:
        raise UsageError(f"a tournament has at most {MOST_EVENTS} events")
    new = Event(
        competition_id=competition,
        group_id=None if group is None else group.id,
        at=event.at,
        kind=event.kind,
        title=title,
        text=text,
        data=event_data(row, event),
        announced=event.announced,
    )
    session.add(new)
    session.flush()
    if is_late and event.kind == "start":
        call_off_starts(session, row.id, new.id)
    if event.kind == "end":
        teams.renew_ends(session, competition)
    mark_changed(row, *groups)
    subject = f"event:{row.slug}/{new.id}"
    detail = {"kind": new.kind, "at": new.at.isoformat(), "title": title}
    audit.note(session, "add event", subject, detail=detail, competition_id=row.id)
    return new.id


def call_off_starts(session: Session, competition: int, but: int) -> None:
    """Call off the planned starts of a tournament, except the start with the id `but`."""
    starts = (Event.competition_id == competition, Event.kind == "start", *IS_PLANNED)
    for event in session.scalars(select(Event.id).where(*starts, Event.id != but)).all():
        remove_event(session, competition, event)


def clean_texts(event: NewEvent) -> tuple[str, str]:
    """Return the cleaned title and text of an event, or raise UsageError."""
    title = event.title.strip()
    if not title:
        raise UsageError(NO_TITLE)
    title = clean_name(title, LONGEST_TITLE)
    if len(event.text) > LONGEST_TEXT:
        raise UsageError(f"longer than {LONGEST_TEXT} characters")
    if "\0" in event.text:
        raise UsageError("the text contains invisible characters")
    return title, event.text.strip()


def event_data(competition: Competition, event: NewEvent) -> dict[str, Any]:
    """Return the stored data of an event: the boards it adds."""
    if not event.boards:
        if event.kind == "boards":
            raise UsageError(NO_BOARD)
        return {}
    if event.kind not in ("boards", "final"):
        raise UsageError(f"an event {event.kind} has no boards")
    boards = read_boards(competition.game, event.boards)
    return {"boards": [board.to_json() for board in boards], "mode": event.mode}


def remove_event(session: Session, competition: int, event: int) -> None:
    """Call off an event that has not been applied yet; raise UsageError for any other."""
    row = competitions_service.lock(session, competition)
    planned = (Event.id == event, Event.competition_id == competition, Event.applied_at.is_(None))
    title = session.scalar(delete(Event).where(*planned).returning(Event.title))
    if title is None:
        raise UsageError("this event is no longer planned")
    teams.renew_ends(session, competition)
    mark_changed(row, *groups_of(session, competition))
    subject, detail = f"event:{row.slug}/{event}", {"title": title}
    audit.note(session, "remove event", subject, detail=detail, competition_id=row.id)


def schedule(session: Session, facts: CompetitionFacts, dates: Dates) -> None:
    """Plan the start and end of a tournament, replacing earlier plans.

    Both are announced. Idempotent. Raises UsageError for dates in the past or in the wrong order.
    """
    dates.check(session.now())
    row = competitions_service.lock(session, facts.id)
    row.zone = dates.zone
    planned = session.scalars(select(Event).where(Event.competition_id == row.id, *IS_PLANNED))
    wanted = {("start", dates.starts), ("end", dates.ends)}
    for event in planned.all():
        if (event.kind, event.at) in wanted:
            wanted.remove((event.kind, event.at))
        else:
            remove_event(session, row.id, event.id)
    for kind, title in DATES.items():
        at = next((at for one, at in wanted if one == kind), None)
        if at is not None:
            add_event(session, row.id, NewEvent(kind, at, title, announced=True))
