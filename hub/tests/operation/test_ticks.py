"""Ticks go by the right clock, and take no match just after an outage; what hangs ends itself."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from cw.errors import Failure
from cw_hub.context import utc_now
from cw_hub.matches import planning, results
from cw_hub.matches.jobs import Worker
from cw_hub.matches.planning import Plan, Seat
from cw_hub.operation import heartbeats
from cw_hub.operation.doctor import ClockCheck
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import Resources, opened
from cw_hub.operation.scheduler import Steps, Ticker
from cw_hub.operation.settings import HubSettings
from cw_hub.site.formats import FORMATS, MATCH_TYPES
from cw_hub.site.processes import steps_of
from cw_hub.store.models import MatchState
from hub.tests.conftest import ON_SQLITE, StillClock
from hub.tests.sites import by_clock
from tests.fixtures import FakeClock

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def shared(tmp_path: Path, postgresql_url: str) -> Iterator[Resources]:
    """What a process holds whose database has a clock of its own."""
    settings = HubSettings(
        data=tmp_path,
        database_url=postgresql_url,
        master_keys="k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
        secret_key="0" * 64,
    )
    with opened(settings, CeleryQueue(settings)) as resources:
        yield resources


@ON_SQLITE
def test_a_step_that_fails_keeps_no_other_from_being_done(
    resources: Resources, caplog: pytest.LogCaptureFixture
) -> None:
    done: list[str] = []

    def fail(_: Resources) -> None:
        raise TypeError("a setting is text")

    steps = Steps([], [lambda _: done.append("first"), fail, lambda _: done.append("last")])
    with pytest.raises(Failure, match="1 of 3 steps of a tick have failed"):
        Ticker(steps).tick(resources)
    assert done == ["first", "last"]
    assert "a setting is text" in caplog.text
    with resources.database.reading() as session:
        assert heartbeats.TICK not in heartbeats.moments(session)


def planned(resources: Resources) -> int:
    seats = (Seat("a", spec="builtin:random"), Seat("b", spec="builtin:greedy"))
    with resources.database.writing() as session:
        return planning.plan(session, Plan("practice", "k", "hexagon", seats))


def counted(resources: Resources) -> dict[MatchState, int]:
    with resources.database.reading() as session:
        return results.counts(session)


@pytest.mark.thorough
@pytest.mark.parametrize(("seconds", "is_right"), [(0, True), (-30, False), (30, False)])
def test_a_clock_that_is_off_is_not_gone_by(
    shared: Resources, caplog: pytest.LogCaptureFixture, seconds: int, is_right: bool
) -> None:
    off = by_clock(shared, lambda: utc_now() + timedelta(seconds=seconds))
    assert ClockCheck().is_right(off) == is_right
    assert ("nothing is played and nothing ticks here" in caplog.text) != is_right


@pytest.mark.thorough
def test_a_clock_is_compared_each_minute(shared: Resources, clock: FakeClock) -> None:
    check = ClockCheck(clock)
    off = by_clock(shared, lambda: utc_now() + timedelta(seconds=30))
    assert check.is_right(shared)
    clock.advance(59)
    assert check.is_right(off)
    clock.advance(1)
    assert not check.is_right(off)
    assert not check.is_right(shared)
    clock.advance(60)
    assert check.is_right(shared)


@pytest.mark.thorough
def test_nothing_is_claimed_or_ticks_by_a_wrong_clock(
    shared: Resources, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    match, wrong = planned(shared), [60.0]
    hub = by_clock(shared, lambda: utc_now() + timedelta(seconds=wrong[0]))
    Ticker(steps_of(FORMATS), clock).tick(hub)
    with shared.database.reading() as session:
        assert len(planning.to_send(session)) == 1

    def wait(_: float) -> None:
        assert counted(shared) == {"queued": 1}
        wrong[0] = 0.0
        clock.advance(60)

    monkeypatch.setattr(time, "sleep", wait)
    assert Worker("me", 1, MATCH_TYPES, clock=ClockCheck(clock)).claimed(hub, match) is not None


def test_leases_that_ended_in_an_outage_may_be_renewed_after_it(
    resources: Resources,
    hub_clock: StillClock,
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lease = timedelta(seconds=resources.settings.lease)
    match, ticker = planned(resources), Ticker(steps_of(FORMATS), clock)
    with resources.database.writing() as session:
        claim = results.claim(session, match, "me", lease)
    assert claim is not None
    monkeypatch.setattr(ClockCheck, "is_right", lambda *_: True)
    with monkeypatch.context() as outage:
        outage.setattr(resources.database, "writing", lambda *_: raise_away())
        with pytest.raises(OperationalError):
            ticker.tick(resources)
    hub_clock.advance(lease.total_seconds() + 1)
    clock.advance(lease.total_seconds() - 1)
    ticker.tick(resources)
    assert counted(resources) == {"in_progress": 1}
    with resources.database.writing() as session:
        assert results.progress(session, claim, 1, lease)
    hub_clock.advance(lease.total_seconds() + 1)
    clock.advance(1)
    ticker.tick(resources)
    assert counted(resources) == {"queued": 1}


def raise_away() -> None:
    raise OperationalError("UPDATE", {}, ConnectionResetError())
