"""`cw championship table`: prints the tables of recorded matches."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import BinaryIO

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cw.championship.recorded import RecordedMatch, read_results
from cw.games.rules import Json
from cw.league.fixtures import Result
from cw.league.standings import SeatAdvantage, TableRow, seat_advantage, table, within_noise

NOISE = "≈"


@click.command("table")
@click.argument("results", type=click.File("rb"))
@click.option("--json", "as_json", is_flag=True, help="Print all tables as one JSON object.")
def table_command(results: BinaryIO, as_json: bool) -> None:
    """Compute all tables from the matches recorded in RESULTS, one JSON object per line.

    \b
      {"group": "1A", "player_1": "ann", "player_2": "bob",
       "status_code": 301, "score_1": 30, "score_2": 19}

    A match that ended by an illegal move or a time-out counts size * size : 0. If RESULTS is -,
    standard input is read.
    """
    tables = Tables.of(list(read_results(results)))
    if as_json:
        click.echo(json.dumps(tables.to_json()))
    else:
        tables.show(Console())


@dataclass(frozen=True, slots=True)
class Tables:
    """All tables of a championship: by group, or by stage for matches without a group."""

    groups: Mapping[str, tuple[TableRow, ...]]
    stages: Mapping[str, tuple[TableRow, ...]]
    seats: SeatAdvantage | None

    @staticmethod
    def of(matches: Sequence[RecordedMatch]) -> Tables:
        """Compute the tables without tie-break matches; the seat advantage includes them."""
        groups: dict[str, list[Result]] = defaultdict(list)
        stages: dict[str, list[Result]] = defaultdict(list)
        for match in matches:
            if match.tie_break:
                continue
            if match.group is not None:
                groups[match.group].append(match.result)
            else:
                stages[match.stage or "all games"].append(match.result)
        return Tables(
            {name: table(results) for name, results in groups.items()},
            {name: table(results) for name, results in stages.items()},
            seat_advantage(match.result for match in matches),
        )

    def to_json(self) -> Json:
        """Return all tables as JSON."""
        parts = {"groups": self.groups, "stages": self.stages}
        document: dict[str, Json] = {
            part: {name: [row_to_json(row) for row in rows] for name, rows in tables.items()}
            for part, tables in parts.items()
        }
        document["figures"] = {
            part: {name: figures_to_json(rows) for name, rows in tables.items()}
            for part, tables in parts.items()
        }
        return document | {"seats": self.seats and seats_to_json(self.seats)}

    def show(self, console: Console) -> None:
        """Print the tables as text."""
        for name, rows in self.groups.items():
            console.print(as_table(f"Group {name}", rows))
        for name, rows in self.stages.items():
            console.print(as_table(name.capitalize(), rows))
        if self.seats is None:
            console.print("No match is over yet.")
            return
        console.print(f"{NOISE} the difference in wins to the next team is within noise")
        console.print(seats_in_words(self.seats), highlight=False)


def row_to_json(row: TableRow) -> Json:
    """Return a row of a table as JSON."""
    return {
        "rank": row.rank,
        "team": row.team,
        "wins": row.record.wins,
        "losses": row.record.losses,
        "score_for": row.record.score_for,
        "score_against": row.record.score_against,
    }


def figures_to_json(rows: Sequence[TableRow]) -> Json:
    """Return statistics, by team, that show how far a table can be trusted."""
    return {
        row.team: {
            "score_ratio": float(row.record.ratio),
            "win_share": float(row.record.win_rate),
            "win_interval": row.record.interval,
            "next_within_noise": noise,
        }
        for row, noise in zip(rows, noise_to_next(rows), strict=True)
    }


def seats_to_json(seats: SeatAdvantage) -> Json:
    """Return the seat advantage as JSON."""
    return {
        "first_wins": seats.first_wins,
        "games": seats.matches,
        "interval": seats.interval,
        "within_noise": seats.within_noise,
    }


def noise_to_next(rows: Sequence[TableRow]) -> list[bool | None]:
    """Return for each team whether its lead over the next is within noise; None for the last."""
    return [*(within_noise(a.record, b.record) for a, b in pairwise(rows)), None]


def as_table(title: str, rows: Sequence[TableRow]) -> Table:
    """Render a table; names are plain text, whatever characters they contain."""
    drawn = Table(title=Text(title), title_justify="left")
    drawn.add_column("", justify="right")
    drawn.add_column("team", overflow="fold")
    for heading in ("won", "lost", "score", "ratio", "won, 95 % interval"):
        drawn.add_column(heading, justify="right", no_wrap=True)
    drawn.add_column("")
    for row, noise in zip(rows, noise_to_next(rows), strict=True):
        drawn.add_row(*map(Text, cells(row)), NOISE if noise else "")
    return drawn


def cells(row: TableRow) -> list[str]:
    """Return the cells of a table row."""
    record, interval = row.record, row.record.interval
    return [
        str(row.rank),
        row.team,
        str(record.wins),
        str(record.losses),
        f"{record.score_for}:{record.score_against}",
        f"{float(record.ratio):.1%}",
        f"{interval.low:.1%} to {interval.high:.1%}" if interval else "",
    ]


def seats_in_words(seats: SeatAdvantage) -> str:
    """Describe how often the first seat won."""
    low, high = seats.interval
    verdict = "within noise of one half" if seats.within_noise else "more than noise explains"
    return (
        f"Player 1 won {seats.first_wins} of {seats.matches} games,"
        f" {seats.first_wins / seats.matches:.1%} ({low:.1%} to {high:.1%}): {verdict}."
    )
