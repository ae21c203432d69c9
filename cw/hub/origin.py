"""The origin of the work of a thread, which its log lines and the matches that it plans record."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from secrets import token_hex
from types import MappingProxyType
from typing import Any, Final

REQUEST_ID: Final = "request_id"

LONGEST_ID: Final = 64
"""Characters of the id of a request."""

known: ContextVar[Mapping[str, Any]] = ContextVar("known", default=MappingProxyType({}))
"""What all lines of the log of this thread say."""


def new_id() -> str:
    """Return the id of what nobody has asked for under an id of their own."""
    return token_hex(8)


def present_id() -> str | None:
    """Return the id of the request, or of the tick, that all that happens here goes back to."""
    return known.get().get(REQUEST_ID)
