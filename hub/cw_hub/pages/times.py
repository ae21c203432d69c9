"""Times on pages: how long ago, with the moment itself for machines and on hover."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from markupsafe import Markup

UNITS: Final = (
    ("year", 365 * 86_400),
    ("month", 30 * 86_400),
    ("week", 7 * 86_400),
    ("day", 86_400),
    ("hour", 3_600),
    ("minute", 60),
    ("second", 1),
)
"""Units of time with their seconds, largest first."""

LONGEST_NOW: Final = 10
"""Seconds from a moment that still count as now."""

SECOND: Final = timedelta(seconds=1)


def relative(moment: datetime, now: datetime) -> str:
    """Return `now`, `3 weeks ago` or `in 1 hour`, in the largest unit that fits, rounded down."""
    words = distance(abs(now - moment) // SECOND)
    if words == "now":
        return words
    return f"in {words}" if moment > now else f"{words} ago"


def distance(seconds: int) -> str:
    """Return `now`, or a number with its unit, for a number of seconds."""
    if seconds <= LONGEST_NOW:
        return "now"
    unit, size = next(row for row in UNITS if row[1] <= seconds)
    number = seconds // size
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"


def machine_time(moment: datetime) -> str:
    """Return a moment as ISO 8601 in UTC to the second, with a Z."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def time_element(moment: datetime, now: datetime) -> Markup:
    """Return the HTML of a moment; hub/static/hub/times.js keeps its text current."""
    utc = moment.astimezone(UTC).isoformat(" ")
    words = relative(moment, now)
    # Nothing in it needs escaping, and a page may have hundreds.
    return Markup(  # noqa: S704
        f'<time datetime="{utc[:10]}T{utc[11:19]}Z" title="{utc[:16]} UTC">{words}</time>'
    )
