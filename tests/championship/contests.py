"""Teams for championships that are really played, and what stands in their folders."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from cw.assets import asset
from cw.championship.entries import Entry
from cw.cli import main
from tests.patience import PROGRAM

CLIENT = asset("game_ai.py").read_text(encoding="utf-8")
FIRST_FREE = CLIENT.replace("random.choice(board.free_borders())", "board.free_borders()[0]")


def make_teams(folder: Path, sources: dict[str, str], program: str = "game_ai.py") -> Path:
    """Write a folder for each team."""
    for team, source in sources.items():
        (folder / team).mkdir(parents=True)
        (folder / team / program).write_text(source, encoding="utf-8")
    return folder


def built_in(file: Path, strategies: Iterable[str]) -> Path:
    """Write a file of teams, each a built-in strategy under its own name."""
    tables = [f'[teams.{name}]\nbot = "builtin:{name}"\n' for name in strategies]
    file.write_text("".join(tables), encoding="utf-8")
    return file


def cw(*arguments: str | float | Path) -> Result:
    return CliRunner().invoke(main, ["championship", *map(str, arguments)])


def run_in_background(teams: Path, out: Path, *more: str) -> subprocess.Popen[bytes]:
    command = [*PROGRAM, "championship", "run", str(teams), "--out", str(out)]
    command += ["--resume", "--no-validate", *more]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@contextmanager
def service(program: Path, **more: str) -> Iterator[str]:
    """Run a web service that prints where it listens, with more variables."""
    command = [sys.executable, str(program)]
    environment = {**os.environ, "PORT": "0", **more}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        try:
            yield line.removeprefix("listening on ").strip()
        finally:
            process.kill()


def wait_for_a_result(out: Path) -> None:
    """Wait until a match is over: from then on, Ctrl-C finishes those in flight."""
    until = time.monotonic() + 300
    file = out / "results.jsonl"
    while not (file.exists() and file.stat().st_size):
        assert time.monotonic() < until
        time.sleep(0.05)


def lines_of(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]


def report_of(out: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((out / "report" / "report.json").read_text())
    return report


def tables_of(out: Path) -> Any:
    report = report_of(out)
    return report["standings"], report["bracket"], report["order"]


def entry(first: str, second: str, round_: int = 1, **changed: Any) -> Entry:
    """Return a match of a gauntlet that the first team has won by 5:4."""
    base: dict[str, Any] = {"tie_break": 0, "ranks": (1, 2), "scores": (5, 4), "reason": "finished"}
    return Entry("gauntlet", None, round_, (first, second), **(base | changed))
