"""Whole contests: they end, can be resumed from any results, and rank everyone."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cw.league.contest_formats import FORMATS, Format
from cw.league.contests import Championship, Contest
from cw.league.fixtures import Fixture, Result, open_fixtures
from cw.league.standings import by_win_rate, ranked, table
from tests.effort import amount
from tests.league.playing import (
    chance,
    draw,
    names,
    nobody_plays_twice,
    play,
    players_of,
    won_by,
    won_by_first,
)

COUNTS = st.integers(3, 64)
SEEDS = st.integers(0, 10**6)
SEATS = range(2, 9)
SHARED = ("gauntlet", "free-for-all")
"""Formats without tie-break matches: teams may share the first rank."""


def contest_of(name: str, count: int, seed: int) -> Contest:
    """Make a contest for a game of two to eight players."""
    return Format(name).contest(names(count), seed, SEATS)


def two_groups() -> Championship:
    groups = {"A": ("a1", "a2", "a3"), "B": ("b1", "b2", "b3", "b4")}
    return Championship(groups, seed=5)


def by_name(fixture: Fixture) -> Result:
    """Let the lower number win, then the group A; the more so the farther apart they are."""
    rank = {team: (team[1], team[0]) for team in fixture.players}
    winner, loser = sorted(rank, key=lambda team: rank[team])
    return won_by(winner, fixture, 30 + int(loser[1]) - int(winner[1]))


def play_by_name(contest: Contest) -> dict[Fixture, Result]:
    results: dict[Fixture, Result] = {}
    while fixtures := open_fixtures(contest.rounds(results), results):
        results |= {fixture: by_name(fixture) for fixture in fixtures}
    return results


@pytest.mark.parametrize("name", FORMATS)
class TestEveryFormat:
    def check(self, name: str, count: int, seed: int) -> None:
        contest = contest_of(name, count, seed)
        results = play(contest, seed)
        rounds = list(contest.rounds(results))
        fixtures = [fixture for fixtures in rounds for fixture in fixtures]
        assert len(fixtures) == len(set(fixtures)) == len(results)
        assert all(nobody_plays_twice(fixtures) for fixtures in rounds)
        order = contest.order(results)
        assert sorted(team for equal in order for team in equal) == list(names(count))
        if name not in SHARED:
            assert [len(equal) for equal in order[:2]] == [1, 1]

    @settings(max_examples=amount(6, 20))
    @given(COUNTS, SEEDS)
    def test_it_ends_and_ranks_everyone(self, name: str, count: int, seed: int) -> None:
        self.check(name, count, seed)

    @pytest.mark.thorough
    def test_many_teams(self, name: str) -> None:
        self.check(name, 131, 1)

    @settings(max_examples=amount(8, 20))
    @given(st.integers(3, 12), SEEDS)
    def test_games_may_be_played_in_any_order(self, name: str, count: int, seed: int) -> None:
        contest = contest_of(name, count, seed)
        rng = Random(seed)
        results: dict[Fixture, Result] = {}
        while fixtures := open_fixtures(contest.rounds(results), results):
            for fixture in rng.sample(fixtures, rng.randint(1, len(fixtures))):
                results[fixture] = chance(fixture, seed)
        assert results == play(contest, seed)
        # What an earlier contest with the same settings has recorded is all that it takes.
        again = Format(name).contest(reversed_if_drawn(name, count), seed, SEATS)
        assert again.order(dict(reversed(results.items()))) == contest.order(results)

    def test_equal_teams_are_separated_in_the_end(self, name: str) -> None:
        contest = contest_of(name, 4, 3)
        results: dict[Fixture, Result] = {}
        while fixtures := open_fixtures(contest.rounds(results), results):
            results |= {fixture: draw(fixture) for fixture in fixtures}
        assert {fixture.tie_break for fixture in results} == (
            {0} if name in (*SHARED, "ladder") else set(range(11))
        )
        if name not in SHARED:
            assert [len(equal) for equal in contest.order(results)[:2]] == [1, 1]

    @settings(max_examples=amount(5, 10))
    @given(st.integers(3, 12), SEEDS, st.data())
    def test_any_part_of_the_results_is_enough_to_go_on(
        self, name: str, count: int, seed: int, data: st.DataObject
    ) -> None:
        whole = play(contest_of(name, count, seed), seed)
        number = data.draw(st.integers(0, len(whole)))
        results = dict(list(whole.items())[:number])
        contest = contest_of(name, count, seed)
        while fixtures := open_fixtures(contest.rounds(results), results):
            results |= {fixture: chance(fixture, seed) for fixture in fixtures}
        assert results == whole
        assert contest.standings(results) == contest_of(name, count, seed).standings(whole)


def reversed_if_drawn(name: str, count: int) -> tuple[str, ...]:
    """Return the teams in another order where the order must not matter."""
    orderless = name in ("championship", "free-for-all", "ladder")
    return names(count)[::-1] if orderless else names(count)


class TestChampionship:
    def test_it_is_played_to_the_end(self) -> None:
        contest = two_groups()
        results = play_by_name(contest)
        assert Counter(fixture.stage for fixture in results) == {
            "group": 3 * 2 + 4 * 3,
            "semi-final": 4,
            "final": 2,
        }
        assert contest.order(results) == (
            ("a1",),
            ("b1",),
            ("a2", "b2"),
            ("a3", "b3"),
            ("b4",),
        )
        assert contest.bonus(results) == {"a1": 10, "b1": 7, "a2": 1, "b2": 1}

    def test_groups_play_side_by_side(self) -> None:
        rounds = list(two_groups().rounds({}))
        assert {fixture.group for fixture in rounds[0]} == {"A", "B"}
        assert len(rounds) == 6

    def test_winners_meet_runners_up_of_the_other_group(self) -> None:
        contest = two_groups()
        ties = contest.bracket(play_by_name(contest))
        assert {frozenset(tie.teams) for tie in ties[0]} == {
            frozenset(("a1", "b2")),
            frozenset(("b1", "a2")),
        }

    def test_the_knockout_waits_for_all_groups(self) -> None:
        contest = two_groups()
        results = {
            fixture: by_name(fixture) for fixtures in contest.rounds({}) for fixture in fixtures
        }
        last = list(results)[-1]
        del results[last]
        assert contest.bracket(results) == ()
        assert open_fixtures(contest.rounds(results), results) == [last]
        assert contest.order(results)[0] == ("a1", "b1")
        assert [one.done for one in contest.standings(results)] == [True, False]
        assert contest.bonus(results) == {"a1": 2, "a2": 1}

    def test_equal_teams_of_a_group_play_tie_break_matches_for_the_first_places_alone(self) -> None:
        groups = {"A": tuple("abcd")}
        contest = Championship(groups, seed=5)
        results = {
            fixture: won_by("a", fixture) if "a" in fixture.players else won_by_first(fixture)
            for fixtures in contest.rounds({})
            for fixture in fixtures
        }
        further = open_fixtures(contest.rounds(results), results)
        assert set(players_of(further)) == set("bcd")
        assert len(further) == 6
        assert {(fixture.stage, fixture.group, fixture.tie_break) for fixture in further} == {
            ("group", "A", 1)
        }
        results |= {
            fixture: won_by("d", fixture) if "d" in fixture.players else won_by_first(fixture)
            for fixture in further
        }
        (group,) = contest.standings(results)
        assert group.settled.order == (("a",), ("d",), ("b", "c"))
        assert group.settled.notes == ("d before b and c by tie-break matches, pair 1",)
        assert group.rows[1].record.matches == 6
        assert contest.bracket(results)[0][0].teams == ("a", "d")

    def test_a_lot_is_told(self) -> None:
        contest = Championship({"A": ("a", "b")}, seed=5)
        results: dict[Fixture, Result] = {}
        while not contest.bracket(results):
            fixtures = open_fixtures(contest.rounds(results), results)
            results |= {fixture: won_by_first(fixture) for fixture in fixtures}
        (group,) = contest.standings(results)
        assert group.settled.notes[-1].endswith("by lot, drawn from the seed 5")
        assert group.settled.by_lot

    def test_the_strongest_winners_have_byes(self) -> None:
        groups = {"A": ("a1", "a2"), "B": ("b1", "b2"), "C": ("c1", "c2")}
        contest = Championship(groups, seed=1)
        margins = {"A": 30, "B": 40, "C": 35}
        results = {
            fixture: won_by(f"{str(fixture.group).lower()}1", fixture, margins[str(fixture.group)])
            for fixtures in contest.rounds({})
            for fixture in fixtures
        }
        passed = [tie.winner for tie in contest.bracket(results)[0] if tie.reason == "bye"]
        assert sorted(filter(None, passed)) == ["b1", "c1"]


class TestFreeForAll:
    def test_all_meet_in_one_match_where_the_game_has_the_seats(self) -> None:
        rounds = list(contest_of("free-for-all", 6, 1).rounds({}))
        assert [len(fixtures) for fixtures in rounds] == [1] * 6
        assert {len(fixtures[0].players) for fixtures in rounds} == {6}

    def test_matches_are_as_large_as_the_game_allows_if_nothing_is_said(self) -> None:
        rounds = list(contest_of("free-for-all", 20, 1).rounds({}))
        assert {len(fixture.players) for fixtures in rounds for fixture in fixtures} == {8}

    def test_its_table_ranks_by_win_rate(self) -> None:
        contest = Format("free-for-all", players=3, rounds=4).contest(names(4), 1, SEATS)
        results = {
            fixture: Result(fixture.players, ranks_of(fixture), (1, 1, 1))
            for fixtures in contest.rounds({})
            for fixture in fixtures
        }
        (one,) = contest.standings(results)
        assert one.done
        assert one.settled.order == tuple((team,) for team in names(4))
        assert [row.record.matches for row in one.rows] == [3, 3, 3, 3]


def ranks_of(fixture: Fixture) -> tuple[int, ...]:
    """Rank players by name."""
    return tuple(1 + sorted(fixture.players).index(player) for player in fixture.players)


@given(st.integers(3, 12), SEEDS, st.randoms(use_true_random=False))
def test_the_table_of_many_players_does_not_depend_on_the_order_of_matches(
    count: int, seed: int, rng: Random
) -> None:
    contest = Format("free-for-all", players=3, rounds=5).contest(names(count), seed, SEATS)
    results = list(play(contest, seed).values())
    mixed = rng.sample(results, len(results))
    order = ranked(results, names(count), by_win_rate)
    assert ranked(mixed, names(count)[::-1], by_win_rate) == order
    assert table(mixed, order) == table(results, order)


@pytest.mark.parametrize("name", FORMATS)
@given(count=st.integers(3, 20), seed=SEEDS)
@settings(max_examples=amount(4, 10))
def test_how_many_matches_it_takes_is_known_from_the_start(
    name: str, count: int, seed: int
) -> None:
    contest = contest_of(name, count, seed)
    results = play(contest, seed)
    without_ties = [fixture for fixture in results if not fixture.tie_break]
    assert contest.expected({}) == len(without_ties)
    assert contest.expected(results) == len(results)
    half = dict(list(results.items())[: len(results) // 2])
    assert len(half) < contest.expected(half) <= len(results)


class TestLadder:
    def test_the_next_round_begins_when_the_one_before_is_over(self) -> None:
        contest = Format("ladder", rounds=2).contest(names(4), 1)
        results: dict[Fixture, Result] = {}
        first = open_fixtures(contest.rounds(results), results)
        assert [fixture.stage for fixture in first] == ["round 1"] * 6
        results |= {fixture: chance(fixture, 1) for fixture in first}
        second = open_fixtures(contest.rounds(results), results)
        assert [fixture.stage for fixture in second] == ["round 2"] * 6
        assert len({fixture.meeting for fixture in first + second}) == 12

    def test_a_win_over_a_team_that_stands_higher_is_worth_more(self) -> None:
        contest = Format("ladder", rounds=2).contest(("ann", "bob"), 1)
        results: dict[Fixture, Result] = {}
        points = []
        for winner in ("ann", "bob"):
            (fixture,) = open_fixtures(contest.rounds(results), results)
            results[fixture] = won_by(winner, fixture)
            (table,) = contest.standings(results)
            points.append({row.team: row.points for row in table.rows})
        # Both stood first before the first round; after it bob stood below ann.
        assert points == [{"ann": 2, "bob": 0}, {"ann": 2, "bob": 4}]
        assert contest.order(results) == (("bob",), ("ann",))
        assert table.done

    def test_teams_with_the_same_points_share_a_place_until_the_end(self) -> None:
        contest = Format("ladder").contest(names(4), 1)
        assert contest.order({}) == (names(4),)
        assert contest.expected({}) == 18
