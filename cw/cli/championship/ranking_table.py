"""The ranking of all teams, as a table for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cw.championship.report_document import number
from cw.errors import visible

NUMBERS: Final = ("won", "drawn", "lost", "score", "ratio", "faults")
NOTHING: Final = ("", "0")
WITHOUT_A_TERMINAL: Final = 120
"""Line width in characters if the output is a file or a pipe."""


def print_ranking(page: Mapping[str, Any]) -> None:
    """Print the champion and the ranking of all teams; nothing before the first match is over."""
    rows = page["ranking"]
    if not rows:
        return
    if page["phase"] == "over":
        click.echo(visible(f"{page['headline']}."))
        if page["final"]:
            click.echo(visible(f"{page['final']}."))
    console = Console()
    if not console.is_terminal:
        console.width = WITHOUT_A_TERMINAL
    console.print(ranking_table(rows))


def ranking_table(rows: list[dict[str, Any]]) -> Table:
    """Return the ranking as a table without empty columns."""
    cells = [row_cells(row) for row in rows]
    columns = [name for name in cells[0] if any(cell[name] not in NOTHING for cell in cells)]
    table = Table(box=None, pad_edge=False)
    for name in columns:
        heading = "" if name == "rank" else name
        if name in ("rank", *NUMBERS):
            table.add_column(heading, justify="right", no_wrap=True)
        else:
            table.add_column(heading, overflow="fold")
    for cell in cells:
        # Names are plain text, whatever characters they contain.
        table.add_row(*(Text(visible(cell[name])) for name in columns))
    return table


def row_cells(row: Mapping[str, Any]) -> dict[str, str]:
    """Return a team's cells, by column."""
    return {
        "rank": f"{row['rank']}.",
        "team": row["name"],
        "members": ", ".join(row["members"]),
        "came to": row["reached"],
        "won": str(row["won"]),
        "drawn": str(row["drawn"]),
        "lost": str(row["lost"]),
        "score": f"{number(row['score_for'])}:{number(row['score_against'])}",
        "ratio": f"{row['ratio']:.1%}",
        "faults": str(row["matches_with_faults"]),
    }
