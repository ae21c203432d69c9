"""The knockout: who meets whom, and what decides a tie."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cw.league.bracket import Tie, bracket, bracket_rounds, crossed, places, seeded
from cw.league.fixtures import Fixture, Result, open_fixtures
from cw.league.tie_break_matches import MOST_PAIRS
from tests.league.playing import (
    chance,
    draw,
    names,
    nobody_plays_twice,
    of_two,
    won_by,
    won_by_first,
)


def the_tie(results: dict[Fixture, Result], before: tuple[Result, ...] = (), seed: int = 1) -> Tie:
    """Return the tie of a final between a and b."""
    return bracket(("a", "b"), results, seed, before)[0][0]


def legs(first: Result | None = None, second: Result | None = None) -> dict[Fixture, Result]:
    """Return the legs of the final: each wins once, 30:19 both times, unless said otherwise."""
    one, two = the_tie({}).fixtures
    return {one: first or won_by("a", one), two: second or won_by("b", two)}


class TestWhoMeetsWhom:
    def test_eight_by_strength(self) -> None:
        assert seeded(tuple("12345678")) == tuple("18452736")

    def test_the_best_have_byes(self) -> None:
        assert seeded(tuple("12345")) == ("1", None, "4", "5", "2", None, "3", None)

    @given(st.integers(2, 500))
    def test_byes_go_to_the_best_alone(self, count: int) -> None:
        entrants = names(count)
        slots = seeded(entrants)
        assert sorted(filter(None, slots)) == sorted(entrants)
        ties = bracket(slots, {}, 0)[0]
        passed = [tie.winner for tie in ties if tie.reason == "bye"]
        assert all(tie.teams != (None, None) for tie in ties)
        assert sorted(filter(None, passed)) == list(entrants[: len(slots) - count])

    @given(st.integers(1, 250))
    def test_two_of_a_group_can_meet_in_the_final_only(self, count: int) -> None:
        groups = [(f"winner {number}", f"second {number}") for number in range(count)]
        entrants = crossed(groups)
        assert entrants[:count] == [winner for winner, _ in groups]
        slots = seeded(entrants)
        upper = set(slots[: len(slots) // 2])
        assert all((winner in upper) != (second in upper) for winner, second in groups)

    @pytest.mark.parametrize("count", [2, 4, 8, 16])
    def test_winners_meet_runners_up_of_other_groups(self, count: int) -> None:
        groups = [(f"winner {number}", f"second {number}") for number in range(count)]
        for tie in bracket(seeded(crossed(groups)), {}, 0)[0]:
            kinds, numbers = zip(*(str(team).split() for team in tie.teams), strict=True)
            assert set(kinds) == {"winner", "second"}
            assert len(set(numbers)) == 2

    def test_three_groups(self) -> None:
        entrants = crossed([("a1", "a2"), ("b1", "b2"), ("c1", "c2")])
        ties = bracket(seeded(entrants), {}, 0)[0]
        assert [tie.teams for tie in ties] == [
            ("a1", None),
            ("b2", "c2"),
            ("b1", None),
            ("c1", "a2"),
        ]

    def test_the_stages_have_names(self) -> None:
        stages = bracket(seeded(names(32)), {}, 0)
        assert [ties[0].stage for ties in stages] == [
            "round of 32",
            "round of 16",
            "quarter-final",
            "semi-final",
            "final",
        ]


class TestTie:
    def test_it_is_played_in_both_seats(self) -> None:
        fixtures = the_tie({}).fixtures
        assert [fixture.players for fixture in fixtures] == [("a", "b"), ("b", "a")]
        assert len({fixture.meeting for fixture in fixtures}) == 1
        assert {fixture.tie_break for fixture in fixtures} == {0}

    def test_it_is_open_after_one_leg(self) -> None:
        one, two = the_tie({}).fixtures
        tie = the_tie({one: won_by_first(one)})
        assert tie.winner is tie.loser is None
        assert tie.fixtures == (one, two)

    def test_two_wins_decide(self) -> None:
        one, two = the_tie({}).fixtures
        tie = the_tie({one: won_by("b", one, 25), two: won_by("b", two, 25)})
        assert (tie.winner, tie.loser, tie.reason) == ("b", "a", "wins")

    def test_a_win_and_a_draw_decide(self) -> None:
        one, two = the_tie({}).fixtures
        tie = the_tie({one: draw(one), two: won_by("b", two, 25)})
        assert (tie.winner, tie.reason) == ("b", "wins")

    def test_draws_alone_go_on_to_tie_break_matches_and_a_lot(self) -> None:
        results: dict[Fixture, Result] = {}
        while fixtures := [
            fixture for fixture in the_tie(results).fixtures if fixture not in results
        ]:
            results |= {fixture: draw(fixture) for fixture in fixtures}
        tie = the_tie(results)
        assert (len(tie.fixtures), tie.reason) == (2 + 2 * MOST_PAIRS, "lot")
        assert tie.winner in ("a", "b")

    def test_then_the_score_ratio(self) -> None:
        one, two = the_tie({}).fixtures
        tie = the_tie({one: won_by("a", one, 30), two: won_by("b", two, 31)})
        assert (tie.winner, tie.reason) == ("b", "score ratio")

    def test_the_score_ratio_is_of_all_games(self) -> None:
        one, two = the_tie({}).fixtures
        before = (of_two("a", "c", 40, 9), of_two("c", "b", 9, 35))
        # b is better in the tie, a in all it has played so far, until b has won one before too.
        tie = the_tie({one: won_by("a", one, 30), two: won_by("b", two, 32)}, before[:1])
        assert tie.winner == "a"
        tie = the_tie({one: won_by("a", one, 30), two: won_by("b", two, 36)}, before)
        assert (tie.winner, tie.reason) == ("b", "score ratio")

    def test_then_the_games_between_both(self) -> None:
        before = (
            of_two("b", "a", 25, 24),
            of_two("a", "b", 24, 25),
            of_two("a", "c", 27, 22),
            of_two("b", "c", 25, 24),
        )
        tie = the_tie(legs(), before)
        assert (tie.winner, tie.reason) == ("b", "head-to-head")

    def test_then_two_tie_break_matches_of_one_meeting(self) -> None:
        tie = the_tie(legs())
        assert (tie.winner, tie.reason) == (None, "")
        one, two = tie.fixtures[2:]
        assert {one.players, two.players} == {("a", "b"), ("b", "a")}
        assert one.tie_break == two.tie_break == 1
        assert one.meeting == two.meeting != tie.fixtures[0].meeting
        tie = the_tie(legs() | {one: won_by("b", one), two: won_by("b", two)})
        assert (tie.winner, tie.reason) == ("b", "tie-break matches")
        tie = the_tie(legs() | {one: won_by("a", one, 31), two: won_by("b", two, 30)})
        assert (tie.winner, tie.reason) == ("a", "tie-break matches")

    def play_on(self, seed: int) -> tuple[Tie, dict[Fixture, Result]]:
        results = legs()
        while fixtures := [
            fixture for fixture in the_tie(results, (), seed).fixtures if fixture not in results
        ]:
            assert len(fixtures) == 2
            results |= {fixture: won_by_first(fixture) for fixture in fixtures}
        return the_tie(results, (), seed), results

    def test_after_ten_pairs_a_lot_is_drawn_from_the_seed(self) -> None:
        tie, results = self.play_on(1)
        assert tie.reason == "lot"
        assert len(tie.fixtures) == 2 + 2 * MOST_PAIRS == len(results)
        assert len({fixture.meeting for fixture in tie.fixtures}) == 1 + MOST_PAIRS
        assert {self.play_on(seed)[0].winner for seed in range(20)} == {"a", "b"}
        assert self.play_on(1)[0] == tie

    def test_tie_break_matches_count_in_no_later_tie(self) -> None:
        slots = ("a", "b", "c", "d")
        results: dict[Fixture, Result] = {}
        while fixtures := open_fixtures(bracket_rounds(bracket(slots, results, 1)[:1]), results):
            for fixture in fixtures:
                first = fixture.players[0]
                winner = "a" if fixture.tie_break and first in "ab" else first
                results[fixture] = won_by(winner, fixture, 49 if fixture.tie_break else 30)
        semi_final, final = bracket(slots, results, 1)
        assert semi_final[0].reason == "tie-break matches"
        one, two = final[0].fixtures
        results |= {one: won_by_first(one), two: won_by_first(two)}
        final = bracket(slots, results, 1)[1]
        assert final[0].winner is None
        assert len(final[0].fixtures) == 4


class TestBracket:
    @given(st.integers(2, 64), st.integers(0, 10**6))
    def test_it_ends_with_one_winner(self, count: int, seed: int) -> None:
        self.check(count, seed)

    @pytest.mark.parametrize("count", [127, 300, 500])
    def test_many_teams(self, count: int) -> None:
        self.check(count, 1)

    def check(self, count: int, seed: int) -> None:
        slots = seeded(names(count))
        results: dict[Fixture, Result] = {}
        while fixtures := open_fixtures(bracket_rounds(bracket(slots, results, seed)), results):
            results |= {fixture: chance(fixture, seed) for fixture in fixtures}
        ties = bracket(slots, results, seed)
        losers = [tie.loser for stage in ties for tie in stage if tie.loser]
        assert len(losers) == len(set(losers)) == count - 1
        assert ties[-1][0].winner not in losers
        assert all(nobody_plays_twice(fixtures) for fixtures in bracket_rounds(ties))
        order = places(ties)
        assert order[:2] == ((ties[-1][0].winner,), (ties[-1][0].loser,))
        assert sorted(team for equal in order for team in equal) == list(names(count))

    def test_a_tie_of_the_next_stage_does_not_wait_for_the_others(self) -> None:
        slots = seeded(names(8))
        results = {
            fixture: won_by(min(fixture.players), fixture)
            for tie in bracket(slots, {}, 1)[0][:2]
            for fixture in tie.fixtures
        }
        semi_finals = bracket(slots, results, 1)[1]
        assert semi_finals[0].teams == ("t001", "t004")
        assert len(semi_finals[0].fixtures) == 2
        assert semi_finals[1].teams == (None, None)
        assert semi_finals[1].fixtures == ()

    def test_who_is_still_in_stands_first(self) -> None:
        one, two = bracket(seeded("abc"), {}, 1)[0][1].fixtures
        results = {one: won_by("c", one), two: won_by("c", two)}
        assert places(bracket(seeded("abc"), results, 1)) == (("a", "c"), ("b",))
