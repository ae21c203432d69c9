"""Automatic start and end of a competition, stored among its events."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from cw.errors import UsageError, short
from cw_hub.clock import Clock
from cw_hub.pages.zones import UNKNOWN_ZONE, moment_in, zone_named
from cw_hub.store.tables import CompetitionState, Event

START: Final = "start"
END: Final = "end"
TITLES: Final = {START: "It begins", END: "It ends"}

OCCURRED: Final[Mapping[CompetitionState, tuple[str, ...]]] = {
    "running": (START,),
    "over": (START, END),
}
"""The events that have occurred in each state, automatically or not."""

PROBLEM: Final = "problem"
"""Key in the data of a start: why the competition could not begin."""

NO_TIME: Final = "{} is not a time (try 2027-01-31T18:00)"
PAST: Final = "the {} is in the past"
TURNED: Final = "it must end after its start"


@dataclass(frozen=True, slots=True)
class Dates:
    """When a competition begins and ends automatically; None: only by hand."""

    starts: datetime | None = None
    ends: datetime | None = None
    zone: str = "UTC"
    """The time zone in which the dates were typed."""

    def check(self, now: datetime) -> None:
        """Raise UsageError if a date is in the past, or the end is not after the start."""
        for name, at in ((START, self.starts), (END, self.ends)):
            if at is not None and at <= now:
                raise UsageError(PAST.format(name))
        if self.starts is not None and self.ends is not None and self.ends <= self.starts:
            raise UsageError(TURNED)


def read_dates(starts: str, ends: str, zone: str) -> Dates:
    """Parse dates typed in a time zone; "" for none.

    Raises UsageError for an invalid time or an unknown zone.
    """
    if zone_named(zone) is None:
        raise UsageError(UNKNOWN_ZONE)
    return Dates(read_date(starts, zone), read_date(ends, zone), zone or "UTC")


def read_date(text: str, zone: str) -> datetime | None:
    """Parse a date typed in a time zone; None for "". Raises UsageError if it is invalid."""
    if not text:
        return None
    at = moment_in(text, zone)
    if at is None:
        raise UsageError(NO_TIME.format(short(text)))
    return at


def field_text(at: datetime | None, zone: str) -> str:
    """Return a date as a form field in a time zone; "" for None."""
    return "" if at is None else f"{at.astimezone(zone_named(zone)):%Y-%m-%dT%H:%M}"


def dates_of(session: Session, competition: int) -> Dates:
    """Return a competition's automatic dates that have not occurred yet."""
    return dates_of_all(session, [competition])[competition]


def dates_of_all(session: Session, competitions: Collection[int]) -> Mapping[int, Dates]:
    """Return the pending dates of several competitions by id; only announced events count."""
    query = (
        select(Event.competition_id, Event.kind, Event.at)
        .where(Event.competition_id.in_(competitions), *IS_PLANNED, Event.announced)
        .order_by(Event.at.desc())
    )
    planned: dict[int, dict[str, datetime]] = defaultdict(dict)
    for competition, kind, at in session.execute(query):
        planned[competition][kind] = at
    return {
        competition: Dates(planned[competition].get(START), planned[competition].get(END))
        for competition in competitions
    }


IS_PLANNED: Final = (
    Event.kind.in_((START, END)),
    Event.group_id.is_(None),
    Event.applied_at.is_(None),
)
"""Conditions for a pending start or end of a whole competition."""


def put(session: Session, competition: int, dates: Dates) -> None:
    """Replace the pending dates of a competition."""
    session.execute(delete(Event).where(Event.competition_id == competition, *IS_PLANNED))
    for kind, at in ((START, dates.starts), (END, dates.ends)):
        if at is not None:
            about = {"competition_id": competition, "kind": kind, "at": at}
            session.add(Event(**about, title=TITLES[kind], text="", announced=True))
    session.flush()


def settle(session: Session, clock: Clock, competition: int, state: CompetitionState) -> None:
    """Mark pending dates as applied once a competition has reached their state by other means."""
    of_it = (Event.competition_id == competition, *IS_PLANNED)
    settled = Event.kind.in_(OCCURRED.get(state, ()))
    session.execute(update(Event).where(*of_it, settled).values(applied_at=clock()))


def problem_of(session: Session, competition: int) -> str:
    """Return why a competition could not begin at its last start, or ""."""
    occurred = (Event.kind == START, Event.applied_at.is_not(None))
    data = session.scalar(
        select(Event.data)
        .where(Event.competition_id == competition, *occurred)
        .order_by(Event.applied_at.desc(), Event.id.desc())
        .limit(1)
    )
    return str((data or {}).get(PROBLEM, ""))
