"""Competitions that begin and end by themselves, whatever their format."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from cw.errors import UsageError
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.daily.standings import upcoming
from cw_hub.competitions.format import format_named
from cw_hub.competitions.service import (
    CompetitionFacts,
    Dates,
    dates_of,
    field_text,
    problem_of,
    read_dates,
)
from cw_hub.competitions.tournament import progress
from cw_hub.competitions.tournament.service import TournamentConfig, create
from cw_hub.operation.resources import Resources
from cw_hub.site.formats import FORMATS
from cw_hub.site.processes import sweep
from cw_hub.store.database import Session
from cw_hub.store.models import Audit, CompetitionState, Event
from hub.tests.conftest import ON_SQLITE, StillClock

HOUR = timedelta(hours=1)


class Plan:
    """A competition with dates, on a hub whose clock stands still."""

    def __init__(self, resources: Resources, clock: StillClock, kind: str = "daily") -> None:
        self.resources, self.clock, self.kind = resources, clock, kind
        with resources.database.writing() as session:
            if kind == "tournament":
                create(session, TournamentConfig("paint", "paint"))
            else:
                competitions_service.new(session, kind, "paint")

    @property
    def facts(self) -> CompetitionFacts:
        with self.resources.database.reading() as session:
            return competitions_service.named(session, f"{self.kind}/paint")

    def set(self, starts: float | None, ends: float | None = None) -> None:
        """Let it begin and end in so many hours."""
        start, end = (
            None if hours is None else self.clock() + hours * HOUR for hours in (starts, ends)
        )
        format_ = format_named(FORMATS, self.kind)
        assert format_ is not None
        with self.resources.database.writing() as session:
            format_.schedule(session, self.facts, Dates(start, end, "Europe/Athens"))

    def steer(self, state: CompetitionState) -> None:
        format_ = format_named(FORMATS, self.kind)
        assert format_ is not None
        with self.resources.database.writing() as session:
            format_.steer(session, self.facts, state)

    def after(self, hours: float) -> str:
        """Let time go on; return the state after a look at the timetable."""
        self.clock.advance(hours * 3600)
        with self.resources.database.writing() as session:
            sweep(session, FORMATS)
            progress.plan(session)
        return self.facts.state

    def dates(self) -> Dates:
        with self.resources.database.reading() as session:
            return dates_of(session, self.facts.id)


@pytest.mark.parametrize("kind", ["daily", "rated"])
def test_a_competition_is_planned_and_begins_and_ends(
    resources: Resources, hub_clock: StillClock, kind: str
) -> None:
    plan = Plan(resources, hub_clock, kind)
    plan.set(2, 5)
    assert plan.after(1) == "draft"
    plan.steer("planned")
    assert plan.after(0.5) == "planned"
    assert plan.after(0.5) == "running"
    assert (plan.facts.since, plan.facts.zone) == (hub_clock(), "Europe/Athens")
    assert plan.dates().starts is None
    plan.steer("paused")
    assert plan.after(2.9) == "paused"
    assert plan.after(0.1) == "over"
    with resources.database.reading() as session:
        acts = session.execute(select(Audit.actor, Audit.verb).order_by(Audit.id)).all()
    assert [tuple(act) for act in acts if act.actor == "timetable"] == [
        ("timetable", "running"),
        ("timetable", "over"),
    ]


@ON_SQLITE
def test_a_draft_does_not_begin_and_one_without_a_start_is_one_again(
    resources: Resources, hub_clock: StillClock
) -> None:
    plan = Plan(resources, hub_clock)
    with pytest.raises(UsageError, match="has no start: set one first"):
        plan.steer("planned")
    plan.set(1)
    assert plan.after(2) == "draft"
    with pytest.raises(UsageError, match="the start is in the past"):
        plan.steer("planned")
    plan.set(1)
    plan.steer("planned")
    plan.set(None, 3)
    assert plan.after(2) == "draft"


@ON_SQLITE
def test_the_first_game_of_one_that_is_planned_comes_after_its_start(
    resources: Resources, hub_clock: StillClock
) -> None:
    plan = Plan(resources, hub_clock)
    plan.set(30)
    plan.steer("planned")
    with resources.database.reading() as session:
        coming = upcoming(session, plan.facts)
    assert coming.next == datetime(2026, 11, 22, 18, tzinfo=UTC)


@ON_SQLITE
def test_what_somebody_did_before_its_time_does_not_happen_again(
    resources: Resources, hub_clock: StillClock
) -> None:
    plan = Plan(resources, hub_clock)
    plan.set(2, 4)
    plan.steer("planned")
    plan.steer("running")
    plan.steer("paused")
    assert plan.after(3) == "paused"
    with pytest.raises(UsageError, match="has already begun"):
        plan.set(1)
    plan.steer("over")
    plan.steer("running")
    assert plan.after(5) == "running"


@ON_SQLITE
def test_a_cup_that_cannot_begin_is_a_draft_again_and_says_why(
    resources: Resources, hub_clock: StillClock
) -> None:
    plan = Plan(resources, hub_clock, "cup")
    plan.set(2)
    with pytest.raises(UsageError):
        plan.steer("planned")
    with resources.database.writing() as session:
        competitions_service.set_state(session, plan.facts.id, "planned")
    assert plan.after(2) == "draft"
    with resources.database.reading() as session:
        assert problem_of(session, plan.facts.id)
    assert plan.after(1) == "draft"


@ON_SQLITE
def test_a_tournament_has_its_dates_among_its_events(
    resources: Resources, hub_clock: StillClock
) -> None:
    def planned(session: Session) -> list[tuple[str, datetime]]:
        events = select(Event.kind, Event.at).where(Event.applied_at.is_(None)).order_by(Event.at)
        return [(kind, at) for kind, at in session.execute(events)]

    plan, now = Plan(resources, hub_clock, "tournament"), hub_clock()
    plan.set(2, 5)
    plan.set(3, 5)
    with resources.database.reading() as session:
        assert planned(session) == [("start", now + 3 * HOUR), ("end", now + 5 * HOUR)]
    assert plan.after(3) == "running"
    assert plan.after(2) == "over"
    plan.set(None)
    with resources.database.reading() as session:
        assert planned(session) == []


@ON_SQLITE
@pytest.mark.parametrize(
    ("hours", "sentence"),
    [((-1, None), "start is in the past"), ((None, 0), "end is in the past"),
     ((2, 2), "must end after its start")],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["daily", "tournament"])
def test_dates_that_cannot_be_are_refused(
    resources: Resources,
    hub_clock: StillClock,
    kind: str,
    hours: tuple[float | None, float | None],
    sentence: str,
) -> None:
    plan = Plan(resources, hub_clock, kind)
    with pytest.raises(UsageError, match=sentence):
        plan.set(*hours)
    assert plan.dates() == Dates()


def test_dates_are_typed_in_a_zone_and_shown_in_it() -> None:
    dates = read_dates("2027-01-31T18:00", "", "Europe/Athens")
    assert dates == Dates(datetime(2027, 1, 31, 16, tzinfo=UTC), None, "Europe/Athens")
    assert (field_text(dates.starts, dates.zone), field_text(None, "UTC")) == (
        "2027-01-31T18:00",
        "",
    )
    for typed in (("soon", "", "UTC"), ("", "x" * 5000, "UTC"), ("", "", "Mars/Olympus")):
        with pytest.raises(UsageError):
            read_dates(*typed)
