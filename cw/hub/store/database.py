"""The database of the hub: SQLite in a file, or PostgreSQL; transactions that read or write."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from threading import Lock
from time import monotonic, sleep
from typing import Any, Final, TypeAlias

from sqlalchemy import Connection, Engine, create_engine, event, func, make_url, select
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.orm import Session, sessionmaker

from cw.hub.store.patience import PatientPool, be_patient, waiting

BUSY: Final = 10_000
"""Milliseconds that a writer of SQLite waits for another."""

CONNECTING: Final = 5
"""Seconds in which a server must take a connection, and one of those to it be free."""

MOST_CONNECTIONS: Final = 60
"""To a server, beyond the few that stay open."""

LOST_SERVER: Final = 15
"""Seconds without a word after which the machine of a server counts as gone."""

WRITES: Final = "cw_writes"
"""The option of connections whose transactions write."""

Reading: TypeAlias = Session
"""A session that changes nothing."""

Writing: TypeAlias = Session
"""A session whose changes are kept at its end."""

AWAY: Final = (OperationalError, InterfaceError)
"""What is raised while the database cannot be reached, or is too busy."""


class Database:
    """A database whose tables are there; to be shared by all threads of a process."""

    def __init__(self, url: str, patience: int | None = None) -> None:
        """Take its address; nothing is opened yet.

        `patience` is for one that can be done without: the seconds after which a server that
        cannot be reached is given up.
        """
        self.engine = open_engine(url, patience)
        self.writes = 0
        """Transactions that this process has written: pages are made anew after each."""
        self._writing = Lock()
        self._reader = sessionmaker(self.engine, expire_on_commit=False)
        self._writer = sessionmaker(self.writing_engine, expire_on_commit=False)

    @property
    def writing_engine(self) -> Engine:
        """The same database; its transactions lock out other writers where it cannot do less."""
        return self.engine.execution_options(**{WRITES: True})

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a file of SQLite."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Give a session that changes nothing: whatever is left in it is rolled back."""
        with self._reader() as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """Give a session for one verb: committed at the end of the block, or not at all."""
        with self._turn():
            with self._writer.begin() as session:
                yield session
            self.writes += 1

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Let the threads of this process write to a file one after the other.

        A writer that waits for SQLite looks again only now and then, and the more there are, the
        longer one of them may find it taken each time; a lock is handed on at once. Who has waited
        for so long as SQLite lets a writer wait is told by it.
        """
        mine = self.is_sqlite and self._writing.acquire(timeout=BUSY / 1000)
        try:
            yield
        finally:
            if mine:
                self._writing.release()

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Give a connection that reads the rows of one moment, however long that takes."""
        # The transactions of SQLite are like that.
        level = {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ"}
        with waiting(None), self.engine.connect() as connection:
            yield connection.execution_options(**level)

    def now(self) -> datetime | None:
        """Return what time it is by the database's clock; None for a file, which has none."""
        if self.is_sqlite:
            return None
        with self.engine.connect() as connection:
            return connection.scalar(select(func.clock_timestamp()))

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def open_engine(url: str, patience: int | None = None) -> Engine:
    """Return the engine for an address of a database: `sqlite:///FILE` or `postgresql://`."""
    address = make_url(url)
    if address.get_backend_name() == "sqlite":
        # Its errors go to the log, and may be about people.
        engine = create_engine(address, connect_args={"timeout": BUSY / 1000}, hide_parameters=True)
        event.listen(engine, "connect", prepare_sqlite)
        event.listen(engine, "begin", begin_sqlite)
        return engine
    # A pooler between transactions remembers no statement of the last one.
    engine = create_engine(
        address.set(drivername="postgresql+psycopg"),
        poolclass=PatientPool,
        pool_timeout=CONNECTING,
        # As many as a process has threads: what is busy shall not keep pages from a connection.
        max_overflow=MOST_CONNECTIONS,
        # A connection that a restart of the server has cut is found before a request uses it.
        pool_pre_ping=True,
        hide_parameters=True,
        connect_args={"prepare_threshold": None, **limits_of(patience)},
    )
    be_patient(engine)
    return engine


def limits_of(patience: int | None) -> dict[str, int]:
    """Return how long a server is waited for: to connect, and where its machine went away.

    Of what was sent and is not acknowledged libpq counts milliseconds; who waits for an answer
    asks, after some seconds without a word, whether the other machine is still there.
    """
    gone = LOST_SERVER if patience is None else patience
    return {
        "connect_timeout": CONNECTING if patience is None else patience,
        "tcp_user_timeout": gone * 1000,
        "keepalives_idle": gone,
        "keepalives_interval": max(1, gone // 3),
        "keepalives_count": 3,
    }


def prepare_sqlite(connection: Any, _record: Any) -> None:
    """Let readers and one writer work at the same time, and keep foreign keys."""
    # The driver would begin transactions by itself, and too late.
    connection.isolation_level = None
    for pragma in (f"busy_timeout = {BUSY}", "synchronous = NORMAL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")
    keep_a_log(connection)


def keep_a_log(connection: Any) -> None:
    """Let a file have a write-ahead log; of several who ask a new one at once, all wait.

    Of two that hold the same read lock SQLite refuses one without any patience, as waiting for
    each other they would never end.
    """
    until = monotonic() + BUSY / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or monotonic() > until:
                raise
            sleep(0.01)


def begin_sqlite(connection: Connection) -> None:
    """Begin; a writer takes its lock at once, as one that reads first could never get it."""
    writes = connection.get_execution_options().get(WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def reason(error: DBAPIError) -> str:
    """Return the first line of what a database says of an error."""
    return str(error.orig).strip().partition("\n")[0]


def is_away(error: DBAPIError) -> bool:
    """Return whether an error says that the database cannot be reached, not that we are wrong."""
    return isinstance(error, AWAY) or error.connection_invalidated
