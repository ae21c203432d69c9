"""`cw replay ask`: what it prints, and how it says what it cannot do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cw.cli import main
from cw.replays.document import encode
from tests.matches.playing import play_match

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return what asks a bot about a match that walker has lost against greedy."""
    played = play_match("paint", ["builtin:greedy", "builtin:walker"], 7, {"turns": 6})
    file = tmp_path / "match.json.gz"
    file.write_bytes(encode(played.replay, packed=True))

    def run_command(*arguments: str, code: int = 0) -> Result:
        result = CliRunner().invoke(main, ["replay", "ask", str(file), *arguments])
        assert result.exit_code == code, result.output
        return result

    return run_command


def test_one_turn_is_printed_whole(run: Run) -> None:
    lines = run("builtin:walker", "--turn", "3").stdout.splitlines()
    assert lines[0] == "Turn 3. It was asked:"
    assert '"turns_left":4' in lines[1]
    assert lines[2].startswith('Then: {"type":"walk"')
    assert lines[3].startswith('Now: {"type":"walk"')
    assert lines[3].endswith(" ms, legal)")
    assert lines[4:] == ["The answers are the same."]


def test_all_turns_are_a_list_of_those_that_differ(run: Run) -> None:
    same = run("builtin:walker", "--every").stdout.splitlines()
    [line] = same
    assert line.startswith("6 questions, ")
    assert line.endswith(" s of thinking: 0 answers differ.")
    *differing, line = run("builtin:random", "--every", "--player", "walker").stdout.splitlines()
    assert differing
    assert all(each.startswith("turn ") for each in differing)
    assert f"{len(differing)} answers differ, the first in turn {differing[0][5]}" in line


def test_programs_are_told_each_answer(run: Run) -> None:
    options = ("--every", "--player", "greedy", "--json")
    answers = [json.loads(line) for line in run("builtin:walker", *options).stdout.splitlines()]
    assert [answer["turn"] for answer in answers] == [1, 2, 3, 4, 5, 6]
    assert {answer["verdict"] for answer in answers} == {"legal"}
    assert all(answer["changed"] == (answer["before"] != answer["after"]) for answer in answers)


def test_a_bot_that_is_wrong_gives_exit_code_1(run: Run, tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text("def agent(view):\n    print('hm', view['turns_left'])\n    return {}\n")
    arguments = (f"python:{bot}:agent", "--player", "walker", "--sandbox", "off")
    answer = run(*arguments, "--turn", "2", "--cold", code=1).stdout.splitlines()
    assert "Now: " in answer[3]
    assert "malformed" in answer[3] or "illegal" in answer[3]
    assert answer[4:6] == ["The answers differ.", "It wrote to its standard error:"]
    last = run(*arguments, "--every", code=1).stdout.splitlines()[-1]
    assert last.endswith("; 6 of them illegal or missing.")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("builtin:walker",), "--turn N, or all turns with --every"),
        (("builtin:walker", "--turn", "1", "--every"), "--turn N, or all turns with --every"),
        (("builtin:walker", "--every", "--cold"), "--cold asks about one turn"),
        (("builtin:walker", "--turn", "7"), "had nothing to answer in turn 7"),
        (("builtin:random", "--turn", "1"), "random did not play in this match"),
        (("builtin:walker", "--turn", "1", "--player", "ann"), "there is no player 'ann'"),
        (("builtin:valker", "--turn", "1", "--player", "walker"), "walker"),
        (("nothing.py", "--turn", "1"), "there is no file 'nothing.py'"),
        (("builtin:walker", "--turn", "1", "--set", "x.form=lines"), "--set takes NAME.KEY=VALUE"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(
    run: Run, arguments: tuple[str, ...], message: str
) -> None:
    result = run(*arguments, code=2)
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.output
