"""Code Battle against its document: the worked examples, and the rules one by one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.games.code_battle.positions import (
    CODEC,
    FAR,
    GAME,
    counts_of,
    play,
    position,
    words,
)


def scores(after: dict[str, Any]) -> list[int]:
    return [player["score"] for player in after["players"]]


def eliminated(after: dict[str, Any]) -> list[int]:
    return [player["eliminated"] for player in after["players"]]


# Worked examples, by their number in the document.


def test_1_a_bot_that_runs_onto_a_standing_friend() -> None:
    after = play(position(f"A0,3 A19,3 {FAR}"), "A0,3N")
    assert words(after, "dead") == "A19,3 A19,3"
    after = play(position(f"A5,5 A5,4 {FAR}", walls=((4, 5),)), "A5,5N", "A5,4E")
    assert words(after, "dead") == "A5,5 A5,5"
    assert eliminated(after) == [0, 0]


def test_2_friends_follow_and_swap() -> None:
    after = play(position(f"A5,5 A5,6 A7,7 A7,8 {FAR}"), "A5,5E", "A5,6E", "A7,7E", "A7,8W")
    assert words(after) == "A12,0 A5,6 A5,7 A7,7 A7,8 B12,12"
    assert after["dead"] == []


def test_3_a_bot_that_runs_into_a_standing_enemy() -> None:
    after = play(position(f"A5,5 A4,5 A6,5 B5,6 {FAR}"), "A5,5E")
    assert words(after, "dead") == "A5,6 B5,6"
    assert words(after) == "A12,0 A4,5 A6,5 B12,12"
    assert eliminated(after) == [1, 1]


def test_4_enemies_that_meet_fight() -> None:
    after = play(position(f"A5,4 B5,6 {FAR}"), "A5,4E", "B5,6W")
    assert words(after, "dead") == "A5,5 B5,5"
    after = play(position(f"A5,4 A4,5 B5,6 {FAR}"), "A5,4E", "B5,6W")
    assert words(after, "dead") == "B5,5"


def test_5_two_against_one() -> None:
    after = play(position(f"A5,5 A4,5 B5,8 {FAR}"), "B5,8W")
    assert words(after, "dead") == "B5,7"
    after = play(position(f"A5,5 A5,4 B5,8 {FAR}"), "B5,8W")
    assert words(after, "dead") == "A5,5 B5,7"


def test_6_three_owners_in_a_row() -> None:
    after = play(position("A5,3 B5,5 C5,7", slots=3))
    assert words(after, "dead") == "B5,5"
    assert words(after) == "A5,3 C5,7"
    assert eliminated(after) == [1, 0, 1]


def test_7_a_core_is_captured() -> None:
    document = position(f"A8,7 {FAR}", cores="B8,8", stats={"B": {"energy": 3}})
    after = play(document, "A8,7E")
    assert scores(after) == [3, 0]
    assert after["cores"][0]["active"] is False
    assert after["players"][1]["energy"] == 3
    assert after["next_bot_id"] == 3


def test_8_energy_is_collected_destroyed_spent_and_comes_back() -> None:
    document = position(
        f"A2,2 A2,8 B4,10 {FAR}",
        cores="A15,0",
        nodes="3,3* 3,9* 18,18+9",
        stats={"A": {"energy": 2, "collected": 2}},
    )
    after = play(document)
    assert after["players"][0]["collected"] == 3
    assert after["players"][0]["energy"] == 0
    assert after["cores"][0]["last_spawn"] == 1
    assert after["bots"][-1] == {"id": 5, "row": 15, "col": 0, "owner": 0}
    assert [(node["energy"], node["timer"]) for node in after["nodes"]] == [
        (False, 1),
        (False, 1),
        (True, 0),
    ]


def test_9_the_core_that_was_idle_longest_spawns() -> None:
    document = position(FAR, cores="A3,3@7 A3,9@4", turn=20, stats={"A": {"energy": 4}})
    after = play(document)
    assert words(after) == "A12,0 A3,9 B12,12"
    assert [core["last_spawn"] for core in after["cores"]] == [7, 21]
    assert after["players"][0]["energy"] == 1


def test_10_a_slot_that_can_spawn_has_not_lost() -> None:
    after = play(position("A5,5 A4,5 B5,7", cores="B15,15", stats={"B": {"energy": 3}}))
    assert words(after) == "A4,5 A5,5 B15,15"
    assert after["outcome"] is None
    after = play(position("A5,5 A4,5 B5,7", cores="B15,15", stats={"B": {"energy": 2}}))
    assert after["outcome"] == {
        "winner": 0,
        "condition": "sole_survivor",
        "ranks": [1, 2],
        "final_scores": [3, 1],
        "final_energy": [0, 0],
        "final_bots": [2, 0],
    }


def test_11_dominance() -> None:
    document = position("A0,0 A0,1 A0,2 A0,3 B10,10", stats={"A": {"dominant_turns": 99}})
    after = play(document)
    assert after["players"][0]["dominant_turns"] == 100
    assert after["outcome"]["condition"] == "dominance"
    assert after["outcome"]["winner"] == 0


def test_12_the_turn_limit_is_broken_by_what_was_collected() -> None:
    twos = {"A": {"score": 2, "collected": 5, "energy": 9}, "B": {"score": 2, "collected": 6}}
    after = play(position("A0,0 B10,10", turn=499, stats=twos))
    assert (after["outcome"]["winner"], after["outcome"]["ranks"]) == (1, [2, 1])
    twos["B"]["collected"] = 5
    after = play(position("A0,0 B10,10", turn=499, stats=twos))
    assert after["outcome"]["condition"] == "turn_limit"
    assert (after["outcome"]["winner"], after["outcome"]["ranks"]) == (None, [1, 1])


def test_the_first_usable_entry_of_a_tile_counts() -> None:
    reply = [
        None,
        {"row": 3, "col": 3, "direction": "n"},
        {"row": 3, "col": 3, "direction": "S"},
        {"row": 3, "col": 3, "direction": "E"},
    ]
    state = CODEC.state_from_json(position(f"A3,3 {FAR}"))
    after = CODEC.state_to_json(GAME.step(state, {0: reply}))
    assert words(after) == "A12,0 A4,3 B12,12"


def test_the_line_of_the_document() -> None:
    before = position(
        "A5,5 B2,2",
        size=(8, 8),
        walls=((5, 6),),
        nodes="6,6*",
        cores="A5,5",
        stats={"A": {"energy": 2, "collected": 2}},
    )
    after = play(before, "A5,5S", B="timeout")
    assert after.pop("outcome") is None
    changes = {
        "turn": 1,
        "nodes": [{"row": 6, "col": 6, "energy": False, "timer": 1}],
        "cores": [before["cores"][0] | {"last_spawn": 1}],
        "bots": [
            {"id": 0, "row": 6, "col": 5, "owner": 0},
            {"id": 1, "row": 2, "col": 2, "owner": 1},
            {"id": 2, "row": 5, "col": 5, "owner": 0},
        ],
        "next_bot_id": 3,
        "players": [counts_of(collected=3), counts_of(failures=1)],
    }
    assert after == before | changes


# The rules, phase by phase.

MOVES = [
    # (case, bots, orders, bots after, dead)
    ("a bot without an order holds", "A5,5", (), "A5,5", ""),
    ("north wraps", "A0,5", ("A0,5N",), "A19,5", ""),
    ("south wraps", "A19,5", ("A19,5S",), "A0,5", ""),
    ("east wraps", "A5,19", ("A5,19E",), "A5,0", ""),
    ("west wraps", "A5,0", ("A5,0W",), "A5,19", ""),
    ("three friends", "A5,4 A5,6 A4,5", ("A5,4E", "A5,6W", "A4,5S"), "", "A5,5 A5,5 A5,5"),
    ("friends and an enemy", "A5,4 A5,6 B4,5", ("A5,4E", "A5,6W", "B4,5S"), "B5,5", "A5,5 A5,5"),
    ("two enemies onto one", "A5,5 B5,4 B5,6", ("B5,4E", "B5,6W"), "", "A5,5 B5,5 B5,5"),
    ("a friend and an enemy onto one", "A5,5 A5,4 B5,6", ("A5,4E", "B5,6W"), "", "A5,5 A5,5 B5,5"),
    (
        "support does not help who stands",
        "A5,5 A4,5 A6,5 B5,7 B5,6",
        ("B5,6W",),
        "A4,5 A6,5",
        "A5,5 B5,5 B5,7",
    ),
    ("enemies swap and fight", "A5,5 B5,6", ("A5,5E", "B5,6W"), "", "A5,6 B5,5"),
    (
        "a ring turns",
        "A5,5 A5,6 A6,6 A6,5",
        ("A5,5E", "A5,6S", "A6,6W", "A6,5N"),
        "A5,5 A5,6 A6,5 A6,6",
        "",
    ),
]


@pytest.mark.parametrize(("case", "bots", "orders", "living", "dead"), MOVES, ids=str)
def test_moving(case: str, bots: str, orders: tuple[str, ...], living: str, dead: str) -> None:
    after = play(position(f"{bots} {FAR}"), *orders)
    assert words(after) == " ".join(sorted(f"{living} {FAR}".split()))
    assert words(after, "dead") == dead


COMBATS = [
    ("one for one", "A5,5 B5,7", "A5,5 B5,7"),
    ("out of reach", "A5,5 B6,8", ""),
    ("just within reach", "A5,5 B6,7", "A5,5 B6,7"),
    ("over the seam", "A0,0 B19,19", "A0,0 B19,19"),
    ("walls do not block", "A5,5 B5,7", "A5,5 B5,7"),
    ("two for two", "A5,5 A6,5 B5,7 B6,7", "A5,5 A6,5 B5,7 B6,7"),
    ("the ends of a chain live", "A5,5 B5,7 A5,9", "B5,7"),
    ("an even chain", "A5,5 B5,7 A5,9 B5,11", "A5,9 B5,7"),
]


@pytest.mark.parametrize(("case", "bots", "dead"), COMBATS)
def test_combat(case: str, bots: str, dead: str) -> None:
    assert words(play(position(f"{bots} {FAR}", walls=((5, 6),))), "dead") == dead


def test_every_enemy_of_another_owner_counts_alike() -> None:
    after = play(position("A5,5 B5,7 C7,5 D12,12", slots=4))
    assert words(after, "dead") == "A5,5"
    after = play(position("A5,5 B5,6 C6,5 D12,12", slots=4))
    assert words(after, "dead") == "A5,5 B5,6 C6,5"


def test_nobody_captures_an_own_or_a_razed_core() -> None:
    document = position(f"A3,3 B9,9 {FAR}", cores="A3,3 A9,9")
    document["cores"][1]["active"] = False
    after = play(document)
    assert scores(after) == [1, 1]
    assert [core["active"] for core in after["cores"]] == [True, False]


def test_a_score_may_fall_below_zero() -> None:
    after = play(position(f"A8,7 {FAR}", cores="B8,8", stats={"B": {"score": 0}}), "A8,7E")
    assert scores(after) == [3, -1]


def test_one_bot_collects_from_many_nodes_and_feeds_a_spawn_of_the_same_turn() -> None:
    after = play(position(f"A5,5 {FAR}", cores="A15,5", nodes="4,4* 4,5* 6,6* 5,7*"))
    assert after["players"][0]["collected"] == 3
    assert words(after) == "A12,0 A15,5 A5,5 B12,12"


def test_two_cores_spawn_at_once_and_a_blocked_one_waits() -> None:
    document = position(f"A3,3 {FAR}", cores="A3,3 A3,9 A9,3", stats={"A": {"energy": 9}})
    after = play(document)
    assert words(after) == "A12,0 A3,3 A3,9 A9,3 B12,12"
    assert after["players"][0]["energy"] == 3


def test_the_first_energy_is_in_the_request_of_turn_10() -> None:
    document = position(FAR, nodes="5,5")
    for turn in range(1, 11):
        document = play(document)
        document.pop("outcome")
        assert document["nodes"][0]["energy"] == (turn == 10)


def test_dominance_needs_four_fifths_and_is_lost_at_once() -> None:
    counts = {"A": {"dominant_turns": 7}}
    after = play(position("A0,0 A0,5 A5,0 B10,10", stats=counts))
    assert after["players"][0]["dominant_turns"] == 0


def test_annihilation_is_a_draw_whatever_the_scores() -> None:
    after = play(position("A5,5 B5,7", stats={"A": {"score": 9}}))
    assert after["outcome"]["condition"] == "annihilation"
    assert (after["outcome"]["winner"], after["outcome"]["ranks"]) == (None, [1, 1])


def test_the_sole_survivor_is_paid_for_active_cores_of_all_others() -> None:
    document = position("A5,5 A4,5 B5,7", slots=3, cores="B15,15 C1,15 C1,18 A18,1")
    document["cores"][2]["active"] = False
    after = play(document)
    assert scores(after) == [5, 1, 1]
    assert after["outcome"]["ranks"] == [1, 2, 2]


def test_the_winner_is_first_even_with_fewer_points() -> None:
    counts = {"A": {"dominant_turns": 99}, "B": {"score": 8}, "C": {"score": 9}}
    after = play(position("A0,0 A0,1 A0,2 A0,3 B10,10", slots=3, stats=counts))
    assert after["outcome"]["ranks"] == [1, 3, 2]
