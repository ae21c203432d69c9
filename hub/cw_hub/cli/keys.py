"""`cw hub keys`: the master keys that encrypt the secrets of bots."""

from __future__ import annotations

import json

import click

from cw_hub.accounts import audit
from cw_hub.cli.options import as_json, with_settings
from cw_hub.operation import keys as services
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import opened
from cw_hub.operation.settings import HubSettings
from cw_hub.store.sealing import new_master_key, new_secret_key


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
        opened(settings, CeleryQueue(settings)) as resources,
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
    click.echo(f"encrypted {total} secrets with {first.removeprefix('key:')}")
