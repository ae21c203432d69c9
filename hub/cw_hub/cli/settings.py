"""`cw hub settings`: all settings and their values."""

from __future__ import annotations

import json

import click

from cw_hub.cli.options import as_json, with_settings
from cw_hub.operation.environment import setting_rows
from cw_hub.operation.settings import HubSettings


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
