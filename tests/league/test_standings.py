"""Tables: the ranking of the rules, and the tables of two recorded groups."""

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import pytest

from cw.championship.recorded import read_results
from cw.league.fixtures import Result
from cw.league.standings import (
    Exact,
    Record,
    bonus_points,
    ranked,
    seat_advantage,
    table,
    tally,
    with_rests,
    within_noise,
)
from cw.league.strength_tests import wilson
from tests.league.playing import of_two

EXTRACT = Path(__file__).parent / "data" / "two_groups.jsonl"
RECORDS = Path(__file__).resolve().parents[3] / "shared" / "championship"

FIRST = {
    "1A": [
        ("team05", 14, 0, 644, 42),
        ("team02", 12, 2, 469, 217),
        ("team06", 9, 5, 344, 342),
        ("team07", 7, 7, 333, 353),
        ("team04", 5, 9, 333, 353),
        ("team01", 5, 9, 324, 362),
        ("team08", 4, 10, 297, 389),
        ("team03", 0, 14, 0, 686),
    ],
    "1B": [
        ("team15", 13, 1, 593, 93),
        ("team11", 12, 2, 557, 129),
        ("team13", 8, 6, 392, 294),
        ("team12", 8, 6, 335, 351),
        ("team10", 5, 9, 258, 428),
        ("team16", 4, 10, 228, 458),
        ("team14", 4, 10, 181, 505),
        ("team09", 2, 12, 200, 486),
    ],
}


def game(text: str) -> Result:
    """Read `a b 30:19`."""
    first, second, score = text.split()
    own, other = map(int, score.split(":"))
    return of_two(first, second, own, other)


def order_of(*games: str) -> list[str]:
    """Rank the teams of games; equal ones stand side by side."""
    return ["".join(equal) for equal in ranked(map(game, games))]


def lines(results: Iterable[Result]) -> list[tuple[str, int, int, Exact, Exact]]:
    return [
        (
            row.team,
            row.record.wins,
            row.record.losses,
            row.record.score_for,
            row.record.score_against,
        )
        for row in table(results)
    ]


class TestRecordedGroups:
    @pytest.mark.parametrize("group", FIRST)
    def test_the_table(self, group: str) -> None:
        with EXTRACT.open("rb") as stream:
            results = [line.result for line in read_results(stream) if line.group == group]
        assert len(results) == 56
        assert lines(results) == FIRST[group]
        assert [row.rank for row in table(results)] == list(range(1, 9))

    def test_the_seats(self) -> None:
        with EXTRACT.open("rb") as stream:
            seats = seat_advantage(line.result for line in read_results(stream))
        assert seats is not None
        assert (seats.first_wins, seats.matches) == (50, 112)
        assert seats.interval == pytest.approx((0.3577, 0.5387), abs=5e-5)
        assert seats.within_noise

    @pytest.mark.skipif(
        not RECORDS.is_dir(), reason="the recorded games do not stand beside this checkout"
    )
    @pytest.mark.parametrize("group", FIRST)
    def test_the_table_of_the_whole_records(self, group: str) -> None:
        with (RECORDS / f"group-{group}.jsonl").open("rb") as stream:
            results = [line.result for line in read_results(stream)]
        assert lines(results) == FIRST[group]
        entries = [json.loads(line) for line in EXTRACT.read_text(encoding="utf-8").splitlines()]
        assert len(results) == sum(line["group"] == group for line in entries)


class TestRanking:
    def test_wins_come_first(self) -> None:
        assert order_of("a b 25:24", "a b 25:24", "b a 49:0") == ["a", "b"]

    def test_then_the_share_of_points(self) -> None:
        assert order_of("a b 30:19", "b a 31:18") == ["b", "a"]

    def test_then_the_games_between_those_that_are_equal(self) -> None:
        games = ["a b 25:24", "b c 25:24", "b d 25:24", "a c 26:23", "d a 26:23", "c d 30:19"]
        records = tally(map(game, games))
        assert records["a"] == records["b"] == Record(2, 0, 1, 74, 73, 3)
        assert order_of(*games)[:2] == ["a", "b"]

    def test_and_among_those_that_are_equal_in_these_games_too(self) -> None:
        between = ["b a 26:23", "a c 27:22", "c b 25:24"]
        games = [*between, "a x 26:23", "b x 26:23", "c x 29:20"]
        records = tally(map(game, games))
        assert records["a"] == records["b"] == records["c"]
        # Between the three c is behind by its points, and b has beaten a.
        assert order_of(*games) == ["b", "a", "c", "x"]

    def test_a_cycle_stays_equal_and_shares_its_rank(self) -> None:
        games = ["a b 30:19", "b c 30:19", "c a 30:19", "d a 10:39", "d b 10:39", "d c 10:39"]
        assert order_of(*games) == ["abc", "d"]
        assert [row.rank for row in table(map(game, games))] == [1, 1, 1, 4]

    def test_the_order_of_the_games_does_not_matter(self) -> None:
        games = ["a b 30:19", "b c 30:19", "c a 30:19", "d a 39:10"]
        assert order_of(*games) == order_of(*reversed(games))

    def test_a_rest_counts_as_two_wins_and_no_points(self) -> None:
        results = [game("a b 30:19"), game("b a 19:30")]
        assert ranked(results, "abc", with_rests({"c": 1})) == (("a",), ("c",), ("b",))
        (row,) = (row for row in table(results, ranked(results, "abc"), {"c": 1}) if row.rests)
        assert (row.team, row.record) == ("c", Record())

    def test_teams_that_have_not_played_are_there_too(self) -> None:
        assert ranked([], ("b", "a")) == (("a", "b"),)
        assert Record().interval is None
        assert Record().ratio == Record().win_rate == 0


