"""The table in which `cw play` and `cw simulate` summarise several matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cw.cli.output.results import Played
from cw.errors import visible
from cw.matches.verdict import Tally, tallies

HEADINGS: Final = (
    "\nwon", "\ndrawn", "\nlost", "win\nrate", "95 %\nCI", "average\nscore", "\nfaults",
)  # fmt: skip


def print_series(names: Sequence[str], series: Sequence[Played]) -> None:
    """Print a table of the results of the named bots in several matches."""
    first, last = series[0], series[-1]
    console = Console(highlight=False)
    console.print(Text(f"{len(series)} matches of {first.spec.game}, {seeds_of(series)}\n"))
    console.print(table_of(tallies(names, [(match.spec, match.result) for match in series])))
    reasons = Counter(match.result.reason.replace("_", " ") for match in series)
    text = ", ".join(f"{reason} {count}" for reason, count in reasons.most_common())
    console.print(Text(visible(f"\nended by: {text}")))
    if first.file is not None:
        console.print(Text(visible(f"replays: {first.file} to {last.file}")), soft_wrap=True)


def seeds_of(series: Sequence[Played]) -> str:
    """Return the seeds of a series."""
    first, last = series[0].spec.seed, series[-1].spec.seed
    return f"seed {first}" if first == last else f"seeds {first} to {last}"


def table_of(rows: Sequence[Tally]) -> Table:
    """Return the table of a series, highest win rate first."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("\nbot", overflow="fold")
    for heading in HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("won by\nseat", justify="right")
    for tally in sorted(rows, key=lambda row: -row.win_rate):
        table.add_row(*map(Text, cells_of(tally)))
    return table


def cells_of(tally: Tally) -> list[str]:
    """Return the table row of a bot."""
    low, high = tally.interval
    seats = " ".join(f"{part.count('won')}/{len(part.parts)}" for part in tally.seats.values())
    return [
        tally.name,
        *(str(tally.count(came)) for came in ("won", "drawn", "lost")),
        f"{tally.win_rate:.1%}",
        f"{low:.0%}-{high:.0%}",
        "-" if tally.average_score is None else f"{tally.average_score:.1f}",
        str(tally.faults),
        seats,
    ]
