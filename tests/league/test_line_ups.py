"""Free-for-all: how often teams play, whom they meet, and where they sit."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cw.league.fixtures import Round
from cw.league.line_ups import free_for_all
from tests.league.playing import names, nobody_plays_twice, players_of

SIZES = st.integers(3, 40).flatmap(
    lambda teams: st.tuples(st.just(teams), st.integers(3, min(teams, 9)), st.integers(1, 20))
)
SEEDS = st.integers(0, 10**6)


def plan(teams: int, players: int, rounds: int, seed: int) -> tuple[Round, ...]:
    return free_for_all(names(teams), players, rounds, seed)


@given(SIZES, SEEDS)
def test_every_round_fills_as_many_matches_as_there_are_teams_for(
    size: tuple[int, int, int], seed: int
) -> None:
    teams, players, count = size
    rounds = plan(teams, players, count, seed)
    assert len(rounds) == count
    assert all(len(fixtures) == teams // players for fixtures in rounds)
    assert all(nobody_plays_twice(fixtures) for fixtures in rounds)
    assert {len(f.players) for f in chain.from_iterable(rounds)} == {players}


@given(SIZES, SEEDS)
def test_nobody_plays_two_matches_more_than_another(size: tuple[int, int, int], seed: int) -> None:
    teams, players, count = size
    played = Counter(dict.fromkeys(names(teams), 0))
    for fixtures in plan(teams, players, count, seed):
        played.update(players_of(fixtures))
        assert max(played.values()) - min(played.values()) <= 1


@given(SIZES, SEEDS)
def test_nobody_has_a_seat_again_before_all_others(size: tuple[int, int, int], seed: int) -> None:
    teams, players, count = size
    seats: dict[str, list[int]] = defaultdict(list)
    for fixture in chain.from_iterable(plan(teams, players, count, seed)):
        for seat, team in enumerate(fixture.players):
            seats[team].append(seat)
    for sat in seats.values():
        for begin in range(0, len(sat), players):
            block = sat[begin : begin + players]
            assert len(set(block)) == len(block)


@given(st.integers(3, 12), SEEDS)
def test_in_matches_of_all_everyone_sits_everywhere_once(teams: int, seed: int) -> None:
    rounds = plan(teams, teams, teams, seed)
    for seat in range(teams):
        assert len({fixtures[0].players[seat] for fixtures in rounds}) == teams


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("teams", "players"), [(9, 3), (16, 4), (12, 3), (25, 5)])
def test_teams_meet_new_ones_first(teams: int, players: int, seed: int) -> None:
    met: Counter[tuple[str, ...]] = Counter()
    for fixture in chain.from_iterable(plan(teams, players, 4, seed)):
        met.update(combinations(sorted(fixture.players), 2))
    # If line-ups paid no heed to who has met, some pair would meet in all four rounds now and then.
    assert max(met.values()) <= 2
    met_once = sum(count == 1 for count in met.values())
    assert met_once > len(met) / 2


def test_the_order_of_the_teams_plays_no_part_and_the_seed_does() -> None:
    teams = names(12)
    assert free_for_all(teams, 4, 6, 1) == free_for_all(teams[::-1], 4, 6, 1)
    assert free_for_all(teams, 4, 6, 1) != free_for_all(teams, 4, 6, 2)


def test_every_match_of_many_has_a_seed_of_its_own() -> None:
    fixtures = list(chain.from_iterable(plan(4, 4, 8, 1)))
    assert len({fixture.meeting for fixture in fixtures}) == len(fixtures)


def test_five_hundred_teams_are_seated() -> None:
    rounds = plan(500, 6, 10, 1)
    assert sum(map(len, rounds)) == 830
