"""A bot that hangs in a game where a fault costs no more than the turn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cw.cli import main
from tests.matches.bots_of_games import write


def cw(*arguments: str | int | Path) -> Result:
    return CliRunner().invoke(main, [*map(str, arguments)], catch_exceptions=False)


HANGING = """
import sys, time
sys.stdin.readline()
print('{"ready": true}', flush=True)
for line in sys.stdin:
    print("asked", file=sys.stderr, flush=True)
"""


@pytest.mark.limits_of_the_rules
@pytest.mark.thorough
def test_a_bot_that_hangs_does_not_take_the_whole_time_of_each_turn(tmp_path: Path) -> None:
    bot = f"me={write(tmp_path, HANGING)}"
    match = ("paint", "builtin:walker", bot, "--seed", 1, "--option", "turns=30", "--json")
    file = tmp_path / "match.json"
    result = cw("play", *match, "--out", file)
    faults = json.loads(result.stdout)["players"][1]["faults"]
    assert {(fault["kind"], fault["detail"]) for fault in faults} == {
        ("timeout", "no line came within 0.55 s")
    }
    assert [fault["turn"] for fault in faults] == list(range(30))
    (line,) = [line for line in result.stderr.splitlines() if "timeout" in line]
    assert line.endswith("late 10 times in a row, it was asked in one turn of ten)")
    assert result.stderr.count("asked") - line.count("asked") == 1
    assert "(and the same 11 more times)" in result.stderr
    result = cw("play", *match[:-3], "--option", "turns=14", "--patience", 0, "--no-replay")
    assert "(and the same 13 more times)" in result.stderr
