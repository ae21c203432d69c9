"""What commands print while the database does not answer."""

from __future__ import annotations

from cw.hub.store.database import AWAY, reason


def outage(error: Exception) -> str | None:
    """Return in one line that a database cannot be reached; None if an error is another one."""
    if not isinstance(error, AWAY):
        return None
    return f"the database does not answer: {reason(error)}"
