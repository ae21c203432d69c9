"""Whole contests: they end, can be resumed from any results, and rank everyone."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cw.errors import UsageError
from cw.league.fixtures import Fixture, Result, open_fixtures
from cw.league.formats import FORMATS, Championship, Contest, make_contest
from tests.league.playing import chance, names, nobody_plays_twice, play, won_by, won_by_first

COUNTS = st.integers(2, 64)
SEEDS = st.integers(0, 10**6)


def two_groups() -> Championship:
    groups = {"A": ("a1", "a2", "a3"), "B": ("b1", "b2", "b3", "b4")}
    return Championship(groups, seed=5)


def by_name(game: Fixture) -> Result:
    """Let the lower number win, then the group A; the more so the farther apart they are."""
    rank = {team: (team[1], team[0]) for team in (game.first, game.second)}
    winner, loser = sorted(rank, key=lambda team: rank[team])
    return won_by(winner, game, 30 + int(loser[1]) - int(winner[1]))


def play_by_name(contest: Contest) -> dict[Fixture, Result]:
    results: dict[Fixture, Result] = {}
    while games := open_fixtures(contest.rounds(results), results):
        results |= {game: by_name(game) for game in games}
    return results


@pytest.mark.parametrize("name", FORMATS)
class TestEveryFormat:
    def check(self, name: str, count: int, seed: int) -> None:
        contest = make_contest(name, names(count), seed)
        results = play(contest, seed)
        rounds = list(contest.rounds(results))
        games = [game for games in rounds for game in games]
        assert len(games) == len(set(games)) == len(results)
        assert all(nobody_plays_twice(games) for games in rounds)
        order = contest.order(results)
        assert sorted(team for equal in order for team in equal) == list(names(count))
        if name != "gauntlet":
            assert [len(equal) for equal in order[:2]] == [1, 1]

    @settings(max_examples=20)
    @given(COUNTS, SEEDS)
    def test_it_ends_and_ranks_everyone(self, name: str, count: int, seed: int) -> None:
        self.check(name, count, seed)

    def test_many_teams(self, name: str) -> None:
        self.check(name, 131, 1)

    @settings(max_examples=20)
    @given(st.integers(2, 12), SEEDS)
    def test_games_may_be_played_in_any_order(self, name: str, count: int, seed: int) -> None:
        contest = make_contest(name, names(count), seed)
        rng = Random(seed)
        results: dict[Fixture, Result] = {}
        while games := open_fixtures(contest.rounds(results), results):
            for game in rng.sample(games, rng.randint(1, len(games))):
                results[game] = chance(game, seed)
        assert results == play(contest, seed)
        # What an earlier contest with the same settings has recorded is all that it takes.
        again = make_contest(name, reversed_if_drawn(name, count), seed)
        assert again.order(dict(reversed(results.items()))) == contest.order(results)

    def test_equal_teams_are_separated_in_the_end(self, name: str) -> None:
        contest = make_contest(name, names(4), 3)
        results: dict[Fixture, Result] = {}
        while games := open_fixtures(contest.rounds(results), results):
            results |= {game: won_by_first(game) for game in games}
        extra = {game.extra for game in results}
        assert extra == ({0} if name in ("gauntlet", "round-robin") else set(range(11)))
        if name != "gauntlet":
            assert [len(equal) for equal in contest.order(results)[:2]] == [1, 1]


def reversed_if_drawn(name: str, count: int) -> tuple[str, ...]:
    """Return the teams in another order where the order must not matter."""
    return names(count)[::-1] if name == "championship" else names(count)


class TestChampionship:
    def test_it_is_played_to_the_end(self) -> None:
        contest = two_groups()
        results = play_by_name(contest)
        assert Counter(game.stage for game in results) == {
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
        assert {game.group for game in rounds[0]} == {"A", "B"}
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
        results = {game: by_name(game) for games in contest.rounds({}) for game in games}
        last = list(results)[-1]
        del results[last]
        assert contest.bracket(results) == ()
        assert open_fixtures(contest.rounds(results), results) == [last]
        assert contest.order(results)[0] == ("a1", "b1")
        assert [one.done for one in contest.standings(results)] == [True, False]
        assert contest.bonus(results) == {"a1": 2, "a2": 1}

    def test_equal_teams_of_a_group_play_further_games_for_the_first_places_alone(self) -> None:
        groups = {"A": tuple("abcd")}
        contest = Championship(groups, seed=5)
        results = {
            game: won_by("a", game) if "a" in (game.first, game.second) else won_by_first(game)
            for games in contest.rounds({})
            for game in games
        }
        further = open_fixtures(contest.rounds(results), results)
        assert {team for game in further for team in (game.first, game.second)} == set("bcd")
        assert len(further) == 6
        assert {(game.stage, game.group, game.extra) for game in further} == {("group", "A", 1)}
        results |= {
            game: won_by("d", game) if "d" in (game.first, game.second) else won_by_first(game)
            for game in further
        }
        (group,) = contest.standings(results)
        assert group.settled.order == (("a",), ("d",), ("b", "c"))
        assert group.settled.notes == ("d before b and c by further games, pair 1",)
        assert group.rows[1].record.games == 6
        assert contest.bracket(results)[0][0].teams == ("a", "d")

    def test_a_lot_is_told(self) -> None:
        contest = Championship({"A": ("a", "b")}, seed=5)
        results: dict[Fixture, Result] = {}
        while not contest.bracket(results):
            games = open_fixtures(contest.rounds(results), results)
            results |= {game: won_by_first(game) for game in games}
        (group,) = contest.standings(results)
        assert group.settled.notes[-1].endswith("by a lot drawn from the seed 5")
        assert group.settled.by_lot

    def test_the_strongest_winners_have_byes(self) -> None:
        groups = {"A": ("a1", "a2"), "B": ("b1", "b2"), "C": ("c1", "c2")}
        contest = Championship(groups, seed=1)
        margins = {"A": 30, "B": 40, "C": 35}
        results = {
            game: won_by(f"{str(game.group).lower()}1", game, margins[str(game.group)])
            for games in contest.rounds({})
            for game in games
        }
        passed = [tie.winner for tie in contest.bracket(results)[0] if tie.reason == "bye"]
        assert sorted(filter(None, passed)) == ["b1", "c1"]


class TestSettings:
    @pytest.mark.parametrize(
        ("given", "error"),
        [
            ({"format": "ladder"}, "unknown format 'ladder'; known: championship, knockout"),
            ({"format": "swiss", "groups": 2}, "only a championship has groups"),
            ({"format": "gauntlet", "meetings": 2}, "only a Swiss contest"),
            ({"format": "swiss", "meetings": 9}, "1 to 2 Swiss meetings, not 9"),
            ({"format": "knockout", "teams": ["a"]}, "2 to 500 teams, not 1"),
            ({"format": "championship", "groups": 3}, "4 teams make 1 to 2 groups, not 3"),
            ({"format": "championship", "groups": {"A": "ab", "B": "c"}}, "'d' is in 0 groups"),
            ({"format": "championship", "groups": {"A": "abc", "B": "d"}}, "it needs two"),
            (
                {"format": "championship", "groups": {"A": "abc", "B": "dx"}},
                "'x', which is no team",
            ),
        ],
    )
    def test_what_cannot_be_is_refused(self, given: dict[str, object], error: str) -> None:
        with pytest.raises(UsageError, match=error):
            make_contest(**({"teams": tuple("abcd"), "seed": 1} | given))  # type: ignore[arg-type]
