"""`cw tune` from a file of numbers to its result, its files and its comparison."""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cw.cli import main
from tests.arena.zoo import wait_until
from tests.effort import amount
from tests.lab.bots import PATIENCE, painter
from tests.lab.journals import matches, wait_for
from tests.patience import PROGRAM
from tests.processes import descendants, is_running

pytestmark = pytest.mark.usefixtures("patient_painters")

TUNE = ("tune", "paint", "mine=python:painter.py", "numbers.toml")
SHORT = ("--option", "turns=6", "--steps", "4", "--pairs", "1", "--games", "4", "--seed", "1")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder that has the bot and its numbers."""
    monkeypatch.chdir(tmp_path)
    painter(Path())
    Path("numbers.toml").write_text(PATIENCE, encoding="utf-8")


def tune(*arguments: str) -> Result:
    return CliRunner().invoke(main, [*TUNE, *arguments])


def report(*arguments: str) -> dict[str, Any]:
    result = tune(*arguments, "--json")
    assert result.stdout, result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def test_a_tuning_that_was_cut_off_goes_on_and_plays_no_match_again() -> None:
    whole = report(*SHORT)
    assert whole["numbers"]["patience"]["start"] == 2
    assert whole["settings"] == {"patience": str(round(whole["numbers"]["patience"]["result"]))}
    steps = Path("tuning", "steps.jsonl")
    lines = steps.read_bytes().splitlines(keepends=True)
    # A head, and the two matches of each of four steps.
    assert len(lines) == 9
    steps.write_bytes(b"".join(lines[:4]) + lines[4][:20])
    Path("tuning", "comparison.jsonl").unlink(missing_ok=True)
    refused = tune(*SHORT)
    assert refused.exit_code == 2
    assert "tuning holds a tuning already: continue it with --resume" in refused.stderr
    assert report(*SHORT, "--resume") == whole
    resumed = steps.read_bytes().splitlines(keepends=True)
    assert resumed[:4] == lines[:4]
    assert len(resumed) == 9
    rows = list(csv.DictReader(Path(whole["csv"]).read_text(encoding="utf-8").splitlines()))
    assert [row["step"] for row in rows] == list("01234")
    assert "4 steps" in Path(whole["picture"]).read_text(encoding="utf-8")


def test_a_comparison_without_a_pair_is_refused_before_anything_is_played() -> None:
    refused = tune(*SHORT, "--players", "4")
    assert refused.exit_code == 2
    assert "--games must be at least 8, one pair of matches" in refused.stderr
    assert not Path("tuning").exists()


@pytest.mark.thorough
def test_no_kill_loses_or_doubles_a_step() -> None:
    """Kill a tuning again and again: it ends where one that nobody has killed does."""
    kills, journal = amount(2, 4, "CW_KILLS"), Path("tuning", "steps.jsonl")
    plan = (*SHORT, "--steps", str(6 * kills), "--jobs", "2")
    command = [*PROGRAM, *TUNE, *plan, "--resume"]
    before: list[dict[str, Any]] = []
    for _ in range(kills):
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            wait_for(process, journal, len(before) + 3)
            below = descendants(process.pid)
            process.kill()
        wait_until(lambda below=below: not any(map(is_running, below)))  # type: ignore[misc]
        assert matches(journal)[: len(before)] == before
        before = matches(journal)
    killed, alone = report(*plan, "--resume"), report(*plan, "--out", "alone")
    paths = {"csv": "", "picture": ""}
    assert killed | paths == alone | paths
    assert Path(killed["csv"]).read_bytes() == Path(alone["csv"]).read_bytes()
    steps = matches(journal)
    assert steps[: len(before)] == before
    # Two matches of each step, each of them once.
    assert len(steps) == 12 * kills
    assert sorted(steps, key=str) == sorted(matches(Path("alone", "steps.jsonl")), key=str)


@pytest.mark.thorough
def test_a_tuning_finds_the_number_with_which_a_bot_is_strongest() -> None:
    board = ("--option", "board=rocks", "--option", "turns=12")
    result = report(*board, "--steps", "20", "--pairs", "2", "--seed", "1", "--games", "60")
    assert result["numbers"]["patience"]["start"] == 2
    # It is strongest at 7.
    assert abs(result["numbers"]["patience"]["result"] - 7) <= 1.5
    assert result["comparison"]["verdict"] == "stronger"
