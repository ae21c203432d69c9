"""The request id of a thread, recorded in its log lines and in the matches it plans."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from secrets import token_hex
from types import MappingProxyType
from typing import Any, Final

REQUEST_ID: Final = "request_id"

LONGEST_ID: Final = 64
"""Maximum length of a request id, in characters."""

known: ContextVar[Mapping[str, Any]] = ContextVar("known", default=MappingProxyType({}))
"""Fields added to every log line of this thread."""


def new_id() -> str:
    """Return an id for work that did not come with one."""
    return token_hex(8)


def present_id() -> str | None:
    """Return the id of the request or tick that caused the current work, or None."""
    return known.get().get(REQUEST_ID)
