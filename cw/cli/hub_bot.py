"""`cw hub bot`: what an operator does with bots."""

from __future__ import annotations

import click

from cw.cli.hub_options import with_settings
from cw.hub.jobs.app import CeleryQueue
from cw.hub.resources import opened
from cw.hub.services import bots
from cw.hub.settings import HubSettings

OPERATOR = "operator"


@click.group()
def bot() -> None:
    """Take a bot out of matches, or let it back."""


@bot.command()
@with_settings
@click.argument("bot_id")
@click.argument("reason")
def suspend(settings: HubSettings, bot_id: str, reason: str) -> None:
    """Suspend the bot BOT_ID; its owner reads the REASON."""
    with (
        opened(settings, CeleryQueue(settings)) as resources,
        resources.database.writing() as session,
    ):
        bots.suspend(session, resources.clock, bot_id, reason, OPERATOR)
    click.echo(f"{bot_id} is suspended")


@bot.command()
@with_settings
@click.argument("bot_id")
def restore(settings: HubSettings, bot_id: str) -> None:
    """Lift the suspension of the bot BOT_ID: the next sweep checks it."""
    with (
        opened(settings, CeleryQueue(settings)) as resources,
        resources.database.writing() as session,
    ):
        bots.restore(session, resources.clock, bot_id, OPERATOR)
    click.echo(f"{bot_id} will be checked")
