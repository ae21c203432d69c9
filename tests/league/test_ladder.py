"""The ladder of a group: plans, results, points, positions, ties, boards and phases."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise, permutations
from random import Random

import pytest

from cw.league.ladder import (
    POINTS,
    BoardSpec,
    EntryTotals,
    EvenGames,
    GameResult,
    GroupEvent,
    Phase,
    PlayedMatch,
    Scoring,
    Tally,
    active_boards,
    crosstable,
    derived_seed,
    due_now,
    final_order,
    match_points,
    next_board,
    pairs,
    phase,
    positions,
    result,
    seats,
    summed,
)

WON, LOST, EVEN = (
    GameResult((1, 2), (30, 20)),
    GameResult((2, 1), (20, 30)),
    GameResult((1, 1), (25, 25)),
)


# Plans


@pytest.mark.parametrize("number", range(2, 101))
def test_every_two_meet_once(number: int) -> None:
    planned = pairs(range(number), seed=number)
    assert Counter(map(frozenset, planned)) == Counter(
        map(frozenset, combinations(range(number), 2))
    )


@pytest.mark.parametrize("entries", [[], [7]])
def test_who_is_alone_plays_nobody(entries: list[int]) -> None:
    assert pairs(entries, 1) == []


def test_the_load_is_even_over_a_round() -> None:
    for seed in range(100):
        planned = pairs(range(20), seed)
        quarters = [0, 0.25, 0.5, 0.75, 1]
        for low, high in pairwise(quarters):
            part = planned[round(low * len(planned)) : round(high * len(planned))]
            load = Counter(entry for pair in part for entry in pair)
            assert all(0.15 <= load[entry] / 19 <= 0.35 for entry in range(20)), seed


def test_a_plan_depends_on_the_seed_alone() -> None:
    assert pairs([3, 1, 2, 4], 5) == pairs([1, 2, 3, 4], 5)
    assert len({tuple(pairs(range(6), seed)) for seed in range(20)}) == 20
    begins = Counter(first for seed in range(200) for first, _ in pairs(range(4), seed))
    assert all(240 < begins[entry] < 360 for entry in range(4))


def test_all_sit_in_one_match() -> None:
    assert sorted(seats("cab", 1)) == ["a", "b", "c"]
    assert seats("cab", 1) == seats("abc", 1)
    assert len({seats("abcd", seed) for seed in range(200)}) == 24


def test_seeds_differ_by_what_they_are_for() -> None:
    seeds = {derived_seed(53, seed, group, number) for seed in (1, 2) for group in "ab"
            for number in range(50)}  # fmt: skip
    assert len(seeds) == 200
    assert max(seeds) < 1 << 53
    assert derived_seed(31, 1, "grodno", 2) == derived_seed(31, 1, "grodno", 2)


# Results and points


@pytest.mark.parametrize(
    ("games", "text", "outcome"),
    [
        ([WON, WON], "2:0", "won"),
        ([WON, EVEN], "1:0", "won"),
        ([WON, LOST], "1:1", "drawn"),
        ([EVEN, EVEN], "0:0", "drawn"),
        ([LOST, EVEN], "0:1", "lost"),
        ([LOST, LOST], "0:2", "lost"),
    ],
)
def test_a_result_is_counted_in_games(games: list[GameResult], text: str, outcome: str) -> None:
    match = result(games, 0, 1)
    assert (str(match), match.outcome) == (text, outcome)


@pytest.mark.parametrize(
    ("tiebreak", "scores", "outcome"),
    [
        ("none", (49, 0), "drawn"),
        ("score", (49, 0), "won"),
        ("score", (0, 49), "lost"),
        ("score", (5, 5), "drawn"),
    ],
)
def test_scores_tell_equal_results_apart_where_that_is_set(
    tiebreak: EvenGames, scores: tuple[int, int], outcome: str
) -> None:
    assert result([GameResult((1, 1), scores)], 0, 1, tiebreak).outcome == outcome
    assert result([GameResult((1, 2), (0, 49))], 0, 1, tiebreak).outcome == "won"


def test_who_has_no_rank_is_below() -> None:
    assert result([GameResult((None, 3), (None, 1))], 0, 1).outcome == "lost"
    assert result([GameResult((None, None), (None, None))], 0, 1, "score").outcome == "drawn"


def test_the_example_of_hexagon() -> None:
    a, b, c, d = 1, 4, 2, 2
    size_5 = Scoring(POINTS, factor=3)
    assert match_points([WON, WON], (b, a), size_5) == (12, 0)
    assert match_points([WON, LOST], (b, a), size_5) == (3, 0)
    assert match_points([WON, EVEN], (a, b), size_5) == (6, 0)
    assert match_points([WON, WON], (c, d), size_5) == (6, 0)
    assert match_points([EVEN, EVEN], (c, d), size_5) == (0, 0)


def test_at_most_one_of_two_has_points() -> None:
    for battles in permutations([WON, LOST, EVEN], 2):
        for places in ((1, 1), (1, 2), (2, 1)):
            assert match_points(battles, places, Scoring(POINTS)).count(0) >= 1


def test_in_a_match_of_all_each_opponent_counts() -> None:
    battle = GameResult((1, 2, 2), (9, 5, 5))
    assert match_points([battle], (3, 1, 2), Scoring(POINTS)) == (8, 0, 1)


def test_the_order_of_matches_changes_nothing() -> None:
    rng, standing = Random(1), {"a": 1, "b": 1, "c": 3, "d": 4}
    played = [
        PlayedMatch(pair, tuple(rng.choice([WON, LOST, EVEN]) for _ in range(2)))
        for pair in pairs(standing, 1)
    ]
    expected = summed(crosstable(played, standing, Scoring(POINTS, 2)))
    for _ in range(20):
        rng.shuffle(played)
        assert summed(crosstable(played, standing, Scoring(POINTS, 2))) == expected
    total = Tally()
    for score in expected.values():
        total = total.plus(score)
    assert (total.won, total.games_diff, total.score_diff) == (total.lost, 0, 0)


# Places


def test_positions_are_shared_and_newcomers_are_level() -> None:
    totals = {"a": 9, "b": 4, "c": 4, "d": 0, "e": 0}
    assert positions(totals, totals) == {"a": 1, "b": 2, "c": 2, "d": 4, "e": 4}


def test_those_out_of_competition_take_no_place() -> None:
    totals = {"ours": 10, "a": 9, "b": 4}
    assert positions(totals, ["a", "b"]) == {"ours": 1, "a": 1, "b": 2}


def test_equal_points_are_told_apart_one_thing_after_the_other() -> None:
    standings = [
        EntryTotals("fewer", 5),
        EntryTotals("scores", 9, 2, 30),
        EntryTotals("battles", 9, 3, -5),
        EntryTotals("won it", 9, 2, 10),
        EntryTotals("lost it", 9, 2, 10),
    ]
    between = {("won it", "lost it"): 4.0, ("fewer", "battles"): 99.0}
    for some in permutations(standings):
        assert final_order(some, between, 1) == ["battles", "scores", "won it", "lost it", "fewer"]


def test_a_lot_depends_on_the_seed_alone() -> None:
    for seed in range(10):
        orders = {
            tuple(final_order(some, {}, seed))
            for some in permutations(map(EntryTotals, "abc", [1] * 3))
        }
        assert len(orders) == 1
    assert (
        len({final_order(map(EntryTotals, "abc", [1] * 3), {}, seed)[0] for seed in range(50)}) == 3
    )


# Boards

THREE, FIVE, SEVEN = (BoardSpec(f"Hexagon {size}", {"size": size}, size) for size in (3, 5, 7))


def test_boards_are_added_and_replaced() -> None:
    assert active_boards([]) == []
    assert active_boards([("add", [THREE, FIVE]), ("add", [FIVE, SEVEN])]) == [THREE, FIVE, SEVEN]
    assert active_boards([("add", [THREE]), ("replace", [SEVEN]), ("add", [FIVE])]) == [SEVEN, FIVE]


def test_the_board_used_longest_ago_is_next() -> None:
    active = [THREE, FIVE, SEVEN]
    assert next_board(active, []) == THREE
    assert next_board(active, [THREE]) == FIVE
    assert next_board(active, [FIVE, THREE]) == SEVEN
    assert next_board(active, [THREE, SEVEN, FIVE, THREE]) == SEVEN
    assert next_board([FIVE], [FIVE, FIVE]) == FIVE
    assert BoardSpec.from_json(FIVE.to_json()) == FIVE


# Events


@pytest.mark.parametrize(
    ("kinds", "of_cities", "of_the_final"),
    [
        ("", "waiting", "waiting"),
        ("note boards", "waiting", "waiting"),
        ("start", "running", "waiting"),
        ("start pause", "paused", "waiting"),
        ("pause start", "paused", "waiting"),
        ("start pause resume", "running", "waiting"),
        ("resume start", "running", "waiting"),
        ("start final", "over", "running"),
        ("start final pause", "over", "paused"),
        ("start final pause end", "over", "over"),
        ("start final end", "over", "over"),
        ("start end", "over", "over"),
        ("end", "over", "over"),
        ("end start", "over", "over"),
        ("final start", "over", "running"),
    ],
)
def test_phases_follow_from_events(kinds: str, of_cities: Phase, of_the_final: Phase) -> None:
    events = [GroupEvent(kind) for kind in kinds.split()]  # type: ignore[arg-type]
    assert phase(events, is_final=False, is_open=False) == of_cities
    assert phase(events, is_final=True, is_open=False) == of_the_final


def test_a_round_that_is_open_is_played_out() -> None:
    start, end = GroupEvent("start"), GroupEvent("end")
    assert phase([start, end], is_final=False, is_open=True) == "closing"
    events = [start, GroupEvent("pause"), end]
    assert phase(events, is_final=False, is_open=True) == "paused"
    assert phase([*events, GroupEvent("resume")], is_final=False, is_open=True) == "closing"


def test_a_final_that_waits_ends_the_rounds_of_the_cities_alone() -> None:
    events = [GroupEvent("start"), GroupEvent("final", applied=False)]
    assert phase(events, is_final=False, is_open=True) == "closing"
    assert phase(events, is_final=False, is_open=False) == "over"
    assert phase(events, is_final=True, is_open=False) == "waiting"


def test_what_comes_after_a_final_that_waits_waits_too() -> None:
    assert due_now(["final"], is_final_ready=True) == 0
    assert due_now(["final", "end"], is_final_ready=False) is None
    assert due_now(["boards", "final"], is_final_ready=False) == 0
    assert due_now(["final", "boards", "pause"], is_final_ready=False) == 2
    assert due_now([], is_final_ready=False) is None
