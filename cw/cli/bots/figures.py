"""`cw bots --measure`: measures the strength of the built-in strategies."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import chain

import click

from cw.games.registry import load_strategies, load_strategy
from cw.matches.simulate import Strength, ladder, measure

HEADINGS = (
    "| strategy | against | matches | win rate | 95 % CI"
    " | median response time | longest response time |"
)


def print_figures(
    game: str,
    pairs: Sequence[tuple[str, str]],
    games: int,
    seed: int,
    jobs: int,
    *,
    as_json: bool,
) -> None:
    """Measure pairs, by default those of `ladder`, and print their statistics."""
    matchups = list(pairs) or ladder(list(load_strategies(game)))
    for name in chain.from_iterable(matchups):
        load_strategy(game, name)
    show(measure(game, matchups, games, seed, jobs), as_json)


def show(figures: Iterable[Strength], as_json: bool) -> None:
    """Print each pair's statistics as soon as they are known: as Markdown rows or JSON lines."""
    if not as_json:
        click.echo(HEADINGS)
        click.echo("|---|---|--:|--:|---|--:|--:|")
    for figure in figures:
        click.echo(json.dumps(asdict(figure)) if as_json else line(figure))


def line(figure: Strength) -> str:
    """Return a pair's row of the Markdown table."""
    low, high = figure.interval
    return (
        f"| {figure.strategy} | {figure.opponent} | {figure.games} | {figure.win_rate:.1%}"
        f" | {low:.1%} to {high:.1%} | {figure.median_seconds * 1000:.1f} ms"
        f" | {figure.longest_seconds * 1000:.0f} ms |"
    )
