"""`cw tune` from a file of numbers to its result, its files and its comparison."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cw.cli import main
from tests.lab.bots import PATIENCE, painter

pytestmark = pytest.mark.usefixtures("patient_painters")

SHORT = ("--option", "turns=6", "--steps", "4", "--pairs", "1", "--games", "4", "--seed", "1")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder that has the bot and its numbers."""
    monkeypatch.chdir(tmp_path)
    painter(Path())
    Path("numbers.toml").write_text(PATIENCE, encoding="utf-8")


def tune(*arguments: str) -> Result:
    bot = "mine=python:painter.py"
    return CliRunner().invoke(main, ["tune", "paint", bot, "numbers.toml", *arguments])


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
    assert "tuning holds a tuning: --resume goes on with it" in refused.stderr
    assert report(*SHORT, "--resume") == whole
    resumed = steps.read_bytes().splitlines(keepends=True)
    assert resumed[:4] == lines[:4]
    assert len(resumed) == 9
    rows = list(csv.DictReader(Path(whole["csv"]).read_text(encoding="utf-8").splitlines()))
    assert [row["step"] for row in rows] == list("01234")
    assert "4 steps" in Path(whole["picture"]).read_text(encoding="utf-8")


@pytest.mark.thorough
def test_a_tuning_finds_the_number_with_which_a_bot_is_strongest() -> None:
    board = ("--option", "board=rocks", "--option", "turns=12")
    found = report(*board, "--steps", "20", "--pairs", "2", "--seed", "1", "--games", "60")
    assert found["numbers"]["patience"]["start"] == 2
    # It is strongest at 7.
    assert abs(found["numbers"]["patience"]["result"] - 7) <= 1.5
    assert found["comparison"]["verdict"] == "stronger"
