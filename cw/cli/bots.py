"""`cw bots`: the built-in opponents, and how strong they are."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict

import click

from cw.contests.simulate import check_names
from cw.contests.strength import Strength, ladder, measure
from cw.games.base import StrategyFactory
from cw.games.catalogue import listings, load_strategies

GAME = "circuit-wars"


@click.command()
@click.argument("game", required=False)
@click.option("--measure", "measuring", is_flag=True, help="Let them play, and print who wins.")
@click.option(
    "--pair",
    "pairs",
    nargs=2,
    multiple=True,
    metavar="NAME NAME",
    help="With --measure: this pair; may be repeated. [default: each with the one before]",
)
@click.option("--games", default=200, show_default=True, help="With --measure: games a pair, even.")
@click.option("--seed", default=1, show_default=True, help="With --measure: seed of all draws.")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    default=max(1, (os.cpu_count() or 1) - 1),
    show_default="all cores but one",
    help="With --measure: games at the same time.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one line a pair if measuring.")
def bots(
    game: str | None,
    measuring: bool,
    pairs: tuple[tuple[str, str], ...],
    games: int,
    seed: int,
    jobs: int,
    as_json: bool,
) -> None:
    """List the built-in strategies of GAME, or of all games, the weakest first.

    Their names are used as builtin:NAME wherever a bot is asked for.

    \b
      cw bots circuit-wars
      cw bots circuit-wars --measure --pair expert search --games 40
    """
    if measuring:
        measured = game or GAME
        chosen = list(pairs) or ladder(list(load_strategies(measured)))
        check_names(measured, [name for pair in chosen for name in pair])
        show(measure(measured, chosen, games, seed, jobs), as_json)
    else:
        show_list([game] if game else list(listings()), as_json)


def show(figures: Iterable[Strength], as_json: bool) -> None:
    """Print the figures of each pair as soon as they are there, as lines of a Markdown table."""
    if not as_json:
        click.echo("| strategy | against | games | won | 95 % | median move | longest move |")
        click.echo("|---|---|--:|--:|---|--:|--:|")
    for figure in figures:
        click.echo(json.dumps(asdict(figure)) if as_json else line(figure))


def line(figure: Strength) -> str:
    """Give the table's line of a pair."""
    low, high = figure.interval
    return (
        f"| {figure.strategy} | {figure.opponent} | {figure.games} | {figure.share:.1%}"
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
    """Give each strategy of a game with the first sentence of its description."""
    return {name: summary(make) for name, make in load_strategies(game).items()}


def summary(strategy: StrategyFactory[object, object]) -> str:
    """Give the first line of a strategy's description."""
    return (strategy.__doc__ or "").strip().partition("\n")[0]
