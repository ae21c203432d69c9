"""`cw hub backup` and `cw hub restore`: all rows of a hub in a file."""

from __future__ import annotations

import json
from itertools import chain, islice
from pathlib import Path

import click
from sqlalchemy.orm import Session

from cw.cli.hub.options import as_json, with_settings
from cw.errors import UsageError
from cw.hub.accounts import outbox
from cw.hub.clock import utc_now
from cw.hub.matches.states import queue_all
from cw.hub.operation.backup import backup_job as job
from cw.hub.operation.backup import backups
from cw.hub.operation.queue import CeleryQueue
from cw.hub.operation.resources import make_private_folder, opened
from cw.hub.operation.setting_types import store_or_folder
from cw.hub.operation.settings import HubSettings
from cw.hub.site.formats import FORMATS
from cw.hub.site.processes.roles import folder_locked
from cw.hub.store.database import Database

TOLERANCE = 0.001
"""How far ratings may be off: the exp of another machine may differ in the last bits."""

MOST_SHOWN = 100


@click.command("backup")
@with_settings
@click.option(
    "--objects",
    type=store_or_folder,
    metavar="URL",
    help="Copy objects to s3://bucket/prefix or a folder, too.",
)
@as_json
def backup_command(settings: HubSettings, objects: str | None, as_json: bool) -> None:
    """Write all rows of the hub into one file, while it runs.

    The file is in the object store, readable by its owner only: it contains e-mail addresses and
    the encrypted secrets of bots. Keep the master keys somewhere else.

    \b
      cw hub backup                         prints where the file is
      cw hub backup --objects /mnt/copies   replays, maps, uploads, pictures too
    """
    with opened(settings, CeleryQueue(settings)) as resources:
        made = job.make(resources, objects or "")
    if as_json:
        click.echo(json.dumps({**made._asdict(), "store": settings.store}))
        return
    click.echo(f"{settings.store}/{made.key}: {made.rows} rows")
    if objects:
        click.echo(f"{objects}: {made.objects} objects copied")


@click.command("restore")
@with_settings
@click.argument("file", type=click.Path(path_type=Path))
@as_json
def restore_command(settings: HubSettings, file: Path, as_json: bool) -> None:
    """Fill an empty database from a back-up FILE, and verify its ratings.

    SQLite and PostgreSQL take the same files. Matches that were open are queued. Exit code 2, and
    nothing changes, if the database is not empty or the file is damaged; 1 if ratings differ.

    \b
      cw hub restore hub-data/objects/backups/20261120T033000Z.jsonl.gz
    """
    make_private_folder(settings.data)
    with folder_locked(settings):
        database = Database(settings.database)
        try:
            header = fill(database, file)
            found = differences(database)
        finally:
            database.close()
    if as_json:
        about = {"rows": header.rows, "at": header.at.isoformat(), "differences": found}
        click.echo(json.dumps(about))
    else:
        click.echo(f"{header.rows} rows as they were at {header.at:%Y-%m-%d %H:%M:%S} UTC")
        for one in found:
            click.echo(one)
        click.echo("The ratings match the results." if not found else "They differ.")
    if found:
        raise SystemExit(1)


def fill(database: Database, file: Path) -> backups.Header:
    """Fill a database from a file; raise UsageError for one that cannot be read."""
    try:
        with file.open("rb") as packed:
            return backups.restore(database, packed, begin_anew)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from None


def begin_anew(session: Session) -> None:
    """Make the rows fit a place where nothing runs yet."""
    queue_all(session)
    outbox.drop_waiting(session, utc_now)


def differences(database: Database) -> list[str]:
    """Return where ratings are not what the matches say, as far as it is shown."""
    proofs = [format_.verify for format_ in FORMATS if format_.verify is not None]
    with database.reading() as session:
        problems = chain.from_iterable(verify(session, TOLERANCE) for verify in proofs)
        return list(islice(problems, MOST_SHOWN))
