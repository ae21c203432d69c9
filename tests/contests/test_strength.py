"""Measuring strategies: swapped seats, equal openings, the same figures every time."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from cw.cli.bots import bots
from cw.contests.strength import ladder, measure, play
from cw.errors import Refused


def test_the_figures_of_a_pair() -> None:
    (figure,) = measure("circuit-wars", [("greedy", "random")], games=10, seed=3, jobs=2)
    assert (figure.strategy, figure.opponent, figure.games) == ("greedy", "random", 10)
    assert figure.share == figure.wins / 10
    assert figure.interval.low < figure.share <= figure.interval.high
    assert 0 < figure.median_seconds <= figure.longest_seconds


def test_the_same_seed_gives_the_same_winners() -> None:
    games = [[play("circuit-wars", "greedy", "safe", 5, n).won for n in range(6)] for _ in range(2)]
    assert games[0] == games[1]


def test_seats_are_swapped_on_the_same_opening() -> None:
    first = play("circuit-wars", "random", "random", 5, 0)
    swapped = play("circuit-wars", "random", "random", 5, 1)
    assert len(first.ours) - len(first.theirs) in (0, 1)
    assert len(swapped.theirs) - len(swapped.ours) in (0, 1)


@pytest.mark.parametrize("games", [0, -2, 7])
def test_an_odd_number_of_games_is_refused(games: int) -> None:
    with pytest.raises(Refused, match="even"):
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
    done = CliRunner().invoke(bots, ["circuit-wars", "--measure", "--pair", "greedy", "genius"])
    assert done.exit_code == 2
    assert "no strategy 'genius'" in done.output
