"""Statements, compiled once in a process: SQLAlchemy would do it again for each test's database."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Engine, create_engine
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite

from cw_hub.store import database

ROOM: Final = 10_000
"""Statements that are kept: those of all tests."""

KINDS: Final = (PGDialect_psycopg, SQLiteDialect_pysqlite)

_first: dict[type, Engine] = {}


def _engine(*args: Any, **options: Any) -> Engine:
    """Return an engine that shares what the first one of its kind has compiled."""
    engine = create_engine(*args, query_cache_size=ROOM, **options)
    first = _first.setdefault(type(engine.dialect), engine)
    setattr(engine, "_compiled_cache", first._compiled_cache)  # noqa: B010
    return engine


def compile_once() -> None:
    """Let each statement be compiled once for each kind of database."""
    for kind in KINDS:
        # Databases of tests differ in their address alone; statements are looked up by dialect.
        setattr(kind, "__hash__", lambda dialect: hash(type(dialect)))  # noqa: B010
        setattr(kind, "__eq__", lambda dialect, other: type(dialect) is type(other))  # noqa: B010
    setattr(database, "create_engine", _engine)  # noqa: B010
