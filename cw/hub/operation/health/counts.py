"""What processes count for the site: in memory first, so that nobody waits for the database."""

from __future__ import annotations

from collections import Counter
from threading import Lock
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw.hub.store.database import Database
from cw.hub.store.tables import Count
from cw.hub.store.upsert import insert_or_add, insert_or_set

UNREADABLE: Final = "messages_unreadable"
"""Messages in the queue that were no message of a hub."""

ENDED: Final = "threads_ended"
"""Threads without which a process could not go on."""

MAILS_SENT: Final = "mails_sent"
"""Mails that a server has taken, or that were written to files."""

MAILS_FAILED: Final = "mails_failed"
"""Attempts to send a mail that have failed."""

REPLAY_BYTES: Final = "replay_bytes"
"""What stored replays take: summed once a day, as that reads the row of each."""


class Counts:
    """What a process has counted since it last wrote it down; for all its threads."""

    def __init__(self) -> None:
        """Count nothing yet."""
        self._lock = Lock()
        self._new: Counter[str] = Counter()

    def add(self, name: str) -> None:
        """Count one more."""
        with self._lock:
            self._new[name] += 1

    def write(self, database: Database) -> None:
        """Add what is new to the rows; it stays new if the database is away."""
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
    """Count one more, together with what else a transaction changes."""
    insert_or_add(session, Count, [{"name": name, "value": 1}], ["value"])


def put(session: Session, name: str, value: int) -> None:
    """Write how much there is of something. Twice: the same."""
    insert_or_set(session, Count, [{"name": name, "value": value}], ["value"])


def value_of(session: Session, name: str) -> int | None:
    """Return how much there was of something when that was written; None before."""
    return session.scalar(select(Count.value).where(Count.name == name))


def totals(session: Session) -> Counter[str]:
    """Return by name what all processes have counted since the site began."""
    rows = session.execute(select(Count.name, Count.value))
    return Counter({row.name: row.value for row in rows})
