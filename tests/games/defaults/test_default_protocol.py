"""The default protocol over real pipes, with a game whose players act at the same time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cw.errors import UsageError
from cw.games import registry
from cw.games.registry import GAMES
from tests.interpreter import PYTHON
from tests.matches.playing import Played, play_match

WAITING = """
import json, pathlib, sys, time
folder = pathlib.Path(sys.argv[1])
for line in sys.stdin:
    question = json.loads(line)
    turn = question["turn"]
    (folder / f"{question['player']}-{turn}").touch()
    while len(list(folder.glob(f"*-{turn}"))) < 2:
        time.sleep(0.01)
    action = {"type": "walk", "direction": [0, 1]}
    print(json.dumps({"turn": turn, "action": action}), flush=True)
"""
"""Answers no turn before the other one has been asked for it too."""

SILENT = "import sys\nfor line in sys.stdin:\n    pass\n"
ENDING = "import sys\nsys.stdin.readline()\nsys.exit(3)\n"


@pytest.fixture(autouse=True)
def paint_without_a_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = replace(GAMES["paint"], protocol=None, bot_handler=None, checks=None)
    monkeypatch.setattr(registry, "GAMES", {**GAMES, "paint": plain})


def program(folder: Path, text: str, *arguments: object) -> str:
    file = folder / "bot.py"
    file.write_text(text, encoding="utf-8")
    return f"exec:{PYTHON} {file} {' '.join(map(str, arguments))}"


def play(*bots: str, turns: int = 3, timeout: float = 60) -> Played:
    return play_match("paint", bots, 1, {"turns": turns, "timeout": timeout}, sandbox="off")


def test_all_who_are_to_move_are_asked_at_the_same_time(tmp_path: Path) -> None:
    # A bot gets a copy of its own folder: they meet in another one.
    for name in ("bot", "meeting"):
        (tmp_path / name).mkdir()
    bot = program(tmp_path / "bot", WAITING, tmp_path / "meeting")
    played = play(bot, bot)
    assert played.result.faults == ()
    assert played.result.turns == 3


@pytest.mark.limits_of_the_rules
def test_who_says_nothing_is_late_in_every_turn(tmp_path: Path) -> None:
    played = play(program(tmp_path, SILENT), "builtin:walker", timeout=0.01, turns=1)
    assert [(fault.bot, fault.kind) for fault in played.result.faults] == [(0, "timeout")]


def test_a_program_that_has_crashed_is_asked_no_more(tmp_path: Path) -> None:
    played = play(program(tmp_path, ENDING), "builtin:walker")
    [fault] = played.result.faults
    assert (fault.bot, fault.turn, fault.kind) == (0, 0, "crashed")
    assert "exit code 3" in fault.detail
    first = [turn["actions"]["p1"] for turn in played.replay["turns"]]
    assert [reply["fault"] for reply in first] == ["crashed"] * 3


@pytest.mark.parametrize("timeout", [0, -1, 3601, float("inf"), float("nan"), "1", True, None])
def test_a_time_limit_is_a_number_of_seconds(timeout: object) -> None:
    with pytest.raises(UsageError, match="timeout must be a number of seconds"):
        play_match("paint", ["builtin:walker"] * 2, 1, {"timeout": timeout})


def test_views_that_nobody_reads_are_not_served() -> None:
    with pytest.raises(UsageError, match="its codec does not read views"):
        registry.load_bot_handler("paint", None)  # type: ignore[arg-type]
