"""`cw simulate --each`: a line for each match."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from click.testing import CliRunner, Result

from cw.cli import main


def simulate(*arguments: str) -> Result:
    command = ["simulate", "hexagon", "greedy", "random", "--games", "3", "--option", "size=2"]
    return CliRunner().invoke(main, [*command, "--jobs", "1", *arguments])


def test_each_match_is_a_line_of_a_spreadsheet(tmp_path: Path) -> None:
    file = tmp_path / "matches.csv"
    done = simulate("--each", str(file))
    assert done.exit_code == 0, done.output
    assert "3 matches of hexagon" in done.stdout
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["match"] for row in rows] == ["1", "2", "3"]
    assert [row["seed"] for row in rows] == ["1", "1", "2"]
    assert [(row["name_1"], row["name_2"]) for row in rows[:2]] == [
        ("greedy", "random"),
        ("random", "greedy"),
    ]
    first = rows[0]
    assert first["winner"] == first[f"name_{first['winner_seat']}"]
    assert int(first["score_1"]) >= 0


def test_each_match_is_a_line_of_json(tmp_path: Path) -> None:
    file = tmp_path / "matches.jsonl"
    assert simulate("--each", str(file), "--json").exit_code == 0
    printed = simulate("--each", "-")
    assert printed.stdout == file.read_text(encoding="utf-8")
    lines = [json.loads(line) for line in printed.stdout.splitlines()]
    assert [line["match"] for line in lines] == [1, 2, 3]
    assert {player["name"] for player in lines[0]["players"]} == {"greedy", "random"}
