"""Due times over ten years in five zones, against the clock of each zone."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cw.league.due_times import DueTime

ZONES = ("UTC", "Europe/Athens", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia")
"""Lord Howe changes its clocks by half an hour; Apia left out the 30th of December 2011."""

FIRST = date(2008, 1, 1)

times = st.times().map(lambda at: at.replace(second=0, microsecond=0))
zones = st.sampled_from(ZONES).map(ZoneInfo)
moments = st.datetimes(
    datetime(2008, 1, 5), datetime(2018, 1, 1), timezones=st.just(UTC), allow_imaginary=False
).map(lambda moment: moment.replace(microsecond=0))


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type, misc]


@pytest.mark.parametrize(
    ("zone", "at", "day", "due"),
    [
        ("UTC", time(18), date(2026, 11, 20), utc(2026, 11, 20, 18)),
        ("Europe/Athens", time(18), date(2026, 7, 1), utc(2026, 7, 1, 15)),
        ("Europe/Athens", time(18), date(2026, 12, 1), utc(2026, 12, 1, 16)),
        # The clocks go from 3 to 4: half past three is not, and the moment after the gap is 4.
        ("Europe/Athens", time(3, 30), date(2026, 3, 29), utc(2026, 3, 29, 1)),
        ("Europe/Athens", time(3, 0), date(2026, 3, 29), utc(2026, 3, 29, 1)),
        ("Europe/Athens", time(2, 59), date(2026, 3, 29), utc(2026, 3, 29, 0, 59)),
        # They go from 4 to 3: half past three is twice, and counts when it comes first.
        ("Europe/Athens", time(3, 30), date(2026, 10, 25), utc(2026, 10, 25, 0, 30)),
        ("Australia/Lord_Howe", time(2, 15), date(2026, 10, 4), utc(2026, 10, 3, 15, 30)),
        ("Pacific/Apia", time(18), date(2011, 12, 30), utc(2011, 12, 30, 10)),
        ("Pacific/Apia", time(0), date(2011, 12, 31), utc(2011, 12, 30, 10)),
    ],
)
def test_known_due_times(zone: str, at: time, day: date, due: datetime) -> None:
    assert DueTime(at, ZoneInfo(zone)).on(day) == due


@settings(max_examples=20, deadline=None)
@given(times, zones)
def test_ten_years_of_days_are_in_order_and_at_their_time(at: time, zone: ZoneInfo) -> None:
    rule = DueTime(at, zone)
    days = [FIRST + timedelta(days=number) for number in range(3660)]
    dues = [rule.on(day) for day in days]
    assert all(one <= other for one, other in pairwise(dues))
    for day, due in zip(days, dues, strict=True):
        local = due.astimezone(zone)
        if (local.date(), local.time()) == (day, at):
            assert local.fold == 0
        else:
            # The clocks skip it: a minute before they show an earlier time, now a later one.
            before = (due - timedelta(minutes=1)).astimezone(zone)
            wanted = datetime.combine(day, at)
            assert before.replace(tzinfo=None) < wanted < local.replace(tzinfo=None)


@given(times, zones, moments)
def test_the_latest_and_the_next_are_neighbours(at: time, zone: ZoneInfo, moment: datetime) -> None:
    rule = DueTime(at, zone)
    following = list(islice(rule.after(moment), 3))
    assert rule.latest(moment) <= moment < following[0] < following[1] < following[2]
    assert next(rule.after(rule.latest(moment))) == following[0]
    assert rule.latest(following[0]) == following[0]
    assert rule.latest(following[1] - timedelta(seconds=1)) == following[0]
