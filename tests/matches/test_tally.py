"""Several matches summed up for each bot."""

from __future__ import annotations

import pytest

from cw.arena.bots import BotSpec
from cw.league.strength_tests import wilson
from cw.matches.simulate import named, series, simulate
from cw.matches.spec import MatchFault, MatchResult, MatchSpec
from cw.matches.verdict import tallies


def played(
    names: str, winner: int | None, scores: tuple[float | None, ...], faults: int = 0
) -> tuple[MatchSpec, MatchResult]:
    bots = tuple(BotSpec(name, "builtin", "x") for name in names)
    ranks = tuple(1 if winner in (None, number) else 2 for number in range(len(bots)))
    noted = tuple(MatchFault(0, 0, turn, "timeout", "") for turn in range(faults))
    result = MatchResult(
        "m", "paint", "over", winner, ranks, scores, noted, ((),) * len(bots), 9, ("",), {}
    )
    return MatchSpec("m", "paint", bots, 1), result


def test_what_each_bot_did() -> None:
    matches = [
        played("ab", 0, (5, 3), faults=2),
        played("ba", 0, (4, 2)),
        played("ab", None, (3, 3)),
        played("ba", 1, (0, 8), faults=1),
    ]
    a, b = tallies(["a", "b"], matches)
    assert [a.count("won"), a.count("drawn"), a.count("lost")] == [2, 1, 1]
    assert [b.count("won"), b.count("drawn"), b.count("lost")] == [1, 1, 2]
    assert (a.win_rate, b.win_rate) == (0.625, 0.375)
    assert a.interval == wilson(2.5, 4)
    assert (a.average_score, b.average_score) == (4.5, 2.5)
    assert (a.faults, b.faults) == (2, 1)
    assert {seat: (one.count("won"), len(one.parts)) for seat, one in a.seats.items()} == {
        1: (1, 2),
        2: (1, 2),
    }
    assert a.to_json()["seats"] == {
        "1": {"matches": 2, "wins": 1},
        "2": {"matches": 2, "wins": 1},
    }


def test_without_a_winner_only_the_first_rank_has_drawn() -> None:
    spec, result = played("abc", None, (5, 5, 1))
    result = MatchResult.from_json(result.to_json() | {"ranks": [1, 1, 3]})
    assert [tally.points for tally in tallies(["a", "b", "c"], [(spec, result)])] == [0.5, 0.5, 0]


def test_scores_that_a_game_does_not_give_are_left_out() -> None:
    (a, b) = tallies(["a", "b"], [played("ab", 0, (None, 3)), played("ab", 0, (None, 5))])
    assert (a.average_score, b.average_score) == (None, 4)


@pytest.mark.parametrize("number", [1, 4])
def test_a_series_is_summed_up_under_the_names_of_its_strategies(number: int) -> None:
    names = ["one", "other"]
    specs = list(series("circuit-wars", ["greedy", "random"], number, 1, {"size": 3}))
    results = tallies(names, [(named(spec, names), simulate(spec)) for spec in specs])
    assert [tally.name for tally in results] == names
    assert sum(tally.count("won") for tally in results) == number
