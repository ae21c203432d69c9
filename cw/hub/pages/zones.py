"""Time zones in which people enter times; moments are stored in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

UNKNOWN_ZONE: Final = "Please choose a time zone, such as Europe/Athens"


@lru_cache(maxsize=1)
def zone_names() -> tuple[str, ...]:
    """Return the names of the time zones of places, and UTC, by name."""
    return (*sorted(name for name in available_timezones() if "/" in name[1:]), "UTC")


def zone_named(name: str) -> tzinfo | None:
    """Return a time zone; None for a name that is not known."""
    if name in ("", "UTC"):
        return UTC
    return ZoneInfo(name) if name in zone_names() else None


def moment_in(text: str, zone: str) -> datetime | None:
    """Return a time that was entered, such as `2027-01-31T18:00`, in UTC.

    It is meant in a zone unless it names one itself. None for a malformed one. A time that the
    clocks skip is read as if they had not been set forward yet; of one that they show twice, the
    first is meant.
    """
    try:
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=zone_named(zone) or UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
