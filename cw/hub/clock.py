"""The clock that every verb of the hub is given."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeAlias

Clock: TypeAlias = Callable[[], datetime]
"""Returns the present moment, in UTC and aware of that."""


def utc_now() -> datetime:
    """Return the present moment by the clock of this machine."""
    return datetime.now(UTC)
