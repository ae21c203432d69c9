"""`cw compare` from the command line to its verdict and its file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cw.cli import main
from cw.games.registry import GAMES
from cw.lab.journal import read_head
from cw.matches.workers import AHEAD
from tests.lab.bots import painter
from tests.lab.journals import matches, wait_for
from tests.matches.bots_of_games import PAINT, write
from tests.processes import descendants

pytestmark = pytest.mark.usefixtures("patient_painters")

SHORT = ("--option", "turns=12", "--seed", "1")
DUEL = ("compare", "paint", "v2=builtin:walker", "v1=builtin:random", *SHORT)
EVEN = ("compare", "paint", "a=builtin:random", "b=builtin:random", *SHORT)
ENDLESS = (*EVEN, "--elo1", "1")
"""None of its matches decides it before the test does something to it, however late that is."""

FOR_HOURS = (*ENDLESS, "--games", "100000", "--jobs", "2")

STRONGER = {
    "circuit-wars": ("safe", "greedy", "size=5"),
    "hexagon": ("greedy", "random", "size=3"),
    "code-battle": ("strategist", "random", "max_turns=500"),
    "end-of-codes": ("hunter", "sample", "M=10"),
    "paint": ("greedy", "random", "turns=100"),
}
"""Of each game two quick strategies, the stronger one first, and an option of short matches."""


def cw(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [*map(str, arguments)])


def report(*arguments: str | Path) -> dict[str, Any]:
    result = cw(*arguments, "--json")
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def ids(file: Path) -> Counter[str]:
    return Counter(match["id"] for match in matches(file))


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work where files may be written."""
    monkeypatch.chdir(tmp_path)


def test_a_stronger_bot_is_told_in_a_sentence_and_by_exit_code_0() -> None:
    result = cw(*DUEL)
    assert result.exit_code == 0, result.output
    assert result.stdout == (
        "v2 is stronger than v1: at least +336 Elo after 22 matches (SPRT passed, 5 % error)\n"
    )
    assert "2 matches, score 100.0%" in result.stderr
    assert "left" in result.stderr
    assert "seed 1, matches: comparisons" in result.stderr
    assert ids(Path("comparisons", "paint-1.jsonl"))["pair-10-1"] == 1


@pytest.mark.thorough
def test_the_same_seed_gives_the_same_verdict_however_many_are_played_at_once() -> None:
    first, second = (report(*DUEL, "--jobs", jobs, "--resume", jobs) for jobs in "13")
    assert first | {"file": ""} == second | {"file": ""}
    assert first["verdict"] == "stronger"
    assert first["faults"] == {}


@pytest.mark.thorough
def test_a_weaker_bot_is_not_stronger_and_exit_code_1_says_so() -> None:
    result = cw("compare", "paint", "v2=builtin:random", "v1=builtin:walker", *SHORT)
    assert result.exit_code == 1
    assert result.stdout.startswith("v2 is not 20 Elo stronger than v1: at most -")


@pytest.mark.thorough
def test_few_matches_leave_it_undecided_and_more_of_them_go_on() -> None:
    undecided = cw(*EVEN, "--games", "20", "--resume", "even.jsonl")
    assert undecided.exit_code == 3
    assert undecided.stdout.startswith("undecided after 20 matches: a is at ")
    assert sum(ids(Path("even.jsonl")).values()) == 20
    assert cw(*EVEN, "--games", "24", "--resume", "even.jsonl").exit_code == 3
    assert set(ids(Path("even.jsonl")).values()) == {1}
    assert len(ids(Path("even.jsonl"))) == 24


@pytest.mark.thorough
def test_faults_are_listed_beside_a_result_that_counts_them(tmp_path: Path) -> None:
    broken = write(tmp_path, PAINT.replace('"walk"', '"fly"'))
    result = cw("compare", "paint", f"mine={broken}", "v1=builtin:walker", *SHORT)
    assert result.exit_code == 1
    assert "mine: 240 faults in 20 matches (" in result.stdout
    assert "the first in turn 1 of seed 1, mine against v1: " in result.stdout


OPTION = ("--option", "obstacle_percent=10")
REPEATED = f"undecided: these bots repeat one match; vary the start with `{' '.join(OPTION)}`"


@pytest.mark.thorough
def test_matches_that_repeat_are_no_news(tmp_path: Path) -> None:
    file = write(tmp_path, PAINT)
    bots = (f"a={file}", f"b={file}")
    result = report("compare", "paint", *bots, *SHORT, "--games", "40")
    assert (result["matches"], result["repeated_pairs"]) == (10, 4)
    assert (result["verdict"], result["sentence"]) == ("undecided", REPEATED)
    # A match that was begun beside the last one that counts may be over too.
    played = ids(Path(result["file"]))
    again = cw("compare", "paint", *bots, *SHORT, "--resume", result["file"])
    assert (again.exit_code, again.stdout) == (3, f"{REPEATED}\n")
    assert ids(Path(result["file"])) == played
    varied = cw("compare", "paint", *bots, *SHORT, "--games", "12", *OPTION)
    assert (varied.exit_code, "repeat" in varied.stdout) == (3, False)


@pytest.mark.thorough
def test_settings_of_a_bots_own_reach_its_program(tmp_path: Path) -> None:
    bot = painter(tmp_path)
    slow = ("--set", "old.patience=0")
    board = ("--option", "board=rocks")
    result = report("compare", "paint", f"new={bot}", f"old={bot}", *slow, *SHORT, *board)
    assert result["verdict"] == "stronger"
    head = read_head(Path(result["file"]))
    assert head["settings"] == {"new": {}, "old": {"patience": "0"}}


