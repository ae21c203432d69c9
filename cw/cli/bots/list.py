"""`cw bots list`, the default of `cw bots`: lists the built-in strategies."""

from __future__ import annotations

import json
import os
from pkgutil import resolve_name

import click

from cw.games.registry import game_entries, load_strategies
from cw.games.rules import StrategyFactory

GAME = "circuit-wars"


@click.command("list")
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
    help="With --measure: this pair; may be repeated. [default: each against the one before]",
)
@click.option(
    "--games",
    default=200,
    show_default=True,
    help="With --measure: matches of a pair, an even number.",
)
@click.option(
    "--seed", default=1, show_default=True, help="With --measure: seed for all random choices."
)
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
    """List the built-in strategies of GAME, or of all games, weakest first."""
    if measuring:
        figures = resolve_name("cw.cli.bots.figures:print_figures")
        figures(game or GAME, pairs, games, seed, jobs, as_json=as_json)
    else:
        show_list([game] if game else list(game_entries()), as_json)


def show_list(games: list[str], as_json: bool) -> None:
    """Print the strategies of games, each with its description."""
    table = {name: described(name) for name in games}
    if as_json:
        click.echo(json.dumps(table))
        return
    for name, strategies in table.items():
        click.echo(name)
        for strategy, words in strategies.items():
            click.echo(f"  builtin:{strategy:<10} {words}")


def described(game: str) -> dict[str, str]:
    """Return each strategy of a game with the first line of its description."""
    return {name: summary(make) for name, make in load_strategies(game).items()}


def summary(strategy: StrategyFactory[object, object]) -> str:
    """Return the first line of a strategy's description."""
    return (strategy.__doc__ or "").strip().partition("\n")[0]
