"""Orders and faults in Code Battle: which entries count, and what a slot that fails is asked."""

from __future__ import annotations

from typing import Any

import pytest

from cw.errors import IllegalAction, OutOfTurn
from cw.games.rules import FAULT_KINDS, Fault
from tests.games.code_battle.positions import (
    CODEC,
    FAR,
    GAME,
    orders,
    position,
    words,
)


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
