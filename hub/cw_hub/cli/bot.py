"""`cw hub bot`: bots, for the operator."""

from __future__ import annotations

import json

import click

from cw_hub.accounts.users import OPERATOR
from cw_hub.bots import house
from cw_hub.bots import verbs as bots
from cw_hub.bots.verbs import NewBot
from cw_hub.cli.options import as_json, with_settings
from cw_hub.competitions.format import competing
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import opened
from cw_hub.operation.settings import HubSettings
from cw_hub.site.formats import FORMATS


@click.group()
def bot() -> None:
    """Add a web service as a bot; suspend or restore a bot."""


@bot.command()
@with_settings
@click.argument("game")
@click.argument("name")
@click.argument("url")
@click.option(
    "--secret",
    envvar="BOT_SECRET",
    default="",
    help="Secret that signs requests to the bot; safer in BOT_SECRET.  [default: a random one]",
)
@as_json
def add(
    settings: HubSettings, game: str, name: str, url: str, secret: str, *, as_json: bool
) -> None:
    """Add the web service at URL as the house bot NAME of GAME; it is checked soon.

    An existing house bot of that name gets the new address, and the new secret if one is given.
    Addresses in CW_HOUSE_NETWORK are allowed, also with http://.

    \b
      cw hub bot add code-battle Rusher-2 http://strategy-rusher:8080
    """
    with (
        opened(settings, CeleryQueue(settings)) as resources,
        resources.database.writing() as session,
    ):
        added = house.add_service(session, resources, NewBot(game, name, url), secret)
        competing(FORMATS).enter(session, added.id)
    if as_json:
        click.echo(json.dumps({"bot_id": added.bot_id, "name": name, "secret": added.secret}))
        return
    click.echo(f"{added.bot_id}: {name} at {url}")
    if added.secret:
        click.echo(f"BOT_SECRET={added.secret}")


@bot.command()
@with_settings
@click.argument("bot_id")
@click.argument("reason")
def suspend(settings: HubSettings, bot_id: str, reason: str) -> None:
    """Suspend the bot BOT_ID; its owner sees the REASON."""
    with (
        opened(settings, CeleryQueue(settings)) as resources,
        resources.database.writing() as session,
    ):
        bots.suspend(session, resources.clock, bot_id, reason, OPERATOR)
    click.echo(f"suspended {bot_id}")


@bot.command()
@with_settings
@click.argument("bot_id")
def restore(settings: HubSettings, bot_id: str) -> None:
    """Restore the suspended bot BOT_ID; the next sweep checks it."""
    with (
        opened(settings, CeleryQueue(settings)) as resources,
        resources.database.writing() as session,
    ):
        bots.restore(session, resources.clock, bot_id, OPERATOR)
    click.echo(f"restored {bot_id}: it will be checked")
