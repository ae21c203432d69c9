"""`cw hub settings`: what may be set, and how it is set here."""

from __future__ import annotations

import json

import click

from cw.cli.hub_options import as_json, with_settings
from cw.hub.settings import HubSettings, shown


@click.command("settings")
@with_settings
@as_json
def settings_command(settings: HubSettings, as_json: bool) -> None:
    """Print every setting: its value here, and what it is.

    Each is a variable of the environment. Passwords and keys are not shown.
    """
    rows = shown(settings)
    if as_json:
        click.echo(json.dumps([row._asdict() for row in rows], indent=2))
        return
    for name, value, default, words in rows:
        changed = "" if value == default else f"  (default: {default})"
        click.echo(f"{name}={value}{changed}\n    {words}")
