"""Measuring strategies: swapped seats, equal openings, the same figures every time."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from cw.cli import main
from cw.cli.bots import bots
from cw.errors import UsageError
from cw.matches.simulate import ladder, measure


def test_the_figures_of_a_pair() -> None:
    (figure,) = measure("circuit-wars", [("greedy", "random")], games=10, seed=3, jobs=2)
    assert (figure.strategy, figure.opponent, figure.games) == ("greedy", "random", 10)
    assert figure.win_rate == figure.wins / 10
    assert figure.interval.low < figure.win_rate <= figure.interval.high
    assert 0 < figure.median_seconds <= figure.longest_seconds


@pytest.mark.parametrize("games", [0, -2, 7])
def test_an_odd_number_of_games_is_refused(games: int) -> None:
    with pytest.raises(UsageError, match="even"):
        list(measure("circuit-wars", [("greedy", "random")], games, 1, 1))


def test_the_ladder_pairs_each_with_the_one_before_and_the_first() -> None:
    assert ladder(["a", "b", "c", "d"]) == [
        ("b", "a"),
        ("c", "b"),
        ("d", "c"),
        ("c", "a"),
        ("d", "a"),
    ]


def test_the_command_prints_a_line_a_pair() -> None:
    options = ["--measure", "--pair", "greedy", "random", "--games", "2", "--jobs", "1"]
    done = CliRunner().invoke(bots, ["circuit-wars", *options])
    assert done.exit_code == 0
    assert done.output.splitlines()[-1].startswith("| greedy | random | 2 |")
    done = CliRunner().invoke(bots, ["circuit-wars", *options, "--json"])
    assert json.loads(done.output)["games"] == 2


def test_an_unknown_strategy_is_wrong_usage() -> None:
    done = CliRunner().invoke(main, ["bots", "--measure", "--pair", "greedy", "genius"])
    assert done.exit_code == 2
    assert "no strategy 'genius'" in done.output
