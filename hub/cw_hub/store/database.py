"""The database of the hub: SQLite or PostgreSQL, with read and write transactions."""

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

from cw_hub.store.patience import PatientPool, be_patient, waiting

BUSY: Final = 10_000
"""Milliseconds that a writer of SQLite waits for another writer."""

CONNECTING: Final = 5
"""Seconds to wait for a connection, from the server or from the pool."""

MOST_CONNECTIONS: Final = 60
"""Connections to a server beyond the few that stay open."""

LOST_SERVER: Final = 15
"""Seconds of silence after which a server's machine counts as gone."""

WRITES: Final = "cw_writes"
"""The option of connections whose transactions write."""

Reading: TypeAlias = Session
"""A session that changes nothing."""

Writing: TypeAlias = Session
"""A session whose changes are committed at its end."""

AWAY: Final = (OperationalError, InterfaceError)
"""Errors raised while the database cannot be reached, or is too busy."""


class Database:
    """A database with all tables, shared by all threads of a process."""

    def __init__(self, url: str, patience: int | None = None) -> None:
        """Connect lazily.

        `patience` is for a database that can be done without: the seconds after which an
        unreachable server is given up.
        """
        self.engine = open_engine(url, patience)
        self.writes = 0
        """Transactions written by this process; pages are rebuilt after each."""
        self._writing = Lock()
        self._reader = sessionmaker(self.engine, expire_on_commit=False)
        self._writer = sessionmaker(self.writing_engine, expire_on_commit=False)

    @property
    def writing_engine(self) -> Engine:
        """The engine for writing; its transactions exclude other writers only if they must."""
        return self.engine.execution_options(**{WRITES: True})

    @property
    def is_sqlite(self) -> bool:
        """Whether it is an SQLite file."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Yield a read-only session; anything left in it is rolled back."""
        with self._reader() as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """Yield a session for one operation, committed at the end of the block or not at all."""
        with self._turn():
            with self._writer.begin() as session:
                yield session
            self.writes += 1

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Serialise the writing threads of this process if the database is a file.

        A writer that waits for SQLite polls only now and then, and finds it locked more often the
        more writers there are; a lock is handed over at once. After SQLite's own timeout a writer
        goes on without the lock, and SQLite reports the error.
        """
        mine = self.is_sqlite and self._writing.acquire(timeout=BUSY / 1000)
        try:
            yield
        finally:
            if mine:
                self._writing.release()

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Yield a connection that reads one snapshot, however long that takes."""
        # SQLite transactions are snapshots already.
        level = {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ"}
        with waiting(None), self.engine.connect() as connection:
            yield connection.execution_options(**level)

    def now(self) -> datetime | None:
        """Return the current time by the database's clock, or None for a file, which has none."""
        if self.is_sqlite:
            return None
        with self.engine.connect() as connection:
            return connection.scalar(select(func.clock_timestamp()))

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def open_engine(url: str, patience: int | None = None) -> Engine:
    """Return the engine for a database URL: `sqlite:///FILE` or `postgresql://`."""
    address = make_url(url)
    if address.get_backend_name() == "sqlite":
        # Errors go to the log; their parameters may contain personal data.
        engine = create_engine(address, connect_args={"timeout": BUSY / 1000}, hide_parameters=True)
        event.listen(engine, "connect", prepare_sqlite)
        event.listen(engine, "begin", begin_sqlite)
        return engine
    # A transaction pooler does not keep prepared statements.
    engine = create_engine(
        address.set(drivername="postgresql+psycopg"),
        poolclass=PatientPool,
        pool_timeout=CONNECTING,
        # One connection per thread of the process, so that busy threads never block a page.
        max_overflow=MOST_CONNECTIONS,
        # Detects connections cut by a restart of the server before a request uses them.
        pool_pre_ping=True,
        hide_parameters=True,
        connect_args={"prepare_threshold": None, **limits_of(patience)},
    )
    be_patient(engine)
    return engine


def limits_of(patience: int | None) -> dict[str, int]:
    """Return the timeouts of a connection: to connect, and until a silent machine is given up.

    tcp_user_timeout, in milliseconds, covers data that is sent but not acknowledged; keepalives
    cover waiting for an answer.
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
    """Allow readers beside one writer, and enforce foreign keys."""
    # The driver would begin transactions itself, and too late.
    connection.isolation_level = None
    for pragma in (f"busy_timeout = {BUSY}", "synchronous = NORMAL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")
    keep_a_log(connection)


def keep_a_log(connection: Any) -> None:
    """Switch a file to a write-ahead log; concurrent callers on a new file all wait.

    Of two connections that hold the same read lock, SQLite refuses one without its usual timeout,
    as they would wait for each other for ever.
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
    """Begin a transaction; a writer locks at once, as a reader could not upgrade its lock later."""
    writes = connection.get_execution_options().get(WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def reason(error: DBAPIError) -> str:
    """Return the first line of a database's error message."""
    return str(error.orig).strip().partition("\n")[0]


def is_away(error: DBAPIError) -> bool:
    """Return whether an error means that the database is unreachable, not that we are wrong."""
    return isinstance(error, AWAY) or error.connection_invalidated
