"""Named times that the site records: the last tick, the last back-up."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw_hub.clock import Clock
from cw_hub.store.tables import Mark
from cw_hub.store.upsert import insert_or_set

TICK: Final = "tick"
"""When a scheduler last completed a tick."""

BACKUP: Final = "back-up"
"""When the daily back-up was last made."""

COPY: Final = "back-up elsewhere"
"""When objects were last copied to CW_BACKUP_OBJECTS."""

DELETIONS: Final = "deletions"
"""When deletions of accounts were last recorded in the stores."""

CERTIFICATE: Final = "certificate"
"""When the certificate of the site expires."""


TICKING: Final = timedelta(seconds=60)
"""A site is ticking if its last tick is no older than this."""


def note(session: Session, name: str, at: datetime) -> None:
    """Record a time; the last call wins."""
    insert_or_set(session, Mark, [{"name": name, "at": at}], ["at"])


def moments(session: Session) -> dict[str, datetime]:
    """Return the recorded times by name."""
    return {row.name: row.at for row in session.execute(select(Mark.name, Mark.at))}


def age(moments: Mapping[str, datetime], name: str, clock: Clock) -> timedelta | None:
    """Return how long ago something was recorded, or None."""
    return clock() - moments[name] if name in moments else None


def is_ticking(moments: Mapping[str, datetime], clock: Clock) -> bool:
    """Return whether a scheduler has ticked within a minute."""
    last = age(moments, TICK, clock)
    return last is not None and last <= TICKING
