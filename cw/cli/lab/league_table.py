"""Terminal output of `cw league`: the table of its versions, and the cross table."""

from __future__ import annotations

from typing import Final

import click
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from cw.lab.comparison import counted
from cw.lab.league import LeagueRow, LeagueStandings

HEADINGS: Final = ("rating", "95 %", "matches", "faults", "since")
MOST_CROSSED: Final = 8
"""Maximum versions in the cross table: more do not fit next to each other."""


def print_league(standing: LeagueStandings) -> None:
    """Print the tables of a league."""
    console = Console(highlight=False)
    # Printed with click: rich would end the command once the reader closes the pipe.
    with console.capture() as text:
        console.print(Text(f"{counted(standing.matches, 'match')}\n"))
        console.print(versions(standing))
        if standing.matches:
            console.print(Text("\nscore of each row against each column, and how many matches\n"))
            console.print(meetings(standing))
    click.echo(text.get(), nl=False)


def live(standing: LeagueStandings) -> Group:
    """Return what the terminal shows while a league is played."""
    return Group(Text(counted(standing.matches, "match")), versions(standing))


def versions(standing: LeagueStandings) -> Table:
    """Return the table of the versions, strongest first."""
    table = Table(box=None, pad_edge=False)
    table.add_column("version", overflow="fold")
    for heading in HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for place in standing.places:
        table.add_row(*map(Text, cells(place)), style="" if place.plays else "dim")
    return table


def cells(place: LeagueRow) -> list[str]:
    """Return the table row of a version."""
    return [
        place.name,
        f"{place.rating.mu:.0f}",
        f"± {place.margin:.0f}",
        str(place.matches),
        str(place.faults),
        place.since or "-",
    ]


def meetings(standing: LeagueStandings) -> Table:
    """Return the cross table of the strongest versions."""
    names = [place.name for place in standing.places[:MOST_CROSSED]]
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for number, _ in enumerate(names, start=1):
        table.add_column(str(number), justify="right", no_wrap=True)
    for number, name in enumerate(names, start=1):
        scores = (scored(standing, name, other) for other in names)
        table.add_row(Text(f"{number} {name}"), *map(Text, scores))
    return table


def scored(standing: LeagueStandings, name: str, other: str) -> str:
    """Return a version's score against another one, as in `62% 13`; "" if they never met."""
    score, matches = standing.cross.get((name, other), (0.0, 0))
    return f"{score / matches:.0%} {matches}" if matches else ""
