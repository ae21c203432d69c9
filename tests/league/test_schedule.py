"""Schedules: everyone meets whom it should, as often as it should, in both seats alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cw.errors import UsageError
from cw.league.fixtures import Fixture, Result, Round
from cw.league.schedule import (
    REST,
    default_swiss_rounds,
    gauntlet,
    repaired,
    resting,
    round_robin,
    swiss,
    swiss_pairs,
)
from cw.league.standings import tally
from tests.league.playing import chance, names, nobody_plays_twice, played, won_by, won_by_first

LARGE = (65, 128, 257, 499, 500)
COUNTS = st.integers(2, 64)


def seats(rounds: Sequence[Round]) -> Counter[tuple[str, str]]:
    return Counter(
        (fixture.players[0], fixture.players[1]) for fixtures in rounds for fixture in fixtures
    )


def pairs_of(fixtures: Round) -> list[str]:
    return ["".join(fixture.players) for fixture in fixtures]


def balance(rounds: Sequence[Round]) -> Counter[str]:
    """Give, by team, how much more often it sits first than second."""
    first: Counter[str] = Counter()
    for (a, b), count in seats(rounds).items():
        first[a] += count
        first[b] -= count
    return first


def winners(results: Iterable[Result]) -> Iterator[str]:
    return (result.winner for result in results if result.winner is not None)


def play_swiss(
    teams: Sequence[str], seed: int | None, meetings: int | None = None
) -> tuple[list[Round], dict[Fixture, Result]]:
    """Play to the end: by chance, or the better team always wins. The results are live."""
    results: dict[Fixture, Result] = {}
    rounds = []
    for fixtures in swiss(teams, results, meetings):
        rounds.append(fixtures)
        for fixture in fixtures:
            best = min(fixture.players)
            results[fixture] = won_by(best, fixture) if seed is None else chance(fixture, seed)
    return rounds, results


class TestRoundRobin:
    def check_single(self, count: int) -> None:
        teams = names(count)
        rounds = list(round_robin(teams, double=False, stage="all"))
        assert len(rounds) == count - 1 + count % 2
        assert all(nobody_plays_twice(fixtures) for fixtures in rounds)
        met = Counter(frozenset(pair) for pair in seats(rounds).elements())
        assert met == Counter(frozenset(pair) for pair in combinations(teams, 2))
        expected = {0} if count % 2 else {-1, 1}
        assert set(balance(rounds).values()) == expected

    def check_double(self, count: int) -> None:
        teams = names(count)
        rounds = list(round_robin(teams, double=True, stage="group", group="A"))
        assert all(nobody_plays_twice(fixtures) for fixtures in rounds)
        assert seats(rounds) == Counter(permutations(teams, 2))
        assert [{fixture.round for fixture in fixtures} for fixtures in rounds] == [
            {number} for number in range(1, len(rounds) + 1)
        ]

    @given(COUNTS)
    def test_each_pair_meets_once(self, count: int) -> None:
        self.check_single(count)

    @given(COUNTS)
    def test_each_pair_meets_in_both_seats(self, count: int) -> None:
        self.check_double(count)

    @pytest.mark.thorough
    @pytest.mark.parametrize("count", LARGE)
    def test_many_teams(self, count: int) -> None:
        self.check_single(count)

    @pytest.mark.thorough
    def test_most_teams_in_both_seats(self) -> None:
        self.check_double(500)

    @given(st.integers(1, 20).map(lambda half: 2 * half + 1))
    def test_seats_change_from_game_to_game(self, count: int) -> None:
        rounds = list(round_robin(names(count), double=False, stage="all"))
        for team in names(count):
            sat = [
                fixture.players[0] == team
                for fixtures in rounds
                for fixture in fixtures
                if team in fixture.players
            ]
            assert all(now != then for then, now in pairwise(sat))

    def test_four_teams(self) -> None:
        rounds = list(round_robin(tuple("abcd"), double=False, stage="all"))
        assert list(map(pairs_of, rounds)) == [["ad", "bc"], ["dc", "ab"], ["bd", "ca"]]


class TestGauntlet:
    @given(st.integers(2, 500))
    def test_the_first_meets_all_others_in_both_seats(self, count: int) -> None:
        challenger, *others = teams = names(count)
        rounds = list(gauntlet(teams))
        pairs = [(challenger, other) for other in others]
        assert seats(rounds) == Counter(pairs) + Counter((b, a) for a, b in pairs)
        assert all(len(fixtures) == 1 for fixtures in rounds)


class TestSwiss:
    def check(self, teams: Sequence[str], rounds: Sequence[Round], meetings: int) -> None:
        assert len(rounds) == 2 * meetings
        assert all(nobody_plays_twice(fixtures) for fixtures in rounds)
        assert all(len(fixtures) == len(teams) // 2 for fixtures in rounds)
        assert max(seats(rounds).values()) == 1
        legs = seats(rounds)
        assert all((b, a) in legs for a, b in legs)
        met = Counter(frozenset(pair) for pair in legs)
        assert set(met.values()) == {2}
        assert set(balance(rounds).values()) <= {0}
        rested = [team for fixtures in rounds[::2] for team in resting(teams, fixtures)]
        assert len(rested) == len(set(rested)) == len(teams) % 2 * meetings

    @given(
        st.integers(2, 64).flatmap(
            lambda n: st.tuples(st.just(n), st.integers(1, min(12, (n + 1) // 2)))
        ),
        st.none() | st.integers(0, 1000),
    )
    def test_nobody_meets_twice_and_seats_are_balanced(
        self, size: tuple[int, int], seed: int | None
    ) -> None:
        count, meetings = size
        rounds, _ = play_swiss(names(count), seed, meetings)
        self.check(names(count), rounds, meetings)

    @given(st.integers(2, 24), st.none() | st.integers(0, 1000))
    def test_up_to_half_the_teams_can_be_met(self, count: int, seed: int | None) -> None:
        rounds, _ = play_swiss(names(count), seed, (count + 1) // 2)
        self.check(names(count), rounds, (count + 1) // 2)

    @pytest.mark.parametrize("count", LARGE)
    @pytest.mark.parametrize("seed", [None, 1])
    def test_many_teams(self, count: int, seed: int | None) -> None:
        rounds, _ = play_swiss(names(count), seed)
        self.check(names(count), rounds, default_swiss_rounds(count))

    def test_the_top_half_of_a_score_group_meets_its_bottom_half(self) -> None:
        rounds, _ = play_swiss(tuple("abcdefgh"), None)
        pairs = list(map(pairs_of, rounds[::2]))
        assert pairs[0] == ["ae", "bf", "cg", "dh"]
        assert pairs[1] == ["ac", "bd", "eg", "fh"]
        assert pairs[2] == ["ab", "ce", "df", "gh"]

    def test_the_best_two_have_met_when_it_is_over(self) -> None:
        rounds, results = play_swiss(names(500), None)
        wins = Counter(winners(results.values()))
        assert [team for team, won in wins.items() if won == len(rounds)] == ["t001"]

    @pytest.mark.parametrize("count", [16, 33, 64, 128])
    def test_like_meets_like(self, count: int) -> None:
        rounds, results = play_swiss(names(count), 7)
        points = dict.fromkeys(names(count), Fraction(0))
        for legs in zip(rounds[::2], rounds[1::2], strict=True):
            pairs = [fixture.players for fixture in legs[0]]
            assert all(abs(points[a] - points[b]) <= 2 for a, b in pairs)
            for team, record in tally(played(legs, results)).items():
                points[team] += record.points
            for team in resting(names(count), legs[0]):
                points[team] += 2

    def test_the_odd_one_of_a_group_meets_the_best_of_the_next(self) -> None:
        wins = {"a": 4, "b": 4, "c": 4, "d": 2, "e": 2, "f": 2}
        assert swiss_pairs(tuple("abcdef"), wins, set()) == [("a", "b"), ("c", "d"), ("e", "f")]

    def test_the_last_rests_and_then_the_last_that_has_not(self) -> None:
        wins = dict.fromkeys("abcde", 0)
        assert ("e", REST) in swiss_pairs(tuple("abcde"), wins, set())
        rested = {frozenset(("e", REST))}
        assert {"d", REST} in map(set, swiss_pairs(tuple("abcde"), wins, rested))

    def test_to_rest_counts_as_two_wins(self) -> None:
        teams = tuple("abcde")
        first = list(swiss(teams, {}))
        assert resting(teams, first[0]) == ["e"]
        # All others have won once, so it stands alone at the top and meets the best of them.
        results = {fixture: won_by_first(fixture) for fixtures in first for fixture in fixtures}
        assert pairs_of(list(swiss(teams, results))[2])[0] == "ea"

    def test_who_is_left_takes_over_the_last_pair_that_will_do(self) -> None:
        pairs = [("a", "b"), ("c", "d")]
        met = {frozenset(pair) for pair in ("ef", "ce", "de")}
        assert repaired(pairs, ("e", "f"), met) == [("e", "a"), ("f", "b"), ("c", "d")]

    def test_the_next_meeting_waits_for_results(self) -> None:
        results: dict[Fixture, Result] = {}
        first = list(swiss(tuple("abcd"), results))
        assert len(first) == 2
        results |= {fixture: chance(fixture, 1) for fixtures in first for fixture in fixtures[:1]}
        assert list(swiss(tuple("abcd"), results)) == first
        results |= {fixture: chance(fixture, 1) for fixtures in first for fixture in fixtures}
        assert list(swiss(tuple("abcd"), results))[:2] == first
        assert len(list(swiss(tuple("abcd"), results))) == 4

    @pytest.mark.parametrize("meetings", [0, 4])
    def test_more_meetings_than_half_the_teams_are_refused(self, meetings: int) -> None:
        with pytest.raises(UsageError, match="1 to 3 Swiss meetings"):
            list(swiss(tuple("abcde"), {}, meetings))


@pytest.mark.parametrize(
    ("teams", "error"),
    [
        (("a",), "2 to 500 teams, not 1"),
        (names(501), "2 to 500 teams, not 501"),
        (("a", "b", "a"), "'a' is named twice"),
        (("a", ""), "no name"),
    ],
)
def test_teams_that_cannot_be_are_refused(teams: tuple[str, ...], error: str) -> None:
    for schedule in (
        round_robin(teams, double=False, stage="all"),
        gauntlet(teams),
        swiss(teams, {}),
    ):
        with pytest.raises(UsageError, match=error):
            next(schedule)
