"""The database of the hub: SQLite or PostgreSQL, with read and write transactions."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from threading import Lock
from time import monotonic, sleep
from typing import Any, Final, TypeAlias, TypeVar

import psycopg
from sqlalchemy import Connection, Engine, create_engine, event, func, make_url, orm, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import PoolProxiedConnection, QueuePool

from cw_hub.context import Clock, utc_now
from cw_hub.store.models import Base

FOR_PAGES: Final = 5.0
"""Timeout of a page's statement in seconds, as a user waits for it."""

FOR_JOBS: Final = 60.0
"""Timeout of any other statement in seconds."""

PAUSE: Final = 2.0
"""Seconds between attempts to reach a database that does not respond."""

TRYING: Final = 2
"""Timeout of such an attempt, in seconds; the request may have waited for a thread already."""

STATEMENT: Final = 0.9
LOCK: Final = 0.8
"""Fractions of our timeout after which a working server itself ends a statement or lock wait."""

SET_LIMITS: Final = (
    "SELECT set_config('statement_timeout', %s, true), set_config('lock_timeout', %s, true)"
)

T = TypeVar("T")

_patience: ContextVar[float | None] = ContextVar("patience", default=FOR_JOBS)


@contextmanager
def waiting(seconds: float | None) -> Iterator[None]:
    """Limit each statement in the block to this many seconds; None means no limit."""
    token = _patience.set(seconds)
    try:
        yield
    finally:
        _patience.reset(token)


class Outage:
    """Remembers that a database hangs, so that only one thread at a time waits for it."""

    def __init__(self, elapsed: Callable[[], float] = time.monotonic) -> None:
        """Assume that the database responds; `elapsed` returns seconds."""
        self._elapsed = elapsed
        self._lock = Lock()
        self._until: float | None = None

    def begin(self) -> None:
        """Record that the database did not respond in time."""
        with self._lock:
            self._until = self._elapsed() + PAUSE

    def end(self) -> None:
        """Record that the database has responded."""
        self._until = None

    @property
    def is_on(self) -> bool:
        """Whether the database hangs, as far as is known."""
        return self._until is not None

    def refuse(self) -> None:
        """Raise OperationalError while the database hangs; one caller may try after each pause."""
        if self._until is None:
            return
        with self._lock:
            if self._elapsed() < (self._until or 0.0):
                raise psycopg.OperationalError("it did not answer in time, just now")
            self._until = self._elapsed() + PAUSE


