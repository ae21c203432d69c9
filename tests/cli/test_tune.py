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
    # The bot draws lots of its own, so its numbers may move elsewhere.
    assert report(*SHORT, "--resume")["steps"] == whole["steps"] == 4
    resumed = steps.read_bytes().splitlines(keepends=True)
    assert resumed[:4] == lines[:4]
    assert len(resumed) == 9
    rows = list(csv.DictReader(Path(whole["csv"]).read_text(encoding="utf-8").splitlines()))
    assert [row["step"] for row in rows] == list("01234")
    assert "4 steps" in Path(whole["picture"]).read_text(encoding="utf-8")
