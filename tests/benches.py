"""The benchmark with the least effort, for tests of what it measures."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Collection, Iterator, Mapping
from importlib import import_module
from typing import Any, ClassVar, Literal

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from bench import report
from bench.rows import INSTALL, Effort, Goal, Row
from cw.cli import main

TINY = Effort(repeats=2, seconds=0.005, matches=1, rooms=2, size=1)


class Recorded(subprocess.Popen[str]):
    """A process that is remembered."""

    started: ClassVar[list[subprocess.Popen[str]]] = []

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.started.append(self)


@pytest.fixture(name="processes")
def started_processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[str]]]:
    """All processes that are started; none may be left after the test."""
    monkeypatch.setattr(subprocess, "Popen", Recorded)
    monkeypatch.setattr(Recorded, "started", [])
    yield Recorded.started
    assert all(process.returncode is not None for process in Recorded.started)


def check(rows: list[Row], part: str) -> None:
    assert rows
    for row in rows:
        assert row.part == part
        assert row.what
        assert row.unit
        assert row.yardstick
        assert row.ours is not None
        assert row.ours >= 0
        assert row.ratio is not None or row.note == INSTALL
        assert row.met is None or row.aim


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["bench", *arguments])


def measured_at_once(monkeypatch: pytest.MonkeyPatch, parts: Mapping[str, str]) -> list[str]:
    """Return the parts that are measured where none is named, while each gives one row at once."""
    for part, module in parts.items():
        row = Row(part, "what", 1, "unit", "yardstick", 2)
        monkeypatch.setattr(import_module(module), "rows", lambda _, row=row: [row])
    return [row["part"] for row in json.loads(run("--quick", "--json").stdout)["rows"]]


def printed(rows: list[Row]) -> list[str]:
    console = Console(width=80)
    with console.capture() as captured:
        console.print(report.page(rows))
    return [line.rstrip() for line in captured.get().splitlines() if line.strip()]


def check_figures(text: str, parts: Collection[str]) -> None:
    """Check that the tables of a text have figures of these parts, which fit on a page."""
    rows = [*documented(text)]
    assert {row.part for row in rows} == set(parts)
    page = printed(rows)
    assert len(page) <= 60
    assert max(map(len, page)) <= 80
    marks = re.findall(r"^\| .* \| [\d.,]+ \S+ \| .* \| (yes|no|n/a) \|$", text, re.M)
    assert marks == [report.MET[row.met] for row in rows]


def documented(text: str) -> Iterator[Row]:
    """Yield the rows of the table of figures."""
    form = r"\| ([\w-]+): (.*) \| ([\d.,]+) (\S+) \| (.*): [\d.,]+ \| ([\d.,]+) \| (.*) \| \S+ \|"
    for part, what, ours, unit, yardstick, ratio, goal in re.findall(form, text):
        mine, times = (float(figure.replace(",", "")) for figure in (ours, ratio))
        sign, *bound = goal.split(" ", 2)
        side: Literal["ratio", "ours"] = "ratio" if bound and bound[1] == "x" else "ours"
        aim = Goal(sign, float(bound[0].replace(",", "")), side) if bound else None
        yield Row(part, what, mine, unit, yardstick, mine / times if times else None, aim)
