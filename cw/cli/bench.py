"""`cw bench`: the speed of the arena, relative to reference programs measured in the same run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import click
from rich.console import Console

from cw.assets import asset
from cw.errors import UsageError, choices, short
from cw.extensions import extensions

if TYPE_CHECKING:
    from bench.rows import Effort, Row

PARTS: Final[Mapping[str, str]] = {
    "fast-board": "bench.fast_board",
    "envs": "bench.envs",
    "agents": "bench.agents",
    "status": "bench.status",
    "classroom": "bench.classroom",
    "commands": "bench.commands",
    "match": "bench.match",
    "championship": "bench.championship",
    "code-battle": "bench.code_battle",
    "end-of-codes": "bench.end_of_codes",
    "hexagon": "bench.hexagon",
    "lab": "bench.lab",
    "paint": "bench.paint",
    "replays": "bench.replays",
    "transports": "bench.transports",
    "viewer": "bench.viewer",
    "workshop": "bench.workshop",
}

GROUP: Final = "cw.bench"
"""The entry point group of other packages' benchmark modules; each has a function `rows`."""


def parts_known() -> dict[str, str]:
    """Return the module of each benchmark part, by name: ours, then those of other packages."""
    return {**PARTS, **{point.name: point.value for point in extensions(GROUP)}}


class Part(click.ParamType[str]):
    """The parameter type for the name of a benchmark part."""

    name = "part"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name; raise BadParameter for an unknown part."""
        if value not in parts_known():
            names = choices(value, parts_known())
            self.fail(f"there is no part {short(value)}; {names}", param, ctx)
        return value


class Bench(click.Command):
    """The command; its help also names the benchmark parts of other packages."""

    def format_epilog(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names of the parts that other packages add."""
        if others := parts_known().keys() - PARTS.keys():
            formatter.write_paragraph()
            formatter.write_text(f"Parts of other packages: {', '.join(sorted(others))}.")


@click.command(cls=Bench)
@click.argument("parts", nargs=-1, type=Part(), metavar="[PART]...")
@click.option("--quick", is_flag=True, help="Measure for seconds instead of minutes.")
@click.option("--json", "form", flag_value="json", help="Print the figures as JSON.")
@click.option("--markdown", "form", flag_value="markdown", help="Print the table for the docs.")
def bench(parts: tuple[str, ...], quick: bool, form: str | None) -> None:
    """Measure the speed of the arena, relative to reference programs.

    \b
    PART is any of:
      fast-board   random games, beside OpenSpiel and python-chess
      envs         random games through PettingZoo's interface, and its own
      agents       matches of agent functions, beside kaggle-environments
      status       GET /status, beside fixed bytes and a plain Flask server
      classroom    50 rooms with two clients and a monitor each
      commands     the start of commands, beside an import of click
      match        two processes of game_ai.py without pauses
      championship isolated clients, and matches a second
      code-battle  turns of two armies with both views, beside the plain reference
      end-of-codes rounds of up to 150,000 creatures, beside dictionaries
      hexagon      random battles, beside python-chess and ataxx
      lab          cw replay ask, and comparisons beside matches of cw play
      paint        turns on 20x20, beside the plain reference of the tests
      replays      size of replays, beside those that store every frame in full
      transports   matches over pipes and HTTP, beside bare round trips
      viewer       large replays in Chromium, beside the time of a frame
      workshop     from Run to the picture, from a key press to the disk, Stop

    Without PART all are measured, with a one-page summary: for each the goals that it missed, or
    the one that it met most narrowly. For the parts that you name, all figures are shown.

    Only the ratios can be compared between machines. Missing a goal is a result, not an error.
    """
    check_checkout()
    effort: Effort = getattr(import_module("bench.rows"), "QUICK" if quick else "FULL")
    rows = [row for part in dict.fromkeys(parts or parts_known()) for row in measure(part, effort)]
    show(rows, form or ("table" if parts else "page"))


def check_checkout() -> None:
    """Raise UsageError if the benchmark is missing: wheels do not contain it."""
    if not (asset("bench") / "rows.py").is_file():
        raise UsageError(
            "the benchmark is part of the repository and not of the installed package: clone"
            " the repository, and run `python -m cw bench` there"
        )


def measure(part: str, effort: Effort) -> list[Row]:
    """Run a part, and report its start and end on standard error."""
    module: Any = import_module(parts_known()[part])
    click.echo(f"{part}: {module.__doc__.splitlines()[0]}", err=True)
    start = monotonic()
    rows: list[Row] = module.rows(effort)
    click.echo(f"{part}: done in {monotonic() - start:.0f} s", err=True)
    return rows


def show(rows: list[Row], form: str) -> None:
    """Print the rows in the requested format."""
    report: Any = import_module("bench.report")
    if form == "json":
        click.echo(json.dumps(report.document(rows)))
    elif form == "markdown":
        click.echo(report.markdown(rows))
    else:
        Console().print(report.page(rows) if form == "page" else report.table(rows))
