"""Inserts with a rule for existing rows; each database has its own syntax."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from cw_hub.store.tables import Base

Rows: TypeAlias = Sequence[Mapping[str, Any]]
Insert: TypeAlias = sqlite.Insert | postgresql.Insert

AT_ONCE: Final = 1000
"""Rows per statement: both databases bind some ten thousand values."""


def inserts(session: Session, table: type[Base], rows: Rows) -> Iterator[Insert]:
    """Yield insert statements to which the caller adds a rule for existing rows."""
    for at in range(0, len(rows), AT_ONCE):
        yield insert_into(session, table).values(rows[at : at + AT_ONCE])


def insert_into(session: Session, table: type[Base]) -> Insert:
    """Return the dialect's own insert."""
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    rows: Any = table.__table__
    return (sqlite.insert if is_sqlite else postgresql.insert)(rows)


def insert_missing(session: Session, table: type[Base], rows: Rows) -> None:
    """Insert rows, leaving existing ones unchanged."""
    for new in inserts(session, table, rows):
        session.execute(new.on_conflict_do_nothing())


def insert_or_add(session: Session, table: type[Base], rows: Rows, counted: Sequence[str]) -> None:
    """Insert rows; add the counts to existing ones."""
    keys = [column.name for column in table.__table__.primary_key]
    # One statement for all rows, so that it stays cached: it is executed very often.
    new = insert_into(session, table)
    more = {name: getattr(table, name) + getattr(new.excluded, name) for name in counted}
    session.execute(new.on_conflict_do_update(index_elements=keys, set_=more), rows)


def insert_or_set(session: Session, table: type[Base], rows: Rows, columns: Sequence[str]) -> None:
    """Insert rows; set the given columns of existing ones."""
    keys = [column.name for column in table.__table__.primary_key]
    new = insert_into(session, table)
    values = {name: getattr(new.excluded, name) for name in columns}
    session.execute(new.on_conflict_do_update(index_elements=keys, set_=values), rows)
