"""`cw bots serve`: runs a built-in strategy as a separate bot."""

from __future__ import annotations

import logging
import os
import sys
import time
from functools import partial

import click

from cw.arena.bot_servers import serve_http, serve_lines
from cw.errors import UsageError
from cw.games.registry import load_bot_handler, load_protocol, load_strategy
from cw.games.wire import BotContext
from cw.matches.run import strategy_for

SECRETS = {"secret": "BOT_SECRET", "api_key": "API_KEY", "username": "BOT_USERNAME"}


@click.command()
@click.argument("game")
@click.argument("name")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    envvar="PORT",
    default=0,
    show_default="PORT of the environment, else any",
    help="Port to listen on.  [default: PORT, or any free one]",
)
@click.option("--lines", is_flag=True, help="Use standard input and output, if GAME allows it.")
@click.option("--seed", default=0, show_default=True, help="Seed for all random choices.")
def serve(game: str, name: str, host: str, port: int, lines: bool, seed: int) -> None:
    """Serve the strategy NAME as a bot of GAME, until Ctrl-C.

    Web services print `listening on URL` when they are ready; other bots use standard input
    and output. Secrets come from the environment: BOT_SECRET, API_KEY, BOT_USERNAME.

    \b
      cw bots serve hexagon greedy --port 3000
      cw play hexagon builtin:random http://127.0.0.1:3000
      cw play paint builtin:random "exec:cw bots serve paint greedy"
    """
    load_strategy(game, name)
    logging.basicConfig(stream=sys.stderr, format="%(message)s", level=logging.INFO)
    settings = {key: os.environ[name] for key, name in SECRETS.items() if name in os.environ}
    make = partial(strategy_for, game, name, seed=seed)
    context = BotContext(make, settings, time.time, logging.getLogger(__name__).info)
    service = load_bot_handler(game, context)
    transports = load_protocol(game).transports
    if lines and "lines" not in transports:
        raise UsageError(f"bots of {game} are web services, not programs: leave out --stdio")
    if lines or "http" not in transports:
        serve_lines(service)
    else:
        serve_http(service, host, port, announce)


def announce(address: str) -> None:
    """Report that the bot is ready."""
    click.echo(f"listening on {address}")
    sys.stdout.flush()
