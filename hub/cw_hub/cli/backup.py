"""`cw hub backup` and `cw hub restore`: all rows of a hub in a file."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from cw.visible import visible
from cw_hub.cli.options import as_json, with_settings
from cw_hub.operation.backup import backup_job as job
from cw_hub.operation.backup import sources
from cw_hub.operation.backup.sources import Stored
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import make_private_folder, opened
from cw_hub.operation.setting_types import store_or_folder
from cw_hub.operation.settings import HubSettings
from cw_hub.site import recovery
from cw_hub.site.processes.roles import folder_locked
from cw_hub.store.database import Database


@click.group("backup", invoke_without_command=True)
@with_settings
@click.option(
    "--objects",
    type=store_or_folder,
    metavar="URL",
    help="Also copy the back-up, encrypted, and all objects to s3://bucket/prefix or a folder.",
)
@as_json
@click.pass_context
def backup_group(
    context: click.Context, settings: HubSettings, objects: str | None, as_json: bool
) -> None:
    """Back up all rows of the hub into one file, while it runs.

    The file is in the object store, readable by its owner only: it contains e-mail addresses and
    the encrypted secrets of bots. Keep the master keys somewhere else.

    \b
      cw hub backup                         prints where the file is
      cw hub backup --objects /mnt/copies   also there, encrypted, with all objects
      cw hub backup list                    the back-ups here and in CW_BACKUP_OBJECTS
      cw hub backup drill                   tests whether the newest one can restore the hub
    """
    if context.invoked_subcommand:
        return
    with opened(settings, CeleryQueue(settings)) as resources:
        backup = job.make(resources, objects or "")
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
    """List the back-ups of the hub's own store and of CW_BACKUP_OBJECTS, the newest first."""
    places = filter(None, (settings.store, settings.backup_objects))
    backups = [one for place in places for one in sources.stored_in(place)]
    if as_json:
        click.echo(json.dumps([asdict(one) for one in backups], default=str))
        return
    for one in backups:
        click.echo(visible(row(one)))


def row(stored: Stored) -> str:
    """Return a back-up as a line of text: when it was made, its size, and where it is."""
    return f"{stored.at:%Y-%m-%d %H:%M} UTC  {stored.bytes / 2**20:9.1f} MiB  {stored}"


@backup_group.command("drill")
@with_settings
@click.argument("source", default="")
@as_json
def drill_command(settings: HubSettings, source: str, as_json: bool) -> None:
    """Test-restore a back-up into a temporary file, and verify everything a new hub needs.

    Verifies rows, secrets, a sample of replays, and the ratings as `ratings verify` does. SOURCE
    is as for `restore`; without it, the newest back-up of CW_BACKUP_OBJECTS, or of the hub's own
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
    """Fill an empty database from a back-up SOURCE, and verify its ratings.

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
    """Print the result of a restoration."""
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
        click.echo(f"deleted {result.deleted} accounts again that were deleted after the back-up")
    for one in differences:
        click.echo(one)
    click.echo(
        "The ratings match the results."
        if not differences
        else "The ratings differ from the results."
    )
