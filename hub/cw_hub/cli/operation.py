"""`cw hub db`, `doctor`, `keys`, `settings`, `store`, `backup` and `restore`: operates a hub."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict

import click

from cw.errors import Failure, UsageError, short, visible
from cw.files import make_folder
from cw_hub.accounts import audit
from cw_hub.bots.programs import look_at_limits, look_at_programs
from cw_hub.cli.options import as_json, patiently, waiting, with_settings
from cw_hub.competitions.maps import look_at_games
from cw_hub.operation import backups as operation_backups
from cw_hub.operation import keys as services
from cw_hub.operation.backups import Stored
from cw_hub.operation.doctor import Finding, examine, tried
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import make_private_folder
from cw_hub.operation.resources import opened as resources_opened
from cw_hub.operation.settings import HubSettings, setting_rows, store_or_folder
from cw_hub.site import recovery
from cw_hub.site.processes import folder_locked
from cw_hub.store import migrations, worker_role
from cw_hub.store.database import OPERATOR, Database
from cw_hub.store.migrations import in_words
from cw_hub.store.objects import bucket_of, make_bucket
from cw_hub.store.sealing import new_master_key, new_secret_key


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


@click.command("doctor")
@with_settings
@as_json
def doctor(settings: HubSettings, as_json: bool) -> None:
    """Check whether a hub has everything it needs, and how to fix what it lacks.

    Tries settings, data folder, database, clock, broker, store, mail server, keys, encrypted
    secrets, the games that competitions play, a sandboxed program and what limits it, while a hub
    runs or before it starts, and changes nothing. Each line begins with `ok`, with `to do` and the
    required action, or with `no` for something that not every machine needs. Exit code 1 if
    something needs doing.
    """
    findings = []
    for finding in findings_of(settings):
        findings.append(finding)
        if not as_json:
            click.echo(visible(str(finding)))
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings]))
    if any(finding.needed and not finding.ok for finding in findings):
        raise SystemExit(1)


def findings_of(settings: HubSettings) -> Iterator[Finding]:
    """Yield the findings about everything that a hub needs."""
    has_database = False
    for finding in examine(settings):
        has_database |= finding.name == "database" and finding.ok
        yield finding
    if has_database:
        yield tried("games", lambda: look_at_games(settings))
    yield tried("programs", lambda: look_at_programs(settings))
    yield from look_at_limits(settings)


@click.group("keys")
def keys() -> None:
    """Create and rotate the keys that encrypt secrets.

    To rotate, add a new key to CW_MASTER_KEYS, then put it first, then run `rotate`.

    \b
      cw hub keys new >> hub.env       both keys of a new hub, as its settings
    """


@keys.command()
@click.argument("name", default="k1")
def new(name: str) -> None:
    """Print new keys as settings; NAME is the id of the master key, k1 by default.

    Nothing is stored. A hub whose database is not SQLite needs both in each of its processes.
    """
    key = new_master_key(name)
    click.echo(f"CW_MASTER_KEYS={key}\nCW_SECRET_KEY={new_secret_key()}")


@keys.command()
@with_settings
@as_json
def status(settings: HubSettings, as_json: bool) -> None:
    """Print how many secrets each key encrypts; a key with 0 can be removed."""
    with (
        resources_opened(settings, CeleryQueue(settings)) as resources,
        resources.database.reading() as session,
    ):
        uses = dict.fromkeys(resources.sealer.key_ids, 0) | dict(services.uses(session))
        first = resources.sealer.key_id
    if as_json:
        click.echo(json.dumps({"first": first, "secrets": uses}))
        return
    for key, number in uses.items():
        click.echo(f"{key}: {number}{' (first: encrypts new secrets)' if key == first else ''}")


@keys.command()
@with_settings
def rotate(settings: HubSettings) -> None:
    """Encrypt all secrets with the first key."""
    total = 0
    with resources_opened(settings, CeleryQueue(settings)) as resources:
        while True:
            with resources.database.writing(OPERATOR) as session:
                number = services.reseal(session, resources.sealer)
            if not number:
                break
            total += number
        with resources.database.writing(OPERATOR) as session:
            about, first = {"secrets": total}, f"key:{resources.sealer.key_id}"
            audit.record(session, "rotate", first, detail=about)
    click.echo(f"encrypted {total} secrets with {first.removeprefix('key:')}")


@click.command("settings")
@with_settings
@as_json
def settings_command(settings: HubSettings, as_json: bool) -> None:
    """Print every setting with its value and meaning.

    Each is an environment variable. Passwords and keys are not shown.
    """
    rows = setting_rows(settings)
    if as_json:
        click.echo(json.dumps([row._asdict() for row in rows], indent=2))
        return
    for name, value, default, words in rows:
        changed = "" if value == default else f"  (default: {default})"
        click.echo(f"{name}={value}{changed}\n    {words}")


@click.group()
def store() -> None:
    """Create the bucket of the object store."""


@store.command()
@with_settings
@waiting
def create(settings: HubSettings, wait: float) -> None:
    """Create the bucket in CW_STORE_URL, unless it exists.

    The credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must allow that.
    """
    if not settings.store_url:
        raise UsageError("a store in a folder has no bucket: set CW_STORE_URL=s3://bucket/prefix")
    is_new = patiently(lambda: make_bucket(settings.store_url), wait)
    name = bucket_of(settings.store_url)
    click.echo(f"created bucket {name}" if is_new else f"bucket {name} already exists")


@click.group("backup", invoke_without_command=True)
@with_settings
@click.option(
    "--objects",
    type=store_or_folder,
    metavar="URL",
    help="Also copy the backup, encrypted, and all objects to s3://bucket/prefix or a folder.",
)
@as_json
@click.pass_context
def backup_group(
    context: click.Context, settings: HubSettings, objects: str | None, as_json: bool
) -> None:
    """Back up all rows of the hub into one file, while it runs.

    The file is in the object store, readable by its owner only: it contains email addresses and
    the encrypted secrets of bots. Keep the master keys somewhere else.

    \b
      cw hub backup                         prints where the file is
      cw hub backup --objects /mnt/copies   also there, encrypted, with all objects
      cw hub backup list                    the backups here and in CW_BACKUP_OBJECTS
      cw hub backup drill                   tests whether the newest one can restore the hub
    """
    if context.invoked_subcommand:
        return
    with resources_opened(settings, CeleryQueue(settings)) as resources:
        backup = operation_backups.make(resources, objects or "")
    if as_json:
        click.echo(json.dumps({**backup._asdict(), "store": settings.store}))
        return
    click.echo(f"{settings.store}/{backup.key}: {backup.rows} rows")
    if objects:
        click.echo(f"{objects}: encrypted copy written; {backup.objects} objects copied")


@backup_group.command("list")
@with_settings
@as_json
def list_command(settings: HubSettings, as_json: bool) -> None:
    """List the backups of the hub's own store and of CW_BACKUP_OBJECTS, the newest first."""
    places = filter(None, (settings.store, settings.backup_objects))
    backups = [one for place in places for one in operation_backups.stored_in(place)]
    if as_json:
        click.echo(json.dumps([asdict(one) for one in backups], default=str))
        return
    for one in backups:
        click.echo(visible(row(one)))