@pytest.mark.thorough
def test_among_others_every_seat_is_played() -> None:
    result = report(*DUEL, "--among", "still=builtin:still", "--games", "12", "--jobs", "2")
    assert (result["matches"], result["pairs"], result["among"]) == (12, 2, ["still"])
    assert result["score"] > 0.5


@pytest.mark.thorough
def test_another_comparison_is_not_gone_on_with() -> None:
    cw(*EVEN, "--games", "2", "--resume", "even.jsonl")
    result = cw(*DUEL, "--games", "2", "--resume", "even.jsonl")
    assert result.exit_code == 2
    assert "even.jsonl belongs to another experiment: its bots is" in result.stderr
    # A seed that is not given is that of the file.
    assert cw(*EVEN[:-2], "--games", "4", "--resume", "even.jsonl").exit_code == 3
    assert len(ids(Path("even.jsonl"))) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--elo0", "20", "--elo1", "10"), "elo0 must be less than elo1"),
        (("--alpha", "0.7"), "alpha must be at least 0.000001 and below 0.5, not 0.7"),
        (("--elo1", "nan"), "elo0 must be less than elo1"),
        (("--players", "4", "--games", "6"), "--games must be at least 8, one pair of matches"),
        (("--set", "v2.depth=4"), "a builtin bot gets no settings of its own"),
        (("--set", "v2.secert=4"), "did you mean secret?"),
        (("--option", "turns=0"), "turns"),
    ],
)
def test_wrong_usage_is_exit_code_2_and_leaves_nothing(
    arguments: tuple[str, ...], message: str
) -> None:
    result = cw(*DUEL, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output
    assert not list(Path().rglob("*.jsonl"))


@pytest.mark.thorough
def test_a_match_that_ends_a_comparison_in_any_order_is_lost_by_no_kill() -> None:
    file = Path("even.jsonl")
    command = [sys.executable, "-m", "cw", *FOR_HOURS, "--resume", str(file)]
    killed_at(command, file, 6, signal.SIGKILL)
    there = ids(file)
    assert set(there.values()) == {1}
    interrupted = killed_at(command, file, len(there) + 4, signal.SIGINT)
    assert "interrupted; all finished matches are kept" in interrupted
    assert "--resume even.jsonl" in interrupted
    # More than are over, and more than may be over before an earlier one is.
    games = str(2 * (len(ids(file)) // 2 + 10))
    resumed = report(*ENDLESS, "--games", games, "--resume", file)
    assert set(ids(file).values()) == {1}
    assert there.keys() <= ids(file).keys()
    alone = report(*ENDLESS, "--games", games, "--resume", "alone.jsonl")
    assert resumed | {"file": ""} == alone | {"file": ""}
    assert ids(file) == ids(Path("alone.jsonl"))


def killed_at(command: list[str], file: Path, matches: int, number: int) -> str:
    """Run a command until its file holds so many matches, send a signal; return its errors."""
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=os.environ
    ) as process:
        wait_for(process, file, matches)
        process.send_signal(number)
        _, errors = process.communicate()
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    return errors


@pytest.mark.thorough
def test_a_match_whose_worker_was_killed_is_played_once_more() -> None:
    command = [sys.executable, "-m", "cw", *FOR_HOURS, "--json"]
    file = Path("even.jsonl")
    with subprocess.Popen(
        [*command, "--resume", str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        wait_for(process, file, 2)
        os.kill(descendants(process.pid)[0], signal.SIGKILL)
        # None is begun that is further ahead of a match that is not over.
        wait_for(process, file, len(matches(file)) + 2 * AHEAD + 2)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate()
    assert process.returncode == 130, errors
    played = json.loads(output)
    assert set(ids(file).values()) == {1}
    alone = report(*ENDLESS, "--games", str(played["matches"]), "--resume", "alone.jsonl")
    assert played | {"file": ""} == alone | {"file": ""}


@pytest.mark.thorough
def test_what_is_known_is_told_when_it_is_interrupted() -> None:
    command = [sys.executable, "-m", "cw", *FOR_HOURS, "--json"]
    file = Path("even.jsonl")
    with subprocess.Popen(
        [*command, "--resume", str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        # As many as may be over before the first pair is.
        wait_for(process, file, 2 + 2 * AHEAD)
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate()
    assert process.returncode == 130
    document = json.loads(output)
    assert document["verdict"] == "undecided"
    assert document["matches"] >= 2


def test_a_failure_is_not_the_verdict_that_a_bot_is_not_stronger() -> None:
    Path("comparisons").write_text("no folder", encoding="utf-8")
    result = cw(*EVEN)
    assert result.exit_code == 4
    assert "cannot be created" in result.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("game", GAMES)
def test_a_stronger_strategy_is_told_from_a_weaker_one_within_30_pairs(game: str) -> None:
    better, worse, option = STRONGER[game]
    bots = (f"v2=builtin:{better}", f"v1=builtin:{worse}")
    result = report("compare", game, *bots, "--option", option, "--seed", "1", "--games", "60")
    assert result["verdict"] == "stronger", result["sentence"]
    assert result["pairs"] <= 30


def test_an_interruption_before_the_first_match_is_no_verdict(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    command = ["compare", "paint", "builtin:greedy", "builtin:random", "--json"]
    # As the progress is set up: what is known is told all the same.
    monkeypatch.setattr("cw.cli.lab.running.Announcements", interrupted)
    early = CliRunner().invoke(main, command)
    assert early.exit_code == 130
    assert json.loads(early.stdout)["verdict"] == "undecided"
    # Before there is anything to tell.
    monkeypatch.setattr("cw.cli.lab.compare.opened", interrupted)
    earlier = CliRunner().invoke(main, command)
    assert (earlier.exit_code, earlier.stdout) == (130, "")
