"""Who sits where when bots are compared, and what a match says."""

from __future__ import annotations

from collections import Counter
from itertools import chain

import pytest

from cw.errors import UsageError
from cw.games.registry import GAMES
from cw.lab.comparison import LineUp, outranked, read_line_up
from cw.matches.spec import MatchSpec


def line_up(*others: str, players: int | None = None) -> LineUp:
    return read_line_up("paint", ("v2=builtin:greedy", "v1=builtin:walker", *others), players)


def names(specs: list[MatchSpec]) -> list[tuple[str, ...]]:
    return [tuple(bot.name for bot in spec.bots) for spec in specs]


def test_two_bots_swap_their_seats_on_one_seed() -> None:
    pair = line_up().pair("pair-0", seed=7)
    assert names(pair) == [("v2", "v1"), ("v1", "v2")]
    assert {spec.seed for spec in pair} == {7}
    assert len({spec.id for spec in pair}) == 2


def test_among_others_each_has_each_seat_and_both_follow_each_other_equally_often() -> None:
    pair = names(line_up("a=builtin:still", "b=builtin:random").pair("pair-0", seed=7))
    seats = Counter((bot, seat) for seating in pair for seat, bot in enumerate(seating))
    assert len(pair) == 8
    assert set(seats.values()) == {2}
    follows = Counter(seating[seating.index("v2") - 1] == "v1" for seating in pair)
    assert follows[True] == 4


def test_seats_that_nobody_was_named_for_get_the_strongest_strategies() -> None:
    bots = line_up("still=builtin:still", players=5).bots
    assert [bot.target for bot in bots] == ["greedy", "walker", "still", "strong", "greedy"]
    assert len({bot.name for bot in bots}) == 5


@pytest.mark.parametrize("game", GAMES)
def test_every_game_compares_two_bots(game: str) -> None:
    bots = ("v2=builtin:random", "v1=builtin:random")
    if game == "end-of-codes":
        bots = ("v2=builtin:sample", "v1=builtin:idle")
    both = read_line_up(game, bots)
    assert sorted(chain(*names(both.pair("pair-0", 1)))) == ["v1", "v1", "v2", "v2"]


def test_options_that_keep_matches_from_being_alike_are_set_unless_they_are_given() -> None:
    bots = ("v2=builtin:greedy", "v1=builtin:random")
    assert read_line_up("circuit-wars", bots).options == {"openings": 4}
    assert read_line_up("circuit-wars", bots, options={"openings": 0}).options == {"openings": 0}


@pytest.mark.parametrize(
    ("ranks", "score"),
    [
        ((1, 2), 1.0),
        ((2, 1), 0.0),
        ((1, 1), 0.5),
        ((1, None), 1.0),
        ((None, None), 0.5),
    ],
)
def test_a_match_of_two_is_won_drawn_or_lost(ranks: tuple[int | None, ...], score: float) -> None:
    first, second = line_up().pair("pair-0", seed=7)
    assert line_up().score(first, ranks) == score
    assert line_up().score(second, ranks) == 1 - score


def test_among_others_the_score_is_by_how_many_more_of_them_a_bot_outranks() -> None:
    among = line_up("a=builtin:still", "b=builtin:random")
    spec = among.pair("pair-0", seed=7)[0]
    assert names([spec]) == [("v2", "v1", "a", "b")]
    assert among.score(spec, (1, 4, 2, 3)) == 1.0
    assert among.score(spec, (1, 2, 3, 4)) == pytest.approx(2 / 3)
    assert among.score(spec, (2, 2, 1, 2)) == 0.5
    assert among.score(spec, (3, 2, 1, 3)) == pytest.approx((1 + 1 / 6 - 2 / 3) / 2)


def test_ties_count_half() -> None:
    assert outranked([1, 1, 1], 0) == 0.5
    assert outranked([2, 1, 2], 0) == 0.25


def test_seats_that_are_not_there_are_refused() -> None:
    with pytest.raises(UsageError, match="too few for 3 bots"):
        line_up("a=builtin:still", players=2)
    with pytest.raises(UsageError, match="hexagon needs exactly 2 bots; you gave 3"):
        read_line_up("hexagon", ("builtin:greedy", "builtin:random"), 3)
