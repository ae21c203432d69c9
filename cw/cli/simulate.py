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
from cw.matches.simulate import check_names, series, simulate, winner_of
from cw.matches.spec import MatchResult, MatchSpec


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
    specs = list(series(game, strategies, games, seed, given))
    console = Console(stderr=True)
    progress = track(specs, "playing", total=games, console=console, transient=True)
    report = summary(strategies, specs, [simulate(spec) for spec in progress])
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
    strategies: Sequence[str], specs: Sequence[MatchSpec], results: Sequence[MatchResult]
) -> dict[str, Json]:
    """Sum up a series of matches; strategies in the order in which they were given."""
    wins = Counter(map(winner_of, specs, results))
    return {
        "game": specs[0].game,
        "games": len(results),
        "strategies": [
            {
                "name": name,
                "wins": wins[number],
                "interval": list(wilson(wins[number], len(results))),
            }
            for number, name in enumerate(strategies)
        ],
        "without_winner": wins[None],
        "reasons": dict(Counter(result.reason for result in results)),
        "turns": sum(result.turns for result in results),
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