class TestDraws:
    def test_a_draw_counts_as_half_a_win(self) -> None:
        records = tally([game("a b 24:24"), game("a b 30:19")])
        assert records["a"] == Record(1, 1, 0, 54, 43, 2)
        assert records["a"].points == Fraction(3, 2)
        assert records["a"].win_rate == Fraction(3, 4)
        assert records["a"].interval == wilson(1.5, 2)

    def test_two_draws_are_worth_one_win(self) -> None:
        assert order_of("a b 24:24", "b a 24:24", "c d 48:0", "d c 48:0") == ["abcd"]


class TestManyPlayers:
    THREE = Result(("a", "b", "c"), (1, 2, 2), (7, 5, 5))

    def test_everyone_is_compared_with_everyone(self) -> None:
        records = tally([self.THREE])
        assert records["a"] == Record(2, 0, 0, 14, 10, 1)
        assert records["b"] == records["c"] == Record(0, 1, 1, 10, 12, 1)

    def test_a_match_counts_once_in_the_interval(self) -> None:
        assert tally([self.THREE])["a"].interval == wilson(1, 1)
        assert tally([self.THREE])["b"].interval == wilson(0.25, 1)

    def test_head_to_head_is_what_the_equal_have_of_each_other(self) -> None:
        results = [
            Result(("a", "b", "x"), (2, 3, 1), (1, 1, 1)),
            Result(("b", "x", "y"), (1, 2, 3), (1, 1, 1)),
            Result(("a", "x", "y"), (2, 1, 3), (1, 1, 1)),
        ]
        records = tally(results)
        assert records["a"] == records["b"] == Record(2, 0, 2, 4, 4, 2)
        assert [team for equal in ranked(results) for team in equal] == ["x", "a", "b", "y"]

    def test_a_score_need_not_be_whole(self) -> None:
        tenths = [Result(("a", "b"), (2, 1), (0.1, 0.7))] * 3
        assert tally(tenths)["a"].score_for == 3 * Fraction(0.1)

    def test_the_best_rank_wins_alone_or_nobody_does(self) -> None:
        assert self.THREE.winner == "a"
        assert Result(("a", "b"), (1, 1), (0, 0)).winner is None

    def test_the_first_of_three_seats_wins_one_match_in_three(self) -> None:
        turned = [Result(tuple("abc"[i:] + "abc"[:i]), (1, 2, 3), (3, 2, 1)) for i in range(3)]
        seats = seat_advantage([*turned, *([Result(("a", "b", "c"), (2, 1, 3), (2, 3, 1))] * 6)])
        assert seats is not None
        assert (seats.first_wins, seats.matches) == (3, 9)
        assert seats.even == pytest.approx(1 / 3)
        assert seats.within_noise


def of_matches(wins: int, losses: int) -> Record:
    return Record(wins, 0, losses, matches=wins + losses)


class TestFigures:
    def test_one_win_more_is_noise(self) -> None:
        assert within_noise(of_matches(8, 6), of_matches(7, 7)) is True

    def test_all_against_none_is_not(self) -> None:
        assert within_noise(of_matches(14, 0), of_matches(0, 14)) is False

    def test_without_games_nothing_can_be_said(self) -> None:
        assert within_noise(of_matches(1, 0), Record()) is None
        assert seat_advantage([]) is None

    def test_a_seat_that_wins_every_game(self) -> None:
        seats = seat_advantage([game("a b 30:19"), game("b a 30:19")] * 20)
        assert seats is not None
        assert not seats.within_noise
        assert seats.interval.high == 1


class TestBonus:
    def test_groups_and_overall(self) -> None:
        groups = ((("a",), ("b",), ("c",)), (("d",), ("e",)))
        points = bonus_points(groups, (("b",), ("d",), ("a", "e")))
        assert points == {"a": 2, "b": 9, "d": 7, "e": 1}

    def test_shared_ranks_get_none_yet(self) -> None:
        assert bonus_points([(("a",), ("b", "c"))], ()) == {"a": 2}
        assert bonus_points([(("a", "b"), ("c",))], ()) == {}
