"""Counters of the site's processes, kept in memory first so as not to wait for the database."""

from __future__ import annotations

from collections import Counter
from threading import Lock
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw_hub.store.database import Database
from cw_hub.store.tables import Count
from cw_hub.store.upsert import insert_or_add, insert_or_set

UNREADABLE: Final = "messages_unreadable"
"""Messages in the queue that were not valid hub messages."""

ENDED: Final = "threads_ended"
"""Vital threads that have ended."""

MAILS_SENT: Final = "mails_sent"
"""Mails that a server has accepted, or that were written to files."""

MAILS_FAILED: Final = "mails_failed"
"""Failed attempts to send a mail."""

REPLAY_BYTES: Final = "replay_bytes"
"""The total size of stored replays: summed once a day, as that reads every replay's row."""


class Counts:
    """What a process has counted since its last write; thread-safe."""

    def __init__(self) -> None:
        """Start at zero."""
        self._lock = Lock()
        self._new: Counter[str] = Counter()

    def add(self, name: str) -> None:
        """Add one to a counter."""
        with self._lock:
            self._new[name] += 1

    def write(self, database: Database) -> None:
        """Add new counts to the rows; they are kept if the database is away."""
        with self._lock:
            new, self._new = self._new, Counter()
        if not new:
            return
        rows = [{"name": name, "value": value} for name, value in new.items()]
        try:
            with database.writing() as session:
                insert_or_add(session, Count, rows, ["value"])
        except BaseException:
            with self._lock:
                self._new.update(new)
            raise


def add_now(session: Session, name: str) -> None:
    """Add one to a counter within the caller's transaction."""
    insert_or_add(session, Count, [{"name": name, "value": 1}], ["value"])


def put(session: Session, name: str, value: int) -> None:
    """Set a counter. Idempotent."""
    insert_or_set(session, Count, [{"name": name, "value": value}], ["value"])


def value_of(session: Session, name: str) -> int | None:
    """Return the last value written, or None."""
    return session.scalar(select(Count.value).where(Count.name == name))


def totals(session: Session) -> Counter[str]:
    """Return what all processes have counted since the site began, by name."""
    rows = session.execute(select(Count.name, Count.value))
    return Counter({row.name: row.value for row in rows})
