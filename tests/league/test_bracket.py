"""The knockout: who meets whom, and what decides a tie."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cw.league.bracket import Tie, bracket, bracket_rounds, crossed, places, seeded
from cw.league.fixtures import Fixture, Result, open_fixtures
from cw.league.ties import MOST_PAIRS
from tests.league.playing import chance, names, nobody_plays_twice, won_by, won_by_first


def the_tie(results: dict[Fixture, Result], before: tuple[Result, ...] = (), seed: int = 1) -> Tie:
    """Return the tie of a final between a and b."""
    return bracket(("a", "b"), results, seed, before)[0][0]


def legs(first: Result | None = None, second: Result | None = None) -> dict[Fixture, Result]:
    """Return the legs of the final: each wins once, 30:19 both times, unless said otherwise."""
    one, two = the_tie({}).games
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
        games = the_tie({}).games
        assert [(game.first, game.second) for game in games] == [("a", "b"), ("b", "a")]
        assert len({game.meeting for game in games}) == 1
        assert {game.opening for game in games} == {0}

    def test_it_is_open_after_one_leg(self) -> None:
        one, two = the_tie({}).games
        tie = the_tie({one: won_by_first(one)})
        assert tie.winner is tie.loser is None
        assert tie.games == (one, two)

    def test_two_wins_decide(self) -> None:
        one, two = the_tie({}).games
        tie = the_tie({one: won_by("b", one, 25), two: won_by("b", two, 25)})
        assert (tie.winner, tie.loser, tie.reason) == ("b", "a", "wins")

    def test_then_the_score_ratio(self) -> None:
        one, two = the_tie({}).games
        tie = the_tie({one: won_by("a", one, 30), two: won_by("b", two, 31)})
        assert (tie.winner, tie.reason) == ("b", "score ratio")

    def test_the_score_ratio_is_of_all_games(self) -> None:
        one, two = the_tie({}).games
        before = (Result("a", "c", "a", (40, 9)), Result("c", "b", "b", (9, 35)))
        # b is better in the tie, a in all it has played so far, until b has won a game before too.
        tie = the_tie({one: won_by("a", one, 30), two: won_by("b", two, 32)}, before[:1])
        assert tie.winner == "a"
        tie = the_tie({one: won_by("a", one, 30), two: won_by("b", two, 36)}, before)
        assert (tie.winner, tie.reason) == ("b", "score ratio")

    def test_then_the_games_between_both(self) -> None:
        before = (
            Result("b", "a", "b", (25, 24)),
            Result("a", "b", "b", (24, 25)),
            Result("a", "c", "a", (27, 22)),
            Result("b", "c", "b", (25, 24)),
        )
        tie = the_tie(legs(), before)
        assert (tie.winner, tie.reason) == ("b", "head-to-head")

    def test_then_two_further_games_with_one_opening(self) -> None:
        tie = the_tie(legs())
        assert (tie.winner, tie.reason) == (None, "")
        one, two = tie.games[2:]
        assert {(game.first, game.second) for game in (one, two)} == {("a", "b"), ("b", "a")}
        assert one.opening == two.opening == 4
        assert one.meeting == two.meeting != tie.games[0].meeting
        tie = the_tie(legs() | {one: won_by("b", one), two: won_by("b", two)})
        assert (tie.winner, tie.reason) == ("b", "further games")
        tie = the_tie(legs() | {one: won_by("a", one, 31), two: won_by("b", two, 30)})
        assert (tie.winner, tie.reason) == ("a", "further games")

    def play_on(self, seed: int) -> tuple[Tie, dict[Fixture, Result]]:
        results = legs()
        while games := [game for game in the_tie(results, (), seed).games if game not in results]:
            assert len(games) == 2
            results |= {game: won_by_first(game) for game in games}
        return the_tie(results, (), seed), results

    def test_after_ten_pairs_a_lot_is_drawn_from_the_seed(self) -> None:
        tie, results = self.play_on(1)
        assert tie.reason == "lot"
        assert len(tie.games) == 2 + 2 * MOST_PAIRS == len(results)
        assert len({game.meeting for game in tie.games}) == 1 + MOST_PAIRS
        assert {self.play_on(seed)[0].winner for seed in range(20)} == {"a", "b"}
        assert self.play_on(1)[0] == tie

    def test_further_games_count_in_no_later_tie(self) -> None:
        slots = ("a", "b", "c", "d")
        results: dict[Fixture, Result] = {}
        while games := open_fixtures(bracket_rounds(bracket(slots, results, 1)[:1]), results):
            for game in games:
                winner = "a" if game.extra and game.first in "ab" else game.first
                results[game] = won_by(winner, game, 49 if game.extra else 30)
        semi_final, final = bracket(slots, results, 1)
        assert semi_final[0].reason == "further games"
        one, two = final[0].games
        results |= {one: won_by_first(one), two: won_by_first(two)}
        final = bracket(slots, results, 1)[1]
        assert final[0].winner is None
        assert len(final[0].games) == 4


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
        while games := open_fixtures(bracket_rounds(bracket(slots, results, seed)), results):
            results |= {game: chance(game, seed) for game in games}
        ties = bracket(slots, results, seed)
        losers = [tie.loser for stage in ties for tie in stage if tie.loser]
        assert len(losers) == len(set(losers)) == count - 1
        assert ties[-1][0].winner not in losers
        assert all(nobody_plays_twice(games) for games in bracket_rounds(ties))
        order = places(ties)
        assert order[:2] == ((ties[-1][0].winner,), (ties[-1][0].loser,))
        assert sorted(team for equal in order for team in equal) == list(names(count))

    def test_a_tie_of_the_next_stage_does_not_wait_for_the_others(self) -> None:
        slots = seeded(names(8))
        results = {
            game: won_by(min(game.first, game.second), game)
            for tie in bracket(slots, {}, 1)[0][:2]
            for game in tie.games
        }
        semi_finals = bracket(slots, results, 1)[1]
        assert semi_finals[0].teams == ("t001", "t004")
        assert len(semi_finals[0].games) == 2
        assert semi_finals[1].teams == (None, None)
        assert semi_finals[1].games == ()

    def test_who_is_still_in_stands_first(self) -> None:
        one, two = bracket(seeded("abc"), {}, 1)[0][1].games
        results = {one: won_by("c", one), two: won_by("c", two)}
        assert places(bracket(seeded("abc"), results, 1)) == (("a", "c"), ("b",))
