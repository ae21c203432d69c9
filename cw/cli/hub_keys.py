"""`cw hub keys`: the master keys that seal the secrets of bots."""

from __future__ import annotations

import json

import click

from cw.cli.hub_options import as_json, with_settings
from cw.hub.jobs.app import CeleryQueue
from cw.hub.resources import opened
from cw.hub.services import audit
from cw.hub.services import keys as services
from cw.hub.settings import HubSettings


@click.group("keys")
def keys() -> None:
    """Change the master keys: add a new one to CW_MASTER_KEYS, put it first, then rotate."""


@keys.command()
@with_settings
@as_json
def status(settings: HubSettings, as_json: bool) -> None:
    """Say how many secrets lie under each key: one that has 0 may be dropped."""
    with (
        opened(settings, CeleryQueue(settings)) as resources,
        resources.database.reading() as session,
    ):
        found = dict.fromkeys(resources.sealer.key_ids, 0) | dict(services.uses(session))
        first = resources.sealer.key_id
    if as_json:
        click.echo(json.dumps({"first": first, "secrets": found}))
        return
    for key, number in found.items():
        click.echo(f"{key}: {number}{' (the first: it seals)' if key == first else ''}")


@keys.command()
@with_settings
def rotate(settings: HubSettings) -> None:
    """Put all secrets under the first key."""
    total = 0
    with opened(settings, CeleryQueue(settings)) as resources:
        while True:
            with resources.database.writing() as session:
                number = services.reseal(session, resources.sealer)
            if not number:
                break
            total += number
        with resources.database.writing() as session:
            about, first = {"secrets": total}, f"key:{resources.sealer.key_id}"
            audit.note(session, resources.clock, "operator", "rotate", first, detail=about)
    click.echo(f"{total} secrets lie under {first.removeprefix('key:')} now")
