"""Time zones for entering times; moments are stored in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

UNKNOWN_ZONE: Final = "Please choose a time zone, such as Europe/Athens"


@lru_cache(maxsize=1)
def zone_names() -> tuple[str, ...]:
    """Return the names of places' time zones, sorted, and UTC."""
    return (*sorted(name for name in available_timezones() if "/" in name[1:]), "UTC")


def zone_named(name: str) -> tzinfo | None:
    """Return a time zone, or None if the name is unknown."""
    if name in ("", "UTC"):
        return UTC
    return ZoneInfo(name) if name in zone_names() else None


def moment_in(text: str, zone: str) -> datetime | None:
    """Parse an entered time, such as `2027-01-31T18:00`, to UTC; None if it is malformed.

    It is interpreted in the zone unless it names one itself. A time that the clocks skip is read as
    if they had not been set forward yet; of an ambiguous time, the first is taken.
    """
    try:
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=zone_named(zone) or UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
