"""The message of commands while the database does not answer."""

from __future__ import annotations

from cw_hub.store.database import AWAY, reason


def outage(error: Exception) -> str | None:
    """Return a line saying that the database does not answer, or None for another error."""
    if not isinstance(error, AWAY):
        return None
    return f"the database does not answer: {reason(error)}"
