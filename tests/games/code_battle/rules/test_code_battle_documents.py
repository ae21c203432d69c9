"""Views and states of Code Battle as documents, and which are refused."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from cw.errors import ProtocolError
from cw.games.code_battle.rules.turn import numbering
from tests.games.code_battle.positions import (
    CODEC,
    FAR,
    GAME,
    SLOTS,
    place,
    position,
)

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
