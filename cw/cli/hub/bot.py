"""`cw hub bot`: bots, for the operator."""

from __future__ import annotations

import json

import click

from cw.cli.hub.options import as_json, with_settings
from cw.hub.accounts.users import OPERATOR
from cw.hub.bots import house
from cw.hub.bots import verbs as bots
from cw.hub.bots.verbs import NewBot
from cw.hub.competitions.format import competing
from cw.hub.operation.queue import CeleryQueue
from cw.hub.operation.resources import opened
from cw.hub.operation.settings import HubSettings
from cw.hub.site.formats import FORMATS


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
    help="Signs requests to it; better given as BOT_SECRET. Without one, it is drawn.",
)
@as_json
def add(
    settings: HubSettings, game: str, name: str, url: str, secret: str, *, as_json: bool
) -> None:
    """Let the web service at URL play GAME for the site itself, as NAME; it is checked soon.

    If the site has a bot of that name already, it gets this address, and this secret if one is
    given. It may also be in a network of CW_HOUSE_NETWORK, and then at http://.

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
    click.echo(f"{bot_id} is suspended")


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
    click.echo(f"{bot_id} will be checked")
