"""`cw hub db`: the revisions of the database."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import click

from cw.errors import Failure, UsageError, short
from cw.files import make_folder
from cw_hub.cli.options import patiently, waiting, with_settings
from cw_hub.operation.settings import HubSettings
from cw_hub.store import migrations, worker_role
from cw_hub.store.database import Database
from cw_hub.store.migrations.shapes import in_words


@click.group()
def db() -> None:
    """Migrate the database to the revision of this program."""


@db.command()
@with_settings
@waiting
def upgrade(settings: HubSettings, wait: float) -> None:
    """Migrate the database to the revision of this program."""
    with opened(settings) as database:
        patiently(lambda: migrations.upgrade(database), wait)
        click.echo(migrations.current(database))


@db.command()
@with_settings
def current(settings: HubSettings) -> None:
    """Print the revision of the database; `nothing` for an empty one."""
    with opened(settings) as database:
        click.echo(migrations.current(database) or "nothing")


@db.command()
@with_settings
def check(settings: HubSettings) -> None:
    """Compare the tables of the database with those of this program; exit code 1 if they differ."""
    with opened(settings) as database:
        at, needed = migrations.current(database), migrations.head()
        if at != needed:
            raise Failure(f"the database is at {at or 'nothing'}, this program needs {needed}")
        differences = migrations.differences(database)
        if differences:
            words = "; ".join(in_words(differences))
            raise Failure(f"the tables differ from those of this program: {words}")
        click.echo(f"{at}: up to date")


@db.command("worker-role")
@click.argument("role")
def worker_role_of(role: str) -> None:
    """Print the SQL that gives the PostgreSQL role ROLE only the rights a worker needs."""
    if not re.fullmatch("[a-z_][a-z0-9_]{0,62}", role):
        raise UsageError(
            f"a role has only lower-case letters, digits and underscores, not {short(role)}"
        )
    for statement in ("BEGIN", *worker_role.statements(role), "COMMIT"):
        click.echo(f"{statement};")


@contextmanager
def opened(settings: HubSettings) -> Iterator[Database]:
    """Open the database while the block runs."""
    if settings.is_sqlite:
        make_folder(settings.data)
    database = Database(settings.database)
    try:
        yield database
    finally:
        database.close()
