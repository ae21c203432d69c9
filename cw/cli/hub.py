"""`cw hub`: the site for many people; its commands need the extra `hub`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Final

import click

from cw.cli import LazyGroup
from cw.errors import UsageError

NEEDED: Final = ("alembic", "argon2", "celery", "cryptography", "obstore", "psycopg", "sqlalchemy")
"""What the extra brings, as far as it is asked for here."""

COMMANDS: Mapping[str, str] = {
    "demo": "cw.cli.hub_serve:demo",
    "serve": "cw.cli.hub_serve:serve",
    "worker": "cw.cli.hub_worker:worker",
    "scheduler": "cw.cli.hub_worker:scheduler",
    "user": "cw.cli.hub_user:user",
    "match": "cw.cli.hub_match:match",
    "bot": "cw.cli.hub_bot:bot",
    "token": "cw.cli.hub_token:token",
    "keys": "cw.cli.hub_keys:keys",
    "ratings": "cw.cli.hub_ratings:ratings_group",
    "competition": "cw.cli.hub_competition:competition",
    "doctor": "cw.cli.hub_doctor:doctor",
    "settings": "cw.cli.hub_settings:settings_command",
    "backup": "cw.cli.hub_backup:backup_command",
    "restore": "cw.cli.hub_backup:restore_command",
    "db": "cw.cli.hub_db:db",
}


def is_missing() -> bool:
    """Return whether the extra is missing, or a part of it."""
    return any(find_spec(package) is None for package in NEEDED)


class HubCommands(LazyGroup):
    """The commands of `cw hub`."""

    places = COMMANDS

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command; raise UsageError where the extra is missing."""
        if is_missing():
            raise UsageError(
                'cw hub needs the extra "hub": in the repository, pip install ".[hub]"'
            )
        return super().get_command(ctx, cmd_name)


@click.group(cls=HubCommands)
def hub() -> None:
    """Run a site where people bring bots and watch them play.

    \b
      cw hub demo        a hub with people, bots and matches, to look around in
      cw hub serve       your own, in one process, without any setting
    """
