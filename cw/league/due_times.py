"""Daily due times at a fixed local time, across daylight-saving changes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final, NamedTuple

DAY: Final = timedelta(days=1)
SECOND: Final = timedelta(seconds=1)


class DueTime(NamedTuple):
    """A time of day in a time zone.

    >>> from zoneinfo import ZoneInfo
    >>> evening = DueTime(time(19), ZoneInfo("Europe/Athens"))
    >>> print(evening.on(date(2027, 1, 31)), evening.on(date(2027, 7, 31)), sep=" ")
    2027-01-31 17:00:00+00:00 2027-07-31 16:00:00+00:00
    """

    at: time
    zone: tzinfo

    def on(self, day: date) -> datetime:
        """Return the due time on a day, in UTC.

        A local time skipped by a clock change moves to the end of the gap; for an ambiguous time,
        the earlier one is used.
        """
        local = datetime.combine(day, self.at, self.zone)
        # PEP 495: within a gap, fold 0 gives the later UTC time and fold 1 the earlier one.
        earlier, later = (local.replace(fold=fold).astimezone(UTC) for fold in (0, 1))
        return self._end_of_gap(later, earlier) if later < earlier else earlier

    def _end_of_gap(self, before: datetime, after: datetime) -> datetime:
        """Return the first time between both that has the UTC offset of `after`."""
        offset = after.astimezone(self.zone).utcoffset()
        while after - before > SECOND:
            middle = before + (after - before) // 2 // SECOND * SECOND
            if middle.astimezone(self.zone).utcoffset() == offset:
                after = middle
            else:
                before = middle
        return after

    def after(self, moment: datetime) -> Iterator[datetime]:
        """Yield the due times after a given time, up to the end of the calendar."""
        day, last = self.day_of(moment) - DAY, moment
        while True:
            due = self.on(day)
            # When a zone crosses the date line, neighbouring days may give the same time twice.
            if due > last:
                yield due
                last = due
            day += DAY

    def latest(self, moment: datetime) -> datetime:
        """Return the latest due time that is not after a given time."""
        today = self.day_of(moment)
        return max(due for due in map(self.on, around(today)) if due <= moment)

    def day_of(self, moment: datetime) -> date:
        """Return the local date of a given time."""
        return moment.astimezone(self.zone).date()


def around(day: date) -> list[date]:
    """Return the days to search for the latest due time before the end of a day.

    When a zone crosses the date line, a whole day is missing, and its due time is that of the next
    day.
    """
    return [day + number * DAY for number in (-3, -2, -1, 0, 1)]