def row(stored: Stored) -> str:
    """Return a backup as a line of text: its time, size and location."""
    return f"{stored.at:%Y-%m-%d %H:%M} UTC  {stored.bytes / 2**20:9.1f} MiB  {stored}"


@backup_group.command("drill")
@with_settings
@click.argument("source", default="")
@as_json
def drill_command(settings: HubSettings, source: str, as_json: bool) -> None:
    """Test-restore a backup into a temporary file, and verify everything a new hub needs.

    Verifies rows, secrets, a sample of replays, and the ratings as `ratings verify` does. SOURCE
    is as for `restore`; without it, the newest backup of CW_BACKUP_OBJECTS, or of the hub's own
    store. Exit code 1 if anything is missing or differs.
    """
    findings = []
    for finding in recovery.drill(settings, source):
        findings.append(finding)
        if not as_json:
            click.echo(visible(str(finding)))
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings]))
    if not all(finding.ok for finding in findings):
        raise SystemExit(1)


@click.command("restore")
@with_settings
@click.argument("source")
@click.option("--objects", is_flag=True, help="Also restore replays, maps, uploads and pictures.")
@as_json
def restore_command(settings: HubSettings, source: str, objects: bool, as_json: bool) -> None:
    """Fill an empty database from a backup SOURCE, and verify its ratings.

    SQLite and PostgreSQL take the same files. Open matches are queued again. Exit code 2, and
    nothing changes, if the database is not empty or the file is damaged; 1 if ratings differ.

    \b
      cw hub restore hub-data/objects/backups/20261120T033000Z.jsonl.gz
      cw hub restore s3://copies/hub --objects     the newest one there
    """
    make_private_folder(settings.data)
    with folder_locked(settings):
        database = Database(settings.database)
        try:
            result = recovery.restore(settings, database, source, objects)
        finally:
            database.close()
    tell(result, as_json, objects)
    if result.differences:
        raise SystemExit(1)


def tell(result: recovery.Recovery, as_json: bool, objects: bool) -> None:
    """Print the result of a restore."""
    header, differences = result.header, result.differences
    if as_json:
        about = {"rows": header.rows, "at": header.at.isoformat(), "objects": result.objects}
        about["deleted"] = result.deleted
        click.echo(json.dumps({**about, "differences": differences}))
        return
    click.echo(f"restored {header.rows} rows as of {header.at:%Y-%m-%d %H:%M:%S} UTC")
    if objects:
        click.echo(f"{result.objects} objects copied")
    if result.deleted:
        click.echo(f"deleted {result.deleted} accounts that had been deleted after the backup")
    for one in differences:
        click.echo(one)
    click.echo(
        "The ratings match the results."
        if not differences
        else "The ratings differ from the results."
    )
