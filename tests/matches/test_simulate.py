"""Games between strategies in one process."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner, Result

from cw.cli import main
from cw.matches.simulate import series, simulate, winner_of


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["simulate", *arguments])


def test_seats_rotate_and_the_seed_changes_after_each_round() -> None:
    specs = list(series("circuit-wars", ["random", "greedy"], 4, 7, {"size": 3}))
    assert [spec.seed for spec in specs] == [7, 7, 8, 8]
    for number, spec in enumerate(specs):
        assert [bot.target for bot in spec.bots] == [
            ["random", "greedy"],
            ["greedy", "random"],
        ][number % 2]
        result = simulate(spec)
        first, second = result.seconds
        assert len(first) - len(second) in (0, 1)
        assert result.turns == len(first) + len(second)
        assert result.winner is not None
        assert result.ranks[result.winner] == 1
        assert winner_of(spec, result) == int(spec.bots[result.winner].name)


def test_the_same_seed_gives_the_same_games() -> None:
    first, again = (
        [simulate(spec) for spec in series("circuit-wars", ["safe", "greedy"], 4, 3, {"size": 5})]
        for _ in range(2)
    )
    assert [(one.scores, one.turns) for one in first] == [(one.scores, one.turns) for one in again]


def test_the_report() -> None:
    done = run("circuit-wars", "safe", "random", "--games", "6", "--option", "size=5", "--json")
    report = json.loads(done.stdout)
    assert (report["game"], report["games"]) == ("circuit-wars", 6)
    assert [strategy["name"] for strategy in report["strategies"]] == ["safe", "random"]
    assert sum(strategy["wins"] for strategy in report["strategies"]) == 6
    assert report["reasons"] == {"finished": 6}
    for strategy in report["strategies"]:
        won = sum(seat["wins"] for seat in strategy["seats"].values())
        assert won == strategy["wins"] == 6 - strategy["losses"]
        assert strategy["win_rate"] == strategy["wins"] / 6
        low, high = strategy["interval"]
        assert low <= strategy["win_rate"] <= high


def test_several_matches_are_a_table_and_one_is_told() -> None:
    words = run("circuit-wars", "safe", "random", "--games", "6", "--option", "size=5").stdout
    lines = [" ".join(line.split()) for line in words.splitlines()]
    assert lines[0] == "6 matches of circuit-wars, seeds 1 to 3"
    assert lines[2] == "win 95 % average won by"
    assert lines[3] == "bot won drawn lost rate CI score faults seat"
    assert re.fullmatch(r"safe 6 0 0 100.0% 61%-100% \d+\.\d 0 3/3 3/3", lines[4])
    assert lines[5].startswith("random 0 0 6 0.0% 0%-39% ")
    assert lines[-1] == "ended by: finished 6"
    one = run("circuit-wars", "random", "random", "--option", "size=3").stdout
    match = re.match(
        r"circuit-wars, seed 1: random-[12] won by score in turn 2\d: (\d) to (\d)", one
    )
    assert match
    assert int(match[1]) + int(match[2]) == 9


def test_results_do_not_depend_on_the_number_of_processes() -> None:
    series = ("circuit-wars", "greedy", "safe", "--option", "size=3", "--games", "5", "--json")
    alone, together = (run(*series, "--jobs", jobs).stdout for jobs in ("1", "3"))
    assert json.loads(alone)["games"] == 5
    assert alone == together


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("go", "random"), "there is no game 'go'"),
        (("circuit-wars", "genius", "random"), "circuit-wars has no strategy 'genius'"),
        (("circuit-wars", "random"), "circuit-wars needs exactly 2 bots; you gave 1"),
        (("circuit-wars", "random", "random", "--option", "size"), "takes KEY=VALUE"),
        (("circuit-wars", "random", "random", "--option", "size=4"), "odd number"),
        (("circuit-wars", "random", "random", "--option", "size=big"), "odd number"),
        (("circuit-wars", "random", "random", "--option", "x=1"), "unknown option 'x'"),
        (("circuit-wars", "random", "random", "--games", "0"), "games"),
    ],
)
def test_wrong_usage_is_explained(arguments: tuple[str, ...], error: str) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert error in done.stderr
