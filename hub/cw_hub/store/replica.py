"""An optional read replica that may lag; reads fall back to the main database."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Lock
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from cw_hub.store.database import Database, Session
from cw_hub.store.migrations import head, revision_of

PAUSE: Final = 30.0
"""Seconds before an unavailable replica is tried again."""

PATIENCE: Final = 2
"""Connection timeout in seconds, as a user waits for a page."""

logger = logging.getLogger(__name__)


class Replica:
    """A read replica of a database, shared by all threads of a process."""

    def __init__(
        self, url: str, database: Database, elapsed: Callable[[], float] = time.monotonic
    ) -> None:
        """Configure the replica's URL and the database to fall back to; connect lazily."""
        self._copy = Database(url, PATIENCE, database.clock)
        self._database = database
        self._elapsed = elapsed
        self._lock = Lock()
        self._is_there = False
        self._due = elapsed()

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Yield a read-only session on the replica, or on the database if it is unavailable.

        Of concurrent callers after a pause, one tries the replica and the others read the database.
        """
        with ExitStack() as stack:
            # Pages do not fail without the replica, so `/ready` does not check it.
            yield self._begin(stack) or stack.enter_context(self._database.reading())

    @contextmanager
    def reading_alone(self) -> Iterator[Session | None]:
        """Yield a session on the replica, or None if it is unavailable; never on the database."""
        with ExitStack() as stack:
            yield self._begin(stack)

    def _begin(self, stack: ExitStack) -> Session | None:
        """Return a session on the replica, or None if it is unavailable."""
        if not self._is_to_be_asked():
            return None
        try:
            session = stack.enter_context(self._copy.reading())
            self._look_at(session)
        except SQLAlchemyError as error:
            self._note_away(type(error).__name__)
            return None
        return session if self._is_there else None

    def _is_to_be_asked(self) -> bool:
        with self._lock:
            if self._is_there:
                return True
            is_due = self._elapsed() >= self._due
            if is_due:
                self._due = self._elapsed() + PAUSE
            return is_due

    def _look_at(self, session: Session) -> None:
        """Connect; after an outage, also check that the replica has this program's revision."""
        connection = session.connection()
        if self._is_there:
            return
        at = revision_of(connection)
        # A replica may lag behind a migration, and its rows would not match our tables.
        if at != head():
            self._note_away(f"it is at {at or 'nothing'}, this program needs {head()}")
            return
        with self._lock:
            self._is_there = True
        logger.info("the read replica answers")

    def _note_away(self, reason: str) -> None:
        with self._lock:
            self._is_there = False
            self._due = self._elapsed() + PAUSE
        logger.warning("the read replica cannot be reached, the database is read: %s", reason)

    def close(self) -> None:
        """Close all connections to the replica."""
        self._copy.close()
