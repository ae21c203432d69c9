"""`cw simulate`: plays many matches between built-in strategies, as fast as possible."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from typing import TextIO

import click
from rich.console import Console
from rich.progress import track

from cw.arena.bots import numbered
from cw.cli.options import OPTION, read_option
from cw.cli.output.match_lines import write_each
from cw.cli.output.results import Played, print_match
from cw.cli.output.series_table import print_series
from cw.games.rules import Json
from cw.matches.simulate import named, series, simulate_all
from cw.matches.verdict import tallies


@click.command("simulate")
@click.argument("game")
@click.argument("strategies", nargs=-1, required=True)
@click.option(
    "--games",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Number of matches to play.",
)
@click.option(
    "--seed",
    default=1,
    show_default=True,
    help="Seed of the first match; it changes after each rotation.",
)
@OPTION
@click.option(
    "--jobs",
    type=click.IntRange(1),
    default=os.cpu_count() or 1,
    show_default="all cores",
    help="How many processes play at the same time; the results are the same.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for all matches.")
@click.option(
    "--each",
    type=click.File("w", encoding="utf-8", lazy=True),
    metavar="FILE",
    help="Write a line for each match: CSV if FILE ends in .csv, else JSON; - prints JSON only.",
)
def simulate_command(
    game: str,
    strategies: tuple[str, ...],
    games: int,
    seed: int,
    options: tuple[str, ...],
    jobs: int,
    as_json: bool,
    each: TextIO | None,
) -> None:
    """Play GAME between built-in STRATEGIES, without clocks.

    Seats rotate from match to match, and the seed changes when each has had every seat.
    For one match it prints who won and why; for several, a table.

    \b
      cw simulate circuit-wars greedy safe --games 100
      cw simulate circuit-wars random random --option size=3 --json
      cw simulate hexagon greedy random --games 100 --each matches.csv
    """
    specs = list(series(game, strategies, games, seed, dict(map(read_option, options))))
    console = Console(stderr=True)
    playing = simulate_all(specs, jobs)
    results = list(track(playing, "playing", total=games, console=console, transient=True))
    names = numbered(strategies)
    played = [
        Played(named(spec, names), result) for spec, result in zip(specs, results, strict=True)
    ]
    if each is not None:
        write_each(each, played)
        if each.name == "-":
            return
    if as_json:
        click.echo(json.dumps(summary(names, played)))
    elif games == 1:
        print_match(played[0])
    else:
        print_series(names, played)


def summary(names: Sequence[str], played: Sequence[Played]) -> dict[str, Json]:
    """Summarise a series of matches, with the strategies in the given order."""
    rows = tallies(names, [(match.spec, match.result) for match in played])
    return {
        "game": played[0].spec.game,
        "games": len(played),
        "strategies": [tally.to_json() for tally in rows],
        "without_winner": sum(match.result.winner is None for match in played),
        "reasons": dict(Counter(match.result.reason for match in played)),
        "turns": sum(match.result.turns for match in played),
    }
