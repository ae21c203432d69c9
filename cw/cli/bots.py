"""`cw bots`: the built-in opponents, and how strong they are."""

from __future__ import annotations

import json

import click

from cw.games.base import StrategyFactory
from cw.games.catalogue import listings, load_strategies


@click.command()
@click.argument("game", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def bots(game: str | None, as_json: bool) -> None:
    """List the built-in strategies of GAME, or of all games, the weakest first.

    Their names are used as builtin:NAME wherever a bot is asked for.
    """
    games = [game] if game else list(listings())
    table = {name: described(name) for name in games}
    if as_json:
        click.echo(json.dumps(table))
        return
    for name, strategies in table.items():
        click.echo(name)
        for strategy, words in strategies.items():
            click.echo(f"  builtin:{strategy:<10} {words}")


def described(game: str) -> dict[str, str]:
    """Give each strategy of a game with the first sentence of its description."""
    return {name: summary(make) for name, make in load_strategies(game).items()}


def summary(strategy: StrategyFactory[object, object]) -> str:
    """Give the first line of a strategy's description."""
    return (strategy.__doc__ or "").strip().partition("\n")[0]
