"""The migrations of the tables: one revision after the other, in `versions/`."""

from __future__ import annotations

import sqlite3
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
from sqlalchemy import Connection, inspect, text

from cw.errors import UsageError
from cw.hub.store.database import Database
from cw.hub.store.migrations.shapes import missing
from cw.hub.store.patience import waiting
from cw.hub.store.tables import Base

FOLDER: Final = Path(__file__).resolve().parent
MOST_NAMED: Final = 5
"""Tables and columns that an error names."""

UPGRADE_LOCK: Final = 0x6375_6875_6264_6200
"""The number by which those who upgrade a PostgreSQL wait for each other."""


@cache
def head() -> str:
    """Return the revision that this program needs; they count up from `0001`. Read once."""
    return ScriptDirectory(FOLDER).get_current_head() or ""


def current(database: Database) -> str | None:
    """Return the revision that a database is at, None for an empty one."""
    with database.engine.connect() as connection:
        return revision_of(connection)


def revision_of(connection: Connection) -> str | None:
    """Return the revision that a transaction sees, None for an empty database."""
    return MigrationContext.configure(connection).get_current_revision()


def is_known(revision: str) -> bool:
    """Return whether a revision is one of this program's."""
    return revision in {script.revision for script in ScriptDirectory(FOLDER).walk_revisions()}


def upgrade(database: Database) -> None:
    """Bring a database to the revision of this program; a second one at the same time waits."""
    with waiting(None), database.writing_engine.begin() as connection:
        upgrade_to(connection, "head")


def upgrade_to(connection: Connection, revision: str) -> None:
    """Bring a database to a revision within a transaction that writes; a second one waits."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:n)"), {"n": UPGRADE_LOCK})
    command.upgrade(config_for(connection), revision)


def config_for(connection: Connection) -> Config:
    """Return what Alembic wants to know; env.py takes the connection from it."""
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def differences(database: Database) -> list[Any]:
    """Return what differs between the tables of a database and those of this program."""
    with database.engine.connect() as connection, catch_warnings():
        # That SQLite tells nothing of an index on an expression.
        filterwarnings("ignore", ".*expression-based index.*")
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        return list(compare_metadata(context, Base.metadata))


def prepare(database: Database) -> None:
    """Make a database fit for this program, as far as that may be done unasked.

    A file of SQLite is upgraded, after a copy of it was put beside it as FILE.REVISION. Raises
    UsageError for another database that is not at the revision of this program, and for one that
    lacks what that revision has.
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
    """Raise UsageError for a database that lacks a table or a column of this program."""
    lacking = missing(inspect(database.engine))
    if lacking:
        raise UsageError(
            f"The database is at revision {head()} and lacks {', '.join(lacking[:MOST_NAMED])}:"
            " it was changed by hand. Run cw hub db check for details."
        )


def copy_sqlite(path: Path, revision: str) -> None:
    """Copy a database that may be in use, whole or not at all."""
    copy = path.with_name(f"{path.name}.{revision}")
    partial = path.with_name(f"{copy.name}.partial")
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(partial)) as target:
        source.backup(target)
    partial.replace(copy)
