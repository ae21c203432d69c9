"""`cw bots`: the built-in opponents, and how strong they are."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict
from functools import partial
from itertools import chain

import click

from cw.arena.bot_servers import serve_http, serve_lines
from cw.cli.groups import HelpfulGroup
from cw.cli.join import join
from cw.cli.kits import kits
from cw.errors import UsageError, choices, short
from cw.games.registry import (
    game_entries,
    load_bot_handler,
    load_protocol,
    load_strategies,
    load_strategy,
)
from cw.games.rules import StrategyFactory
from cw.games.wire import BotContext
from cw.matches.run import strategy_for
from cw.matches.strength import Strength, ladder, measure

GAME = "circuit-wars"
HEADINGS = (
    "| strategy | against | matches | win rate | 95 % CI"
    " | median response time | longest response time |"
)
SECRETS = {"secret": "BOT_SECRET", "api_key": "API_KEY", "username": "BOT_USERNAME"}


def refuse_unknown(name: str) -> None:
    """Raise UsageError for what is neither a game nor a command below `cw bots`."""
    known = [*game_entries(), *bots.commands]
    if name not in known:
        raise UsageError(f"there is no game or command {short(name)}; {choices(name, known)}")


class Listing(HelpfulGroup):
    """A group in which the name of a game, or nothing, asks for the list."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `list` before what names no subcommand."""
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            for name in (name for name in args[:1] if not name.startswith("-")):
                refuse_unknown(name)
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.group(cls=Listing)
def bots() -> None:
    """List, measure and serve the built-in strategies.

    Use them as builtin:NAME wherever a command takes a bot.

    \b
      cw bots circuit-wars
      cw bots circuit-wars --measure --pair expert search --games 40
      cw bots serve hexagon greedy --port 3000
      cw bots join http://127.0.0.1:5000 greedy

    `cw bots kits` lists bots to start from, for your own.
    """


bots.add_command(join)
bots.add_command(kits)


@bots.command("list")
@click.argument("game", required=False)
@click.option(
    "--measure",
    "measuring",
    is_flag=True,
    help="Play them against each other, and print their win rates.",
)
@click.option(
    "--pair",
    "pairs",
    nargs=2,
    multiple=True,
    metavar="NAME NAME",
    help="With --measure: this pair; may be repeated. [default: each with the one before]",
)
@click.option(
    "--games",
    default=200,
    show_default=True,
    help="With --measure: matches of a pair, an even number.",
)
@click.option("--seed", default=1, show_default=True, help="With --measure: seed of all draws.")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    default=max(1, (os.cpu_count() or 1) - 1),
    show_default="all cores but one",
    help="With --measure: matches at the same time.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON; with --measure an object for each pair."
)
def list_bots(
    game: str | None,
    measuring: bool,
    pairs: tuple[tuple[str, str], ...],
    games: int,
    seed: int,
    jobs: int,
    as_json: bool,
) -> None:
    """List the built-in strategies of GAME or of all, the weakest first."""
    if measuring:
        measured = game or GAME
        chosen = list(pairs) or ladder(list(load_strategies(measured)))
        for name in chain.from_iterable(chosen):
            load_strategy(measured, name)
        show(measure(measured, chosen, games, seed, jobs), as_json)
    else:
        show_list([game] if game else list(game_entries()), as_json)


@bots.command()
@click.argument("game")
@click.argument("name")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    envvar="PORT",
    default=0,
    show_default="PORT of the environment, else any",
    help="Port to listen on.",
)
@click.option("--lines", is_flag=True, help="Speak on standard input and output, if GAME can.")
@click.option("--seed", default=0, show_default=True, help="Seed of all draws.")
def serve(game: str, name: str, host: str, port: int, lines: bool, seed: int) -> None:
    """Serve the strategy NAME as a bot of GAME, until Ctrl-C.

    Bots that are web services say `listening on URL` when they are ready; the others speak on
    standard input and output. Secrets come from the environment: BOT_SECRET, API_KEY, BOT_USERNAME.

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
        raise UsageError(f"bots of {game} are web services, not programs that speak lines")
    if lines or "http" not in transports:
        serve_lines(service)
    else:
        serve_http(service, host, port, announce)


def announce(address: str) -> None:
    """Say that the bot is ready."""
    click.echo(f"listening on {address}")
    sys.stdout.flush()


def show(figures: Iterable[Strength], as_json: bool) -> None:
    """Print the figures of each pair as soon as they are known, as lines of a Markdown table."""
    if not as_json:
        click.echo(HEADINGS)
        click.echo("|---|---|--:|--:|---|--:|--:|")
    for figure in figures:
        click.echo(json.dumps(asdict(figure)) if as_json else line(figure))


def line(figure: Strength) -> str:
    """Return the table's line of a pair."""
    low, high = figure.interval
    return (
        f"| {figure.strategy} | {figure.opponent} | {figure.games} | {figure.win_rate:.1%}"
        f" | {low:.1%} to {high:.1%} | {figure.median_seconds * 1000:.1f} ms"
        f" | {figure.longest_seconds * 1000:.0f} ms |"
    )


def show_list(games: list[str], as_json: bool) -> None:
    """Print the strategies of games, each with what it does."""
    table = {name: described(name) for name in games}
    if as_json:
        click.echo(json.dumps(table))
        return
    for name, strategies in table.items():
        click.echo(name)
        for strategy, words in strategies.items():
            click.echo(f"  builtin:{strategy:<10} {words}")


def described(game: str) -> dict[str, str]:
    """Return each strategy of a game with the first sentence of its description."""
    return {name: summary(make) for name, make in load_strategies(game).items()}


def summary(strategy: StrategyFactory[object, object]) -> str:
    """Return the first line of a strategy's description."""
    return (strategy.__doc__ or "").strip().partition("\n")[0]
