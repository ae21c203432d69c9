"""Who plays whom in a rating without end."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from cw.league.matchmaking import Candidate, Pairing, distance, eligible, pair, seed_bot
from tests.league.simulated_week import MAPS, played_week

NO_MAPS = {2: None}


def bot(name: str, rating: float = 800.0, last: float | None = None, **more: object) -> Candidate:
    return replace(Candidate(name, name, rating, last, 0, {}), **more)  # type: ignore[arg-type]


def ladder(number: int) -> list[Candidate]:
    """Return bots from the strongest to the weakest; the turn is that of the one in the middle."""
    return [
        bot(f"b_{place:08x}", -place, 0.0 if place == number // 2 else 9.0)
        for place in range(number)
    ]


def opponent(pairing: Pairing | None) -> str:
    assert pairing is not None
    (other,) = set(pairing.slots) - {pairing.seed_bot}
    return other


@pytest.mark.parametrize(
    ("changed", "may"),
    [
        ({}, True),
        ({"status": "INACTIVE"}, False),
        ({"healthy_at": None}, False),
        ({"healthy_at": 6400.0}, True),
        ({"healthy_at": 6399.0}, False),
        ({"playing": True}, False),
        ({"last_match_at": None, "crash_streak": 3}, True),
        ({"last_match_at": 8201.0, "crash_streak": 2}, True),
        ({"last_match_at": 8201.0, "crash_streak": 3}, False),
        ({"last_match_at": 8200.0, "crash_streak": 3}, True),
        ({"last_match_at": 9941.0, "rest": 60.0}, False),
        ({"last_match_at": 9940.0, "rest": 60.0}, True),
    ],
)
def test_who_may_be_paired(changed: dict[str, object], may: bool) -> None:
    facts = {
        "status": "ACTIVE",
        "healthy_at": 10_000.0,
        "playing": False,
        "crash_streak": 0,
        "last_match_at": 9_000.0,
    }
    assert eligible(10_000.0, **facts | changed) is may  # type: ignore[arg-type]


def test_the_turn_is_of_the_bot_whose_last_match_is_longest_ago() -> None:
    late, early, never = bot("b_1", last=5), bot("b_2", last=3), bot("b_3")
    house = bot("b_0", owner=None)
    assert seed_bot([late, early]) == early
    assert seed_bot([late, early, never, replace(never, bot_id="b_4")]) == never
    assert seed_bot([house, late]) == late
    assert seed_bot([house, late], house=True) == house
    assert seed_bot([house]) is None
    assert seed_bot([]) is None


def test_distances_follow_a_pareto_distribution() -> None:
    assert [distance(u) for u in (1.0, 0.67, 0.66, 0.194, 0.193)] == [1, 1, 2, 16, 17]
    assert distance(5e-324) > 10**20


def test_four_of_five_opponents_are_within_sixteen_places() -> None:
    pool, rng = ladder(401), Random(1)
    places = {one.bot_id: place for place, one in enumerate(pool)}
    gaps = [abs(places[opponent(pair(pool, {}, NO_MAPS, rng))] - 200) for _ in range(1000)]
    assert sum(gap <= 16 for gap in gaps) / len(gaps) == pytest.approx(0.807, abs=0.05)
    assert max(gaps) > 16


def test_the_format_is_the_one_that_was_played_least() -> None:
    pool = [bot("b_0", games={2: 3, 3: 1, 4: 1, 6: 0}), *(bot(f"b_{n}", last=1) for n in "1234")]
    assert len(pair(pool, {}, dict.fromkeys((2, 3, 4, 6)), Random(1)).slots) == 3  # type: ignore[union-attr]
    assert len(pair(pool, {}, {2: [("m", None)], 3: []}, Random(1)).slots) == 2  # type: ignore[union-attr]
    assert pair(pool, {}, {3: []}, Random(1)) is None
    assert pair(pool, {}, {6: None}, Random(1)) is None


def test_two_bots_of_one_owner_do_not_meet() -> None:
    anns = [bot("b_0", owner="ann"), bot("b_1", owner="ann", last=1)]
    assert pair(anns, {}, NO_MAPS, Random(1)) is None
    assert opponent(pair(anns, {}, NO_MAPS, Random(1), same_owner=True)) == "b_1"
    bob = bot("b_2", owner="bob", shown_rating=-900, last=1)
    assert opponent(pair([*anns, bob], {}, NO_MAPS, Random(1))) == "b_2"
    house = [bot("b_8", owner=None), bot("b_9", owner=None)]
    pairing = pair([anns[0], *house], {}, {3: None}, Random(1))
    assert pairing is not None
    assert set(pairing.slots) == {"b_0", "b_8", "b_9"}


def test_the_opponent_is_the_one_met_longest_ago_then_who_played_least() -> None:
    pool = [
        bot("b_0", 2.0),
        bot("b_1", 3.0, 1, games_24h=5),
        bot("b_2", 1.0, 1, games_24h=4),
    ]
    assert opponent(pair(pool, {}, NO_MAPS, Random(1))) == "b_2"
    assert opponent(pair(pool, {"b_2": 5.0}, NO_MAPS, Random(1))) == "b_1"
    assert opponent(pair(pool, {"b_2": 5.0, "b_1": 6.0}, NO_MAPS, Random(1))) == "b_2"


def test_maps_are_taken_in_turn() -> None:
    pool = [bot("b_0"), bot("b_1", last=1)]

    def chosen(*maps: tuple[str, float | None]) -> str | None:
        pairing = pair(pool, {}, {2: maps}, Random(1))
        assert pairing is not None
        return pairing.map_id

    assert chosen(("m_b", 4), ("m_a", 5)) == "m_b"
    assert chosen(("m_b", 4), ("m_a", 4)) == "m_a"
    assert chosen(("m_b", 4), ("m_c", None)) == "m_c"
    assert pair(pool, {}, NO_MAPS, Random(1)).map_id is None  # type: ignore[union-attr]


def test_the_order_of_the_pool_changes_nothing_and_the_slots_are_shuffled() -> None:
    pool, maps = ladder(30), {count: [(name, None) for name in ids] for count, ids in MAPS.items()}
    first = [pair(pool, {}, maps, Random(seed)) for seed in range(30)]
    assert first == [pair(pool[::-1], {}, maps, Random(seed)) for seed in range(30)]
    assert {one.slots.index(one.seed_bot) for one in first if one} == {0, 1}


def test_some_days_of_matches_put_the_bots_in_their_order() -> None:
    week = played_week(bots=60, days=4)
    assert week.correlation() >= 0.95
    assert week.fewest_a_day() >= 10
    assert max(player.phis[29] for player in week.players.values()) < 80
    seats = [sum(one.by_format[players] for one in week.players.values()) for players in MAPS]
    assert max(seats) <= 1.1 * min(seats)
    for players, ids in MAPS.items():
        uses = [week.uses[name] for name in ids]
        assert max(uses) - min(uses) <= 1, players
