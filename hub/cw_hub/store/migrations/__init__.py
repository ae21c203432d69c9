"""Database migrations, as consecutive Alembic revisions in `versions/`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, Final
from warnings import catch_warnings, filterwarnings

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Inspector, inspect, text

from cw.errors import UsageError
from cw_hub.store.database import Database, waiting
from cw_hub.store.models import Base

KINDS: Final = ("table", "column", "index", "constraint", "fk")
"""The kinds of objects that Alembic adds or removes, as its operation names end."""


def missing(inspector: Inspector) -> list[str]:
    """Return the tables and columns of the current models that a database lacks.

    This is cheap enough for every process to check at startup.
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
    """Return the name of the object added or removed; a column name includes its table."""
    thing = difference[-1]
    table = difference[2] if len(difference) == 4 else getattr(thing, "table", None)
    return f"{table}.{thing.name}" if table is not None else str(thing.name)


FOLDER: Final = Path(__file__).resolve().parent
MOST_NAMED: Final = 5
"""Maximum number of tables and columns listed in an error message."""

UPGRADE_LOCK: Final = 0x6375_6875_6264_6200
"""The PostgreSQL advisory lock that serialises upgrades."""


@cache
def head() -> str:
    """Return the revision that this program needs; revisions count up from `0001`. Cached."""
    return ScriptDirectory(FOLDER).get_current_head() or ""


def current(database: Database) -> str | None:
    """Return the revision of a database, or None for an empty one."""
    with database.engine.connect() as connection:
        return revision_of(connection)


def revision_of(connection: Connection) -> str | None:
    """Return the revision visible to a transaction, or None for an empty database."""
    return MigrationContext.configure(connection).get_current_revision()


def is_known(revision: str) -> bool:
    """Return whether this program knows a revision."""
    return revision in {script.revision for script in ScriptDirectory(FOLDER).walk_revisions()}


def upgrade(database: Database) -> None:
    """Upgrade a database to this program's revision; a concurrent upgrade waits."""
    with waiting(None), database.writing_engine.begin() as connection:
        upgrade_to(connection, "head")


def upgrade_to(connection: Connection, revision: str) -> None:
    """Upgrade a database within a write transaction; a concurrent upgrade waits."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:n)"), {"n": UPGRADE_LOCK})
    command.upgrade(config_for(connection), revision)


def config_for(connection: Connection) -> Config:
    """Return Alembic's configuration with the connection that env.py uses."""
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def differences(database: Database) -> list[Any]:
    """Return the differences between the tables of a database and the current models."""
    with database.engine.connect() as connection, catch_warnings():
        # Ignore the warning that SQLite cannot reflect an index on an expression.
        filterwarnings("ignore", ".*expression-based index.*")
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        return list(compare_metadata(context, Base.metadata))


def prepare(database: Database) -> None:
    """Prepare a database for this program, as far as that is safe without confirmation.

    An SQLite file is upgraded after it has been copied to FILE.REVISION next to it. Raises
    UsageError if any other database is not at this program's revision, or if a database lacks
    tables or columns of its revision.
    """
    at = current(database)
    if at == head():
        demand_tables(database)
        return
    if not database.is_sqlite:
        raise UsageError(
            f"The database is at {at or 'nothing'}, this program needs {head()}: cw hub db upgrade"
        )
    if at is not None:
        copy_sqlite(Path(str(database.engine.url.database)), at)
    upgrade(database)


def demand_tables(database: Database) -> None:
    """Raise UsageError if a database lacks a table or a column of the current models."""
    lacking = missing(inspect(database.engine))
    if lacking:
        raise UsageError(
            f"The database is at revision {head()} and lacks {', '.join(lacking[:MOST_NAMED])}:"
            " it was changed by hand. Run cw hub db check for details."
        )


def copy_sqlite(path: Path, revision: str) -> None:
    """Copy an SQLite database that may be in use, completely or not at all."""
    copy = path.with_name(f"{path.name}.{revision}")
    partial = path.with_name(f"{copy.name}.partial")
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(partial)) as target:
        source.backup(target)
    partial.replace(copy)
