"""Timeouts for PostgreSQL: a server that hangs neither answers nor closes connections."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any, Final, TypeVar

import psycopg
from sqlalchemy import Engine, event
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import PoolProxiedConnection, QueuePool

FOR_PAGES: Final = 5.0
"""Seconds for a statement of a page, as somebody waits for it."""

FOR_JOBS: Final = 60.0
"""Seconds for any other statement."""

PAUSE: Final = 2.0
"""Seconds between attempts to reach a database that hangs."""

TRYING: Final = 2
"""Timeout of such an attempt, in seconds; the request may have waited for a thread already."""

STATEMENT: Final = 0.9
LOCK: Final = 0.8
"""When a working server gives up by itself, as shares of our timeout."""

SET_LIMITS: Final = (
    "SELECT set_config('statement_timeout', %s, true), set_config('lock_timeout', %s, true)"
)

T = TypeVar("T")

_patience: ContextVar[float | None] = ContextVar("patience", default=FOR_JOBS)


@contextmanager
def waiting(seconds: float | None) -> Iterator[None]:
    """Limit each statement in the block to the given seconds, or not at all if None."""
    token = _patience.set(seconds)
    try:
        yield
    finally:
        _patience.reset(token)


class Outage:
    """Remembers that a database hangs, so that only one thread at a time waits for it."""

    def __init__(self, elapsed: Callable[[], float] = time.monotonic) -> None:
        """Start with a database that answers; `elapsed` returns seconds."""
        self._elapsed = elapsed
        self._lock = Lock()
        self._until: float | None = None

    def begin(self) -> None:
        """Record that the database did not answer in time."""
        with self._lock:
            self._until = self._elapsed() + PAUSE

    def end(self) -> None:
        """Record that the database has answered."""
        self._until = None

    @property
    def is_on(self) -> bool:
        """Whether the database hangs, as far as we know."""
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
    """A connection that is closed if its server does not answer in time."""

    outage: Outage | None = None

    def wait(self, gen: Generator[Any, Any, T], *rest: Any, **more: Any) -> T:
        """Return the result of an exchange with the server; raise OperationalError on timeout.

        Each exchange has the full time.
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
    """A pool that lends no connection while the server hangs."""

    outage: Outage

    def connect(self) -> PoolProxiedConnection:
        """Lend a connection; raise OperationalError if the server hangs or none is free."""
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
    """Apply the timeouts of the current thread to the connections of an engine."""
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

    For this transaction only: a pooler lends the connection to somebody else afterwards.
    """
    seconds = _patience.get()
    limits = [str(int((seconds or 0) * part * 1000)) for part in (STATEMENT, LOCK)]
    with connection.cursor() as cursor:
        cursor.execute(SET_LIMITS, limits)
