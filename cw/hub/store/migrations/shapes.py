"""The shapes of tables: what a database lacks, and where it differs, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from sqlalchemy import Inspector

from cw.hub.store.tables import Base

KINDS: Final = ("table", "column", "index", "constraint", "fk")
"""What Alembic calls the things that may be added or removed, at the end of its words."""


def missing(inspector: Inspector) -> list[str]:
    """Return the tables and columns of this program that a database does not have.

    That asks little, so that every process can ask it at its start.
    """
    existing = {
        name: {column["name"] for column in columns}
        for (_, name), columns in inspector.get_multi_columns().items()
    }
    return [
        *(table for table in Base.metadata.tables if table not in existing),
        *(
            f"{table.name}.{column.name}"
            for table in Base.metadata.sorted_tables
            for column in table.columns
            if column.name not in existing.get(table.name, {column.name})
        ),
    ]


def in_words(differences: Iterable[Any]) -> list[str]:
    """Return the differences that Alembic has found, each in some words."""
    return [words for difference in differences for words in words_of(difference)]


def words_of(difference: Any) -> Iterator[str]:
    """Give a difference in words; several may come as one list."""
    if isinstance(difference, list):
        yield from in_words(difference)
        return
    action, _, kind = str(difference[0]).partition("_")
    if kind in KINDS:
        end = "is missing" if action == "add" else "is not of this program"
        yield f"the {kind} {name_of(difference)} {end}"
    else:
        table, column = difference[2:4]
        yield f"the {kind} of {table}.{column} differs"


def name_of(difference: Any) -> str:
    """Return the name of what is added or removed; of a column with its table."""
    thing = difference[-1]
    table = difference[2] if len(difference) == 4 else getattr(thing, "table", None)
    return f"{table}.{thing.name}" if table is not None else str(thing.name)
