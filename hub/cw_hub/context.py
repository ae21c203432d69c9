"""Context available everywhere in a process: the clock, and the request id for logs and matches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from secrets import token_hex
from types import MappingProxyType
from typing import Any, Final, TypeAlias

Clock: TypeAlias = Callable[[], datetime]
"""A function that returns the current time as a timezone-aware datetime in UTC."""


def utc_now() -> datetime:
    """Return the current time by this host's clock."""
    return datetime.now(UTC)


REQUEST_ID: Final = "request_id"

LONGEST_ID: Final = 64
"""Maximum length of a request id, in characters."""

known: ContextVar[Mapping[str, Any]] = ContextVar("known", default=MappingProxyType({}))
"""Fields added to every log line of this thread."""


def new_id() -> str:
    """Return an id for work that arrived without one."""
    return token_hex(8)


def present_id() -> str | None:
    """Return the id of the request or tick that caused the current work, or None."""
    return known.get().get(REQUEST_ID)
