"""Moments that the site notes by their names: the last tick, the last back-up."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw.hub.clock import Clock
from cw.hub.store.tables import Mark
from cw.hub.store.upsert import insert_or_set

TICK: Final = "tick"
"""When a scheduler has last done all that was due."""

BACKUP: Final = "back-up"
"""When the back-up of a day was last made."""

COPY: Final = "back-up elsewhere"
"""When objects were last copied to CW_BACKUP_OBJECTS."""

DELETIONS: Final = "deletions"
"""When the deletion of accounts was last noted in the stores."""

CERTIFICATE: Final = "certificate"
"""When the certificate of the site ends."""


TICKING: Final = timedelta(seconds=60)
"""How long ago the last tick of a site that ticks was at most."""


def note(session: Session, name: str, at: datetime) -> None:
    """Note a moment; the last call counts."""
    insert_or_set(session, Mark, [{"name": name, "at": at}], ["at"])


def moments(session: Session) -> dict[str, datetime]:
    """Return by name what was noted."""
    return {row.name: row.at for row in session.execute(select(Mark.name, Mark.at))}


def age(moments: Mapping[str, datetime], name: str, clock: Clock) -> timedelta | None:
    """Return how long ago something was noted, None for never."""
    return clock() - moments[name] if name in moments else None


def is_ticking(moments: Mapping[str, datetime], clock: Clock) -> bool:
    """Return whether a scheduler has ticked within a minute."""
    last = age(moments, TICK, clock)
    return last is not None and last <= TICKING
