"""`cw simulate`: games between built-in strategies, as many and as fast as they go."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

import click
import msgspec
from rich.console import Console
from rich.progress import track

from cw.games.rules import Json
from cw.league.intervals import wilson
from cw.matches.simulate import SimulatedGame, check_names, simulate


@click.command("simulate")
@click.argument("game")
@click.argument("strategies", nargs=-1, required=True)
@click.option("--games", type=click.IntRange(1), default=1, show_default=True, help="How many.")
@click.option("--seed", default=1, show_default=True, help="Seed of the first game.")
@click.option("--option", "options", multiple=True, metavar="KEY=VALUE", help="Option of the game.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def simulate_command(
    game: str,
    strategies: tuple[str, ...],
    games: int,
    seed: int,
    options: tuple[str, ...],
    as_json: bool,
) -> None:
    """Play GAME between built-in STRATEGIES in this process.

    The seats rotate from game to game, and the seed changes when everyone had every seat.

    \b
      cw simulate circuit-wars greedy safe --games 100
      cw simulate circuit-wars random random --option size=3 --json
    """
    check_names(game, strategies)
    given = dict(map(read_option, options))
    series = simulate(game, strategies, games, seed, given)
    progress = track(series, "playing", total=games, console=Console(stderr=True), transient=True)
    report = summary(game, strategies, list(progress))
    click.echo(json.dumps(report) if as_json else in_words(report))


def read_option(text: str) -> tuple[str, Json]:
    """Read `key=value`; a value that is no JSON is text."""
    key, equals, value = text.partition("=")
    if not equals:
        raise click.UsageError(f"--option takes KEY=VALUE, not {text!r}")
    try:
        return key, msgspec.json.decode(value)
    except msgspec.DecodeError:
        return key, value


def summary(
    game: str, strategies: Sequence[str], played: Sequence[SimulatedGame]
) -> dict[str, Json]:
    """Sum up a series of games; strategies in the order in which they were given."""
    wins = Counter(game.winner for game in played)
    return {
        "game": game,
        "games": len(played),
        "strategies": [
            {
                "name": name,
                "wins": wins[number],
                "interval": list(wilson(wins[number], len(played))),
            }
            for number, name in enumerate(strategies)
        ],
        "without_winner": wins[None],
        "reasons": dict(Counter(game.outcome.reason for game in played)),
        "turns": sum(game.turns for game in played),
    }


def in_words(report: dict[str, Json]) -> str:
    """Say a summary in lines."""
    lines = [f"{report['games']} games of {report['game']}, {report['turns']} turns"]
    for strategy in report["strategies"]:
        low, high = strategy["interval"]
        share = strategy["wins"] / report["games"]
        lines.append(f"  {strategy['name']:<12} won {share:6.1%}   ({low:.1%} to {high:.1%})")
    if report["without_winner"]:
        lines.append(f"  {'nobody':<12} won {report['without_winner'] / report['games']:6.1%}")
    reasons = ", ".join(f"{reason} {count}" for reason, count in report["reasons"].items())
    return "\n".join([*lines, f"  ended by: {reasons}"])
