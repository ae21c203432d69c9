"""Inserts that say what happens if the row exists already; each database has its own syntax."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from cw.hub.store.tables import Base

Rows: TypeAlias = Sequence[Mapping[str, Any]]
Insert: TypeAlias = sqlite.Insert | postgresql.Insert

AT_ONCE: Final = 1000
"""Rows of one statement: both databases bind some ten thousand values."""


def inserts(session: Session, table: type[Base], rows: Rows) -> Iterator[Insert]:
    """Give the statements that insert rows, to be told what to do with those that are there."""
    for at in range(0, len(rows), AT_ONCE):
        yield insert_into(session, table).values(rows[at : at + AT_ONCE])


def insert_into(session: Session, table: type[Base]) -> Insert:
    """Return the insert of the database's own kind."""
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    rows: Any = table.__table__
    return (sqlite.insert if is_sqlite else postgresql.insert)(rows)


def insert_missing(session: Session, table: type[Base], rows: Rows) -> None:
    """Insert rows; those that are there stay as they are."""
    for new in inserts(session, table, rows):
        session.execute(new.on_conflict_do_nothing())


def insert_or_add(session: Session, table: type[Base], rows: Rows, counted: Sequence[str]) -> None:
    """Insert rows; where one is there its counts are added."""
    keys = [column.name for column in table.__table__.primary_key]
    # One statement for all of them, which is known from the last time: it is asked very often.
    new = insert_into(session, table)
    more = {name: getattr(table, name) + getattr(new.excluded, name) for name in counted}
    session.execute(new.on_conflict_do_update(index_elements=keys, set_=more), rows)


def insert_or_set(session: Session, table: type[Base], rows: Rows, columns: Sequence[str]) -> None:
    """Insert rows; where one is there these columns of it are set."""
    keys = [column.name for column in table.__table__.primary_key]
    new = insert_into(session, table)
    values = {name: getattr(new.excluded, name) for name in columns}
    session.execute(new.on_conflict_do_update(index_elements=keys, set_=values), rows)
