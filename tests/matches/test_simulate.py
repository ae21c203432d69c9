"""Games between strategies in one process."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from cw.cli import main
from cw.matches.simulate import simulate


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["simulate", *arguments])


def test_seats_rotate_and_the_seed_changes_after_each_round() -> None:
    played = list(simulate("circuit-wars", ["random", "greedy"], 4, 7, {"size": 3}))
    assert [game.seed for game in played] == [7, 7, 8, 8]
    for number, game in enumerate(played):
        first, second = game.seconds[number % 2], game.seconds[1 - number % 2]
        assert len(first) - len(second) in (0, 1)
        assert game.turns == len(first) + len(second)
        seat_of_winner = 1 if game.winner == number % 2 else 2
        assert game.outcome.winner == seat_of_winner


def test_the_same_seed_gives_the_same_games() -> None:
    first, again = (
        [g.outcome for g in simulate("circuit-wars", ["safe", "greedy"], 4, 3, {"size": 5})]
        for _ in range(2)
    )
    assert first == again


def test_the_report() -> None:
    done = run("circuit-wars", "safe", "random", "--games", "6", "--option", "size=5", "--json")
    report = json.loads(done.stdout)
    assert (report["game"], report["games"]) == ("circuit-wars", 6)
    assert [strategy["name"] for strategy in report["strategies"]] == ["safe", "random"]
    assert sum(strategy["wins"] for strategy in report["strategies"]) == 6
    assert report["reasons"] == {"finished": 6}
    words = run("circuit-wars", "safe", "random", "--games", "6", "--option", "size=5").stdout
    assert words.startswith("6 games of circuit-wars,")
    assert "ended by: finished 6" in words


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("go", "random"), "there is no game 'go'"),
        (("circuit-wars", "genius", "random"), "circuit-wars has no strategy 'genius'"),
        (("circuit-wars", "random"), "for 2 players, not 1"),
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