class PatientConnection(psycopg.Connection[Any]):
    """A connection that is closed if its server does not respond in time."""

    outage: Outage | None = None

    def wait(self, gen: Generator[Any, Any, T], *rest: Any, **more: Any) -> T:
        """Return the result of an exchange with the server; raise OperationalError on timeout.

        Each exchange has the full timeout.
        """
        answer = super().wait(self._in_time(gen), *rest, **more)
        if self.outage is not None:
            self.outage.end()
        return answer

    def _in_time(self, gen: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
        seconds = _patience.get()
        if self.outage is not None and self.outage.is_on:
            seconds = min(seconds or TRYING, TRYING)
        until = None if seconds is None else time.monotonic() + seconds
        try:
            state = next(gen)
            while True:
                # The driver resumes this several times a second, even if nothing arrives.
                state = gen.send((yield state))
                if until is not None and time.monotonic() > until:
                    self._give_up(seconds)
        except StopIteration as end:
            answer: T = end.value
            return answer

    def _give_up(self, seconds: float | None) -> None:
        if self.outage is not None:
            self.outage.begin()
        self.close()
        raise psycopg.OperationalError(f"no answer within {seconds:g} s")


class PatientPool(QueuePool):
    """A pool that hands out no connection while the server hangs."""

    outage: Outage

    def connect(self) -> PoolProxiedConnection:
        """Check out a connection; raise OperationalError if the server hangs or none is free."""
        self.outage.refuse()
        try:
            return super().connect()
        except PoolTimeoutError as error:
            raise psycopg.OperationalError("all connections are in use") from error

    def recreate(self) -> QueuePool:
        """Return a new, empty pool to replace this one."""
        pool = super().recreate()
        pool.outage = self.outage  # type: ignore[attr-defined]
        return pool


def be_patient(engine: Engine) -> None:
    """Apply the current thread's timeouts to the connections of an engine."""
    outage = Outage()
    engine.pool.outage = outage  # type: ignore[attr-defined]

    def connect(_dialect: Any, _record: Any, arguments: Any, options: Any) -> PatientConnection:
        if outage.is_on:
            options["connect_timeout"] = TRYING
        try:
            connection = PatientConnection.connect(*arguments, **options)
        except psycopg.errors.ConnectionTimeout:
            outage.begin()
            raise
        connection.outage = outage
        return connection

    event.listen(engine, "do_connect", connect)
    engine.dialect.do_begin = limit_transaction  # type: ignore[method-assign,assignment]


def limit_transaction(connection: Any) -> None:
    """Set the server's statement and lock timeouts for a transaction.

    They apply to this transaction only: a pooler gives the connection to another client afterwards.
    """
    seconds = _patience.get()
    limits = [str(int((seconds or 0) * part * 1000)) for part in (STATEMENT, LOCK)]
    with connection.cursor() as cursor:
        cursor.execute(SET_LIMITS, limits)


BUSY: Final = 10_000
"""Milliseconds that an SQLite writer waits for another writer."""

CONNECTING: Final = 5
"""Seconds to wait for a connection, from the server or from the pool."""

MOST_CONNECTIONS: Final = 60
"""Maximum number of connections to a server beyond the few that stay open."""

LOST_SERVER: Final = 15
"""Seconds of silence after which a server's host counts as lost."""

WRITES: Final = "cw_writes"
"""Name of the execution option that marks connections whose transactions write."""

SITE: Final = "site"
"""The actor of what happens by itself."""

OPERATOR: Final = "operator"
"""The actor of commands."""


class Session(orm.Session):
    """A session of the database, with the clock by which its work is dated, and who does it."""

    def __init__(
        self, bind: Engine | Connection, clock: Clock = utc_now, actor: str = SITE
    ) -> None:
        """Open a session on an engine or a connection; its objects stay usable after it."""
        super().__init__(bind, expire_on_commit=False)
        self.clock = clock
        self.actor = actor
        """A username, `operator`, or another name for the audit log."""

    def now(self) -> datetime:
        """Return the present time, in UTC."""
        return self.clock()


Reading: TypeAlias = Session
"""A session that changes nothing."""

Writing: TypeAlias = Session
"""A session whose changes are committed at its end."""

AWAY: Final = (OperationalError, InterfaceError)
"""Errors raised while the database cannot be reached, or is too busy."""


class Database:
    """A database with all tables, shared by all threads of a process."""

    def __init__(self, url: str, patience: int | None = None, clock: Clock = utc_now) -> None:
        """Set up the engine; connections are opened lazily.

        `patience` is for a database that is not essential: the seconds after which an unreachable
        server is given up. `clock` dates what its sessions write.
        """
        self.engine = open_engine(url, patience)
        self.writing_engine = self.engine.execution_options(**{WRITES: True})
        """The engine for writing; its transactions exclude other writers only if necessary."""
        self.clock = clock
        self.writes = 0
        """Number of transactions written by this process; cached pages are outdated after each."""
        self._writing = Lock()

    @property
    def is_sqlite(self) -> bool:
        """Whether the database is an SQLite file."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Yield a read-only session; anything left in it is rolled back."""
        with Session(self.engine, self.clock) as session:
            yield session

    @contextmanager
    def writing(self, actor: str = SITE) -> Iterator[Session]:
        """Yield a session for one operation, committed at the end of the block or not at all.

        `actor` is who performs it, for the audit log.
        """
        with self._turn():
            with Session(self.writing_engine, self.clock, actor) as session, session.begin():
                yield session
            self.writes += 1

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Serialise the writing threads of this process if the database is a file.

        A writer that waits for SQLite polls only now and then, and finds it locked more often the
        more writers there are; a lock is handed over immediately. After SQLite's own timeout a
        writer continues without the lock, and SQLite reports the error.
        """
        mine = self.is_sqlite and self._writing.acquire(timeout=BUSY / 1000)
        try:
            yield
        finally:
            if mine:
                self._writing.release()

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Yield a connection that reads one snapshot, without a timeout."""
        # SQLite transactions are snapshots already.
        level = {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ"}
        with waiting(None), self.engine.connect() as connection:
            yield connection.execution_options(**level)

    def now(self) -> datetime | None:
        """Return the time of the database server's clock, or None for a file, which has none."""
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
    # A transaction pooler does not preserve prepared statements.
    engine = create_engine(
        address.set(drivername="postgresql+psycopg"),
        poolclass=PatientPool,
        pool_timeout=CONNECTING,
        # One connection per thread of the process, so that busy threads never block a page.
        max_overflow=MOST_CONNECTIONS,
        # Detects connections lost in a server restart before a request uses them.
        pool_pre_ping=True,
        hide_parameters=True,
        connect_args={"prepare_threshold": None, **limits_of(patience)},
    )
    be_patient(engine)
    return engine


def limits_of(patience: int | None) -> dict[str, int]:
    """Return a connection's timeouts: to connect, and until an unresponsive host is given up.

    tcp_user_timeout, in milliseconds, covers data that is sent but not acknowledged; keepalives
    cover waiting for a response.
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
    """Allow readers concurrently with one writer, and enforce foreign keys."""
    # The driver would start transactions itself, and too late.
    connection.isolation_level = None
    for pragma in (f"busy_timeout = {BUSY}", "synchronous = NORMAL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")
    keep_a_log(connection)


def keep_a_log(connection: Any) -> None:
    """Switch a file to a write-ahead log; concurrent callers on a new file all wait.

    Of two connections that hold the same read lock, SQLite refuses one without its usual timeout,
    as they would wait for each other forever.
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
    """Start a transaction; writers lock immediately, as a read lock could not be upgraded later."""
    writes = connection.get_execution_options().get(WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def reason(error: DBAPIError) -> str:
    """Return the first line of a database's error message."""
    return str(error.orig).strip().partition("\n")[0]


def is_away(error: DBAPIError) -> bool:
    """Return whether an error means that the database is unreachable, rather than a bug of ours."""
    return isinstance(error, AWAY) or error.connection_invalidated


Rows: TypeAlias = Sequence[Mapping[str, Any]]
Insert: TypeAlias = sqlite.Insert | postgresql.Insert

AT_ONCE: Final = 1000
"""Rows per statement: both databases accept some ten thousand bound values."""


def inserts(session: Session, table: type[Base], rows: Rows) -> Iterator[Insert]:
    """Yield insert statements to which the caller adds a conflict rule for existing rows."""
    for at in range(0, len(rows), AT_ONCE):
        yield insert_into(session, table).values(rows[at : at + AT_ONCE])


def insert_into(session: Session, table: type[Base]) -> Insert:
    """Return the insert construct of the session's dialect."""
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    rows: Any = table.__table__
    return (sqlite.insert if is_sqlite else postgresql.insert)(rows)


def insert_missing(session: Session, table: type[Base], rows: Rows) -> None:
    """Insert rows, leaving existing ones unchanged."""
    for new in inserts(session, table, rows):
        session.execute(new.on_conflict_do_nothing())


def insert_or_add(session: Session, table: type[Base], rows: Rows, counted: Sequence[str]) -> None:
    """Insert rows; for existing ones, add the values of the counted columns."""
    keys = [column.name for column in table.__table__.primary_key]
    # A single statement for all rows, so that it stays cached: it is executed very often.
    new = insert_into(session, table)
    more = {name: getattr(table, name) + getattr(new.excluded, name) for name in counted}
    session.execute(new.on_conflict_do_update(index_elements=keys, set_=more), rows)


def insert_or_set(session: Session, table: type[Base], rows: Rows, columns: Sequence[str]) -> None:
    """Insert rows; for existing ones, overwrite the given columns."""
    keys = [column.name for column in table.__table__.primary_key]
    new = insert_into(session, table)
    values = {name: getattr(new.excluded, name) for name in columns}
    session.execute(new.on_conflict_do_update(index_elements=keys, set_=values), rows)
