"""The clock passed to every operation of the hub."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeAlias

Clock: TypeAlias = Callable[[], datetime]
"""Returns the current time as a timezone-aware datetime in UTC."""


def utc_now() -> datetime:
    """Return the current time by this machine's clock."""
    return datetime.now(UTC)
