"""Benchmark reports: a page or a table for the terminal, a table for the docs, and JSON."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from typing import Any, Final

from rich.box import SIMPLE_HEAD
from rich.table import Table

from bench.rows import Row

HEADINGS: Final = ("what", "ours", "yardstick", "ratio", "goal", "met")
NUMBERS: Final = frozenset({"ours", "ratio"})
MET: Final[Mapping[bool | None, str]] = {True: "yes", False: "no", None: "n/a"}


def page(rows: Sequence[Row]) -> Table:
    """Lay out what all parts came to: for each its missed goals, else the one it met least."""
    judged = [row for row in rows if row.met is not None]
    title = f"{machine()}: {counted(judged)} goals met"
    grid = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("part", "met", "nearest to its goal, or missed"):
        grid.add_column(heading, no_wrap=heading != "nearest to its goal, or missed")
    grid.add_column("figure", justify="right", no_wrap=True)
    grid.add_column("goal", no_wrap=True)
    for part in dict.fromkeys(row.part for row in rows):
        of_part = [row for row in rows if row.part == part]
        heads = (part, counted([row for row in of_part if row.met is not None]))
        for row in key_rows(of_part):
            what = f"{row.what} ({row.note})" if row.note else row.what
            grid.add_row(*heads, what, figure(row), row.goal or "none")
            heads = ("", "")
    return grid


def counted(rows: Sequence[Row]) -> str:
    """Say how many of some goals are met."""
    return f"{sum(row.met is True for row in rows)}/{len(rows)}"


def key_rows(rows: Sequence[Row]) -> Sequence[Row]:
    """Return the rows that say most of a part: the missed ones, else one alone."""
    missed = [row for row in rows if row.met is False]
    judged = sorted((row for row in rows if row.met), key=lambda row: row.margin or 0)
    return missed or judged[:1] or rows[:1]


def figure(row: Row) -> str:
    """Print what the goal of a row is about."""
    unit = row.unit if row.aim and row.aim.of == "ours" else "x"
    return "n/a" if row.figure is None else f"{number(row.figure)} {unit}"


def table(rows: Sequence[Row]) -> Table:
    """Lay out the rows for reading."""
    grid = Table(title=machine(), title_justify="left")
    for heading in HEADINGS:
        wraps = heading in ("what", "yardstick")
        justify: Any = "right" if heading in NUMBERS else "left"
        grid.add_column(heading, justify=justify, no_wrap=not wraps, overflow="fold")
    for row in rows:
        grid.add_row(*cells(row))
    return grid


def markdown(rows: Sequence[Row]) -> str:
    """Print the rows as docs/performance.md shows them."""
    rules = ("--:" if heading in NUMBERS else "---" for heading in HEADINGS)
    lines = [HEADINGS, tuple(rules), *map(cells, rows)]
    return "\n".join([f"{machine()}:", "", *(f"| {' | '.join(line)} |" for line in lines)])


def document(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the figures and the machine for other programs."""
    return {
        "date": date.today().isoformat(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "rows": [entry(row) for row in rows],
    }


def entry(row: Row) -> dict[str, Any]:
    """Return a row as JSON, with what follows from its figures."""
    stored = asdict(row)
    del stored["aim"]
    return stored | {"ratio": row.ratio, "goal": row.goal, "met": row.met}


def machine() -> str:
    """Say when and where this is measured."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{date.today()}, {os.cpu_count()} cores, {python} on {platform.system()}"


def cells(row: Row) -> tuple[str, ...]:
    """Print a row; the note takes the place of a yardstick's figure that is missing."""
    return (
        f"{row.part}: {row.what}",
        f"{number(row.ours)} {row.unit}",
        f"{row.yardstick}: {row.note or number(row.theirs)}",
        number(row.ratio),
        row.goal or "none",
        MET[row.met],
    )


def number(figure: float | None) -> str:
    """Print a figure with three digits that count, or all of its whole ones."""
    if figure is None:
        return "n/a"
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.3g}"
