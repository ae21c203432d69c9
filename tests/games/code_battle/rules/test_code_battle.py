"""Code Battle against its document: the worked examples, the rules one by one, and refusals."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from cw.errors import IllegalAction, OutOfTurn, ProtocolError
from cw.games.code_battle.rules.vision import numbering
from cw.games.rules import FAULT_KINDS, Fault
from tests.games.code_battle.positions import (
    CODEC,
    GAME,
    SLOTS,
    counts_of,
    orders,
    place,
    play,
    position,
    words,
)

FAR = "A12,0 B12,12"
"""Bots far off, so that nothing ends."""


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
    # (what, bots, orders, bots after, dead)
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


@pytest.mark.parametrize(("what", "bots", "orders", "living", "dead"), MOVES, ids=str)
def test_moving(what: str, bots: str, orders: tuple[str, ...], living: str, dead: str) -> None:
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


@pytest.mark.parametrize(("what", "bots", "dead"), COMBATS)
def test_combat(what: str, bots: str, dead: str) -> None:
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


def test_ten_faults_in_a_row_crash_a_slot_and_a_good_reply_forgives() -> None:
    state = CODEC.state_from_json(position(FAR))
    for turn in range(9):
        state = GAME.step(state, {0: Fault(FAULT_KINDS[turn % len(FAULT_KINDS)])})
    assert state.stats[0].failures == 9
    forgiven = GAME.step(state, {})
    assert forgiven.stats[0].failures == 0
    crashed = GAME.step(state, {0: Fault("timeout")})
    assert crashed.stats[0].crashed
    assert GAME.to_move(crashed) == (1,)
    after = GAME.step(crashed, {0: orders("A12,0N")["0"]})
    assert after.stats[0] == crashed.stats[0]._replace(collected=0)
    assert after.bots[0] == crashed.bots[0]


def test_a_match_of_crashed_slots_goes_on_by_itself() -> None:
    players = {"A": {"crashed": True}, "B": {"crashed": True}}
    document = position(FAR, turn=498, stats=players)
    state = CODEC.state_from_json(document)
    assert GAME.to_move(state) == ()
    assert GAME.outcome(state) is None
    assert GAME.outcome(GAME.step(GAME.step(state, {}), {})) is not None


def test_a_slot_without_bots_is_not_asked_and_its_counts_stay() -> None:
    state = CODEC.state_from_json(position("A5,5 B9,9", slots=3, stats={"C": {"failures": 4}}))
    assert GAME.to_move(state) == (0, 1)
    assert GAME.step(state, {2: Fault("timeout")}).stats[2].failures == 4


WRONG_ENTRIES: list[Any] = [
    None,
    7,
    "N",
    [],
    {},
    {"row": 5, "col": 5},
    {"row": 5, "col": 5, "direction": "X"},
    {"row": 5, "col": 5, "direction": ["N"]},
    {"row": 5.0, "col": 5, "direction": "N"},
    {"row": True, "col": 5, "direction": "N"},
    {"row": 25, "col": 5, "direction": "N"},
    {"row": -15, "col": 5, "direction": "N"},
    {"row": 10**30, "col": 5, "direction": "N"},
    {"row": 6, "col": 6, "direction": "N"},
    {"row": 12, "col": 12, "direction": "N"},
    {"position": [5, 5], "direction": "N"},
    {"row": 6, "col": 6, "position": {"row": 5, "col": 5}, "direction": "N"},
]


@pytest.mark.parametrize("entry", WRONG_ENTRIES, ids=repr)
def test_a_wrong_entry_is_ignored_alone(entry: Any) -> None:
    state = CODEC.state_from_json(position(f"A5,5 A7,7 {FAR}"))
    good = {"row": 7, "col": 7, "direction": "S"}
    with pytest.raises(IllegalAction, match=r"moves\[1\]"):
        GAME.check(state, 0, [good, entry])
    after = GAME.step(state, {0: [entry, good]})
    assert words(CODEC.state_to_json(after)) == "A12,0 A5,5 A8,7 B12,12"
    assert after.stats[0].failures == 0


@pytest.mark.parametrize(
    "entry",
    [
        {"row": 5, "col": 5, "direction": "N", "note": [1]},
        {"position": {"row": 5, "col": 5}, "direction": "N"},
        {"row": "5", "col": 5, "position": {"row": 5, "col": 5}, "direction": "N"},
        {"row": 5, "col": 5, "position": {"row": 7, "col": 7}, "direction": "N"},
    ],
    ids=repr,
)
def test_both_shapes_of_an_entry_are_read(entry: Any) -> None:
    state = CODEC.state_from_json(position(f"A5,5 {FAR}"))
    GAME.check(state, 0, [entry])
    assert GAME.step(state, {0: [entry]}).bots[0].tile == 4 * 20 + 5


def test_a_move_into_a_wall_takes_the_place_of_the_tile() -> None:
    state = CODEC.state_from_json(position(f"A5,5 {FAR}", walls=((4, 5),)))
    both = orders("A5,5N", "A5,5S")["0"]
    assert GAME.step(state, {0: both}).bots[0].tile == 5 * 20 + 5


def test_who_is_not_asked_is_out_of_turn() -> None:
    state = CODEC.state_from_json(position("A5,5 B9,9", slots=3))
    with pytest.raises(OutOfTurn):
        GAME.check(state, 2, [])
    with pytest.raises(IllegalAction, match="must be a list"):
        GAME.check(state, 0, {"moves": []})  # type: ignore[arg-type]


def test_what_is_no_list_is_a_fault() -> None:
    state = CODEC.state_from_json(position(FAR))
    assert GAME.step(state, {0: "north"}).stats[0].failures == 1  # type: ignore[dict-item]


# Fog.


def seen_by(document: dict[str, Any], slot: int, seed: int = 0) -> dict[str, Any]:
    state = CODEC.state_from_json(document, seed=seed)
    view: dict[str, Any] = CODEC.view_to_json(GAME.observe(state, slot))
    return view


def test_a_view_has_the_shape_of_a_request() -> None:
    document = position(
        "A10,15 B12,16 B0,0",
        cores="A10,15 B0,5",
        nodes="12,9* 9,12",
        walls=((10, 10), (0, 1)),
        turn=42,
        stats={"A": {"energy": 7, "score": 3}},
    )
    document["dead"] = [{"row": 15, "col": 17, "owner": 1}, {"row": 1, "col": 1, "owner": 0}]
    at = {
        name: {**where, "position": where}
        for name, where in {
            "own": {"row": 10, "col": 15},
            "enemy": {"row": 12, "col": 16},
            "energy": {"row": 12, "col": 9},
            "wall": {"row": 10, "col": 10},
            "dead": {"row": 15, "col": 17},
        }.items()
    }
    assert seen_by(document, 0) == {
        "turn": 42,
        "config": document["config"],
        "you": {"id": 0, "energy": 7, "score": 3},
        "bots": [{**at["own"], "owner": 0}, {**at["enemy"], "owner": 1}],
        "energy": [at["energy"]],
        "cores": [{**at["own"], "owner": 0, "active": True}],
        "walls": [at["wall"]],
        "dead": [{**at["dead"], "owner": 1}],
    }


def test_sight_wraps_and_ends_at_its_radius() -> None:
    document = position("A0,0 B19,19 B7,0 B5,5 B0,8 B13,1", vision_radius2=49)
    tiles = {(bot["row"], bot["col"]) for bot in seen_by(document, 0)["bots"]}
    assert tiles == {(0, 0), (19, 19), (7, 0)}


def test_without_bots_nothing_is_seen_not_even_from_a_core() -> None:
    view = seen_by(position("B5,5 C9,9", slots=3, cores="A5,6", nodes="5,4*"), 0)
    assert [view[key] for key in ("bots", "energy", "cores", "walls", "dead")] == [[]] * 5


def test_the_others_are_renumbered_for_each_observer() -> None:
    assert numbering(7, 2, 4) == (1, 3, 0, 2)
    for seed in range(20):
        for observer in range(6):
            numbers = numbering(seed, observer, 6)
            assert numbers[observer] == 0
            assert sorted(numbers) == list(range(6))


def test_the_referee_sees_the_state() -> None:
    document = position(FAR, cores="A1,1")
    state = CODEC.state_from_json(document)
    assert CODEC.view_to_json(GAME.observe(state, None)) == document


# Documents.


def test_what_may_be_left_out_is_filled_in() -> None:
    document = position("A5,5 B9,9")
    short = json.loads(json.dumps(document))
    for key in ("next_bot_id", "dead"):
        del short[key]
    for player in short["players"]:
        for key in ("eliminated", "failures", "crashed"):
            del player[key]
    assert CODEC.state_to_json(CODEC.state_from_json(short)) == document


REFUSALS: list[tuple[str, Any, str]] = [
    ("turn", -1, r">= 0 - at `\$.turn`: it is -1"),
    ("turn", True, r"got `bool` - at `\$.turn`"),
    ("turn", 1.0, r"got `float` - at `\$.turn`"),
    ("walls", {}, r"got `object` - at `\$.walls`"),
    ("walls", [[5, 5]], "stands on the wall"),
    ("walls", [[20, 0]], r"walls\[0\].row"),
    ("walls", [[0, 0, 0]], r"length 2, got 3 - at `\$.walls\[0\]`"),
    ("bots", [{"id": 0, "row": 5, "col": 20, "owner": 0}], r"bots\[0\].col"),
    ("bots", [{"id": 0, "row": 5, "col": 5, "owner": 2}], r"bots\[0\].owner"),
    ("bots", [None], r"at `\$.bots\[0\]`: it is None"),
    ("nodes", [{"row": 1, "col": 1, "energy": 1, "timer": 0}], r"nodes\[0\].energy"),
    ("players", "two", r"at `\$.players`: it is 'two'"),
    ("players", [{}], r"field `energy` - at `\$.players\[0\]`"),
    ("config", {}, r"field `rows` - at `\$.config`"),
    ("config", None, r"got `null` - at `\$.config`"),
    ("next_bot_id", 0, "next_bot_id is 0"),
]


@pytest.mark.parametrize(("key", "value", "message"), REFUSALS)
def test_a_state_that_is_wrong_is_refused(key: str, value: Any, message: str) -> None:
    with pytest.raises(ProtocolError, match=message):
        CODEC.state_from_json(position("A5,5 B9,9") | {key: value})


@pytest.mark.parametrize("key", ["config", "turn", "walls", "nodes", "cores", "bots", "players"])
def test_a_state_without_a_key_is_refused(key: str) -> None:
    document = position("A5,5 B9,9")
    del document[key]
    with pytest.raises(ProtocolError, match=f"missing required field `{key}`"):
        CODEC.state_from_json(document)


@pytest.mark.parametrize(
    ("field", "twice"), [("bots", "A5,5 A5,5"), ("cores", "A5,5 B5,5"), ("nodes", "5,5 5,5")]
)
def test_two_of_a_kind_on_one_tile_are_refused(field: str, twice: str) -> None:
    values: dict[str, Any] = {"bots": FAR} | {field: twice}
    with pytest.raises(ProtocolError, match=rf"two {field} on \[5, 5\]"):
        CODEC.state_from_json(position(**values))


@pytest.mark.parametrize("name", ["2", "-1", "a", "", "00", "1.0", None, True, [], {}])
def test_an_unknown_slot_is_refused(name: Any) -> None:
    state = CODEC.state_from_json(position(FAR))
    with pytest.raises(ProtocolError, match="unknown player"):
        CODEC.player_from_json(state, name)


@pytest.mark.parametrize("payload", [None, "N", 1, {}, {"moves": []}, {"fault": "lazy"}])
def test_actions_are_lists_or_faults(payload: Any) -> None:
    state = CODEC.state_from_json(position(FAR))
    with pytest.raises(ProtocolError):
        CODEC.actions_from_json(state, {"0": payload})


def test_sampled_moves_are_orders_of_own_bots() -> None:
    state = CODEC.state_from_json(position("A5,5 A9,9 B12,12"))
    for seed in range(50):
        for entry in GAME.sample(state, 0, Random(seed)):
            assert place(f"{entry['row']},{entry['col']}") in (place("5,5"), place("9,9"))
            assert SLOTS[0] == "A"
