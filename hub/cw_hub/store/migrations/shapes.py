"""Differences between a database and our tables: what is missing, and descriptions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from sqlalchemy import Inspector

from cw_hub.store.tables import Base

KINDS: Final = ("table", "column", "index", "constraint", "fk")
"""Kinds of things that Alembic adds or removes, as its operation names end."""


def missing(inspector: Inspector) -> list[str]:
    """Return the tables and columns of this program that a database lacks.

    This is cheap enough for every process to check at its start.
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
    """Return descriptions of differences found by Alembic."""
    return [words for difference in differences for words in words_of(difference)]


def words_of(difference: Any) -> Iterator[str]:
    """Yield the descriptions of a difference, which may be a list of several."""
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
    """Return the name of the thing added or removed; a column comes with its table."""
    thing = difference[-1]
    table = difference[2] if len(difference) == 4 else getattr(thing, "table", None)
    return f"{table}.{thing.name}" if table is not None else str(thing.name)
