"""The rules of Hexagon: worked examples, rule by rule, and against a plain reference."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cw.cli.step import read_object, step_line
from cw.errors import IllegalAction, OutOfTurn, ProtocolError, UsageError
from cw.games.codec import Game
from cw.games.hexagon.codec import HexagonCodec
from cw.games.hexagon.fast_board import FastBoard
from cw.games.hexagon.grid import distance, grid
from cw.games.hexagon.rules import Hexagon, legal_moves, moved
from cw.games.hexagon.state import Move, State
from cw.games.hexagon.strategies import STRATEGIES, BudgetExceeded, Expert, Search
from cw.games.rules import FAULT_KINDS, Fault, Player
from tests.games.hexagon import hexagon_reference as reference

GAME = Hexagon()
CODEC = HexagonCodec(GAME)

B3 = [[-1, 1, 0, 2, -1], [0, 0, 0, 0, -1], [2, 0, 0, 0, 1], [0, 0, 0, 0, -1], [-1, 1, 0, 2, -1]]

LOST = {
    "color": None,
    "ended": "fault",
    "winner": 2,
    "fault": {"color": 1, "kind": "illegal", "error": "no"},
}
"""What the document of a state holds beside its board when colour 1 has lost by a fault."""


def state(
    cells: list[list[int]], jumps: Any = (1, 1), placed: Any = (3, 3), color: int = 1
) -> State:
    return State((len(cells) + 1) // 2, tuple(map(tuple, cells)), jumps, placed, color, None, None)


def make(position: State, start: tuple[int, int], target: tuple[int, int]) -> State:
    assert position.color is not None
    return GAME.step(position, {position.color: Move(start, target)})


def changes(position: State) -> list[list[int]]:
    return [list(change) for change in position.changes]


class TestWorkedExamples:
    def test_1_multiplication(self) -> None:
        after = make(state(B3), (0, 1), (0, 2))
        assert changes(after) == [[0, 2, 0, 1], [0, 3, 2, 1]]
        assert (after.jumps, after.placed, after.color) == ((2, 1), (4, 3), 2)

    def test_2_a_jump_over_a_stone(self) -> None:
        board = [list(row) for row in B3]
        board[1][1] = -1
        after = make(state(board), (0, 1), (2, 2))
        assert changes(after) == [[0, 1, 1, 0], [2, 2, 0, 1]]
        assert (after.jumps, after.placed) == ((0, 1), (3, 3))

    def test_3_a_jump_captures_too(self) -> None:
        after = make(state(B3), (4, 1), (2, 1))
        assert changes(after) == [[4, 1, 1, 0], [2, 1, 0, 1], [2, 0, 2, 1]]
        assert after.jumps == (0, 1)

    def test_4_the_put_of_the_seed(self) -> None:
        board = [list(row) for row in GAME.new(2, 0, size=4, stones=0).cells]
        board[0][2] = 0
        after = make(state(board, (2, 4), (4, 8), 2), (0, 5), (0, 3))
        assert changes(after) == [[0, 5, 2, 0], [0, 3, 0, 2]]
        assert after.jumps == (2, 3)

    def test_5_the_counter(self) -> None:
        after = make(state(B3, (0, 1), (4, 3)), (2, 4), (2, 3))
        assert (after.jumps[0], after.placed[0]) == (0, 5)
        after = make(state(B3, (0, 1), (5, 3)), (2, 4), (2, 3))
        assert (after.jumps[0], after.placed[0]) == (1, 6)

    def test_6_no_jump_left(self) -> None:
        before = state(B3, (0, 1))
        after = make(before, (4, 1), (2, 1))
        assert (after.ended, after.winner, after.cells) == ("fault", 2, before.cells)
        assert after.fault is not None
        assert after.fault.kind == "illegal"
        assert after.changes == ()

    def test_7_pass_and_end_and_10_a_fault_after_the_end(self) -> None:
        board = [[-1, 1, 0], [2, 1, 0], [-1, 2, 1]]
        after = make(state(board, (0, 0), (4, 3)), (1, 1), (1, 2))
        assert len(after.changes) == 1
        assert after.color == 1
        end = make(after, (0, 1), (0, 2))
        assert end.jumps == (1, 0)
        assert (end.ended, end.winner, end.chips(1), end.chips(2)) == ("finished", 1, 5, 2)
        late = GAME.step(end, {1: Fault("timeout")})
        assert (late.ended, late.winner) == ("fault", 2)
        outcome = GAME.outcome(late)
        assert outcome is not None
        assert (outcome.reason, dict(outcome.scores)) == ("timeout", {1: 5, 2: 2})

    def test_8_a_draw(self) -> None:
        board = [[-1, 1, 0], [2, -1, 1], [-1, 2, 2]]
        end = make(state(board, (0, 0), (3, 3)), (0, 1), (0, 2))
        outcome = GAME.outcome(end)
        assert outcome is not None
        assert outcome.to_json() == {
            "reason": "finished",
            "winner": None,
            "scores": {"1": 3, "2": 3},
            "ranks": {"1": 1, "2": 1},
        }

    def test_9_wiped_out(self) -> None:
        board = [[0 if value >= 0 else -1 for value in row] for row in B3]
        board[0][1], board[0][3] = 1, 2
        position = make(state(board), (0, 1), (0, 2))
        rng = Random(1)
        assert position.chips(2) == 0
        while position.ended is None:
            assert position.color == 1
            position = GAME.step(position, {1: GAME.sample(position, 1, rng)})
        assert position.winner == 1

    @pytest.mark.parametrize("size", [4, 5])
    def test_11_a_bot_that_always_says_the_same(self, size: int) -> None:
        for seat in (1, 2):
            position = GAME.new(2, 0, size=size, stones=0)
            constant = STRATEGIES["constant"](seat, Random(1))
            turns = 0
            while position.ended is None:
                assert position.color is not None
                turns += position.color == seat
                act = constant.act if position.color == seat else greedy(position.color).act
                position = GAME.step(position, {position.color: act(position)})
            assert (position.winner, turns) == (3 - seat, 2 if seat == 1 else 1)
            assert position.fault is not None
            assert position.fault.kind == "illegal"


def greedy(color: int) -> Any:
    return STRATEGIES["greedy"](color, Random(color))


class TestGrid:
    def test_rule_1_offsets(self) -> None:
        near = {
            0: [(-1, -1), (-1, 0), (0, -1), (0, 1), (1, -1), (1, 0)],
            1: [(-1, 0), (-1, 1), (0, -1), (0, 1), (1, 0), (1, 1)],
        }
        for row in (4, 5):
            around = [(i - row, j - 4) for i, j in grid(5).near[row, 4]]
            assert around == near[row % 2]

    @pytest.mark.parametrize(
        ("size", "padding"),
        [
            (2, "1 0 1"),
            (3, "1 0 0 0 1"),
            (4, "2 1 1 0 1 1 2"),
            (5, "2 1 1 0 0 0 1 1 2"),
            (6, "3 2 2 1 1 0 1 1 2 2 3"),
            (7, "3 2 2 1 1 0 0 0 1 1 2 2 3"),
        ],
    )
    def test_rule_2_the_shape(self, size: int, padding: str) -> None:
        cells = grid(size).cells
        assert len(cells) == 3 * size * (size - 1) + 1
        left = [min(j for i, j in cells if i == row) for row in range(2 * size - 1)]
        assert left == [int(n) for n in padding.split()]
        assert all(distance(cell, (size - 1, size - 1)) < size for cell in cells)

    def test_rule_3_the_corners(self) -> None:
        start = GAME.new(2, 0, size=3, stones=0)
        assert [list(row) for row in start.cells] == B3
        assert (start.jumps, start.placed, start.color) == ((1, 1), (3, 3), 1)


class TestMoves:
    @pytest.mark.parametrize(
        ("start", "target", "reason"),
        [
            ((0, 3), (0, 2), "holds no chip of colour 1"),
            ((0, 0), (0, 2), "holds no chip"),
            ((9, 9), (0, 2), "holds no chip"),
            ((-1, 1), (0, 2), "holds no chip"),
            ((0, 1), (0, 1), "not an empty cell"),
            ((0, 1), (0, 3), "not an empty cell"),
            ((0, 1), (0, 4), "not an empty cell"),
            ((0, 1), (99, 99), "not an empty cell"),
            ((0, 1), (3, 3), "steps apart"),
        ],
    )
    def test_rule_4_what_is_not_legal(self, start: Any, target: Any, reason: str) -> None:
        with pytest.raises(IllegalAction, match=reason):
            GAME.check(state(B3), 1, Move(start, target))
        assert make(state(B3), start, target).winner == 2

    def test_out_of_turn(self) -> None:
        with pytest.raises(OutOfTurn, match="colour 1 is to move"):
            GAME.check(state(B3), 2, Move((0, 3), (0, 2)))

    def test_a_move_and_a_fault_of_the_other_both_count(self) -> None:
        after = GAME.step(state(B3), {2: Fault("crashed"), 1: Move((0, 1), (0, 2))})
        assert (after.winner, after.chips(1), after.ended) == (1, 5, "fault")

    @pytest.mark.parametrize("color", [1, 2])
    def test_a_move_of_the_colour_that_is_not_to_move_is_illegal(self, color: int) -> None:
        moves: dict[Player, Move | Fault] = {
            1: Move((0, 1), (0, 2)),
            2: Move((0, 3), (0, 2)),
        }
        before = state(B3, color=3 - color)
        alone = GAME.step(before, {color: moves[color]})
        assert (alone.winner, alone.cells, alone.changes) == (3 - color, before.cells, ())
        both = GAME.step(before, moves)
        single = GAME.step(before, {3 - color: moves[3 - color]})
        assert (both.winner, both.cells, both.changes) == (3 - color, single.cells, single.changes)
        for after in (alone, both):
            assert after.fault is not None
            assert (after.fault.color, after.fault.kind) == (color, "illegal")
            assert after.fault.error == f"colour {3 - color} is to move, not colour {color}"

    def test_a_move_before_a_pass_is_illegal_too(self) -> None:
        board = [[-1, 1, 0], [2, 1, 0], [-1, 2, 1]]
        before = state(board, (0, 0), (4, 3))
        after = GAME.step(before, {1: Move((1, 1), (1, 2)), 2: Move((1, 0), (0, 2))})
        assert after.fault is not None
        assert (after.fault.color, after.fault.kind, after.chips(1)) == (2, "illegal", 4)

    @pytest.mark.parametrize("color", [1, 2])
    def test_a_move_after_the_end_is_illegal(self, color: int) -> None:
        end = GAME.new(2, 0, cells=[[-1, 1, 1], [2, 1, 2], [-1, 2, 1]])
        after = GAME.step(end, {color: Move((0, 1), (0, 2))})
        assert (after.ended, after.winner, after.cells) == ("fault", 3 - color, end.cells)
        assert after.fault is not None
        assert after.fault.kind == "illegal"
        assert "has ended" in after.fault.error

    @pytest.mark.parametrize("color", [1, 2])
    @pytest.mark.parametrize(
        "action",
        [
            None,
            7,
            "0,1",
            ((0, 1), (0, 2)),
            {"move_from": [0, 1], "move_to": [0, 2]},
            Move([0, 1], [0, 2]),  # type: ignore[arg-type]
            Move((0, 1), None),  # type: ignore[arg-type]
            Move((0, 1), (0, 2, 0)),  # type: ignore[arg-type]
            Move((False, 1), (0, 2)),
            Move((0, 1), (0, 2.0)),  # type: ignore[arg-type]
        ],
    )
    def test_what_is_neither_move_nor_fault_is_malformed(self, action: Any, color: int) -> None:
        after = GAME.step(state(B3), {color: action})
        assert after.fault is not None
        assert (after.fault.color, after.fault.kind, after.winner) == (
            color,
            "malformed",
            3 - color,
        )
        assert repr(action) in after.fault.error

    @pytest.mark.parametrize("kind", FAULT_KINDS)
    def test_of_two_faults_the_one_of_the_colour_to_move_counts(self, kind: Any) -> None:
        after = GAME.step(state(B3, color=2), {1: Fault(kind), 2: Fault(kind)})
        assert after.winner == 1


class TestStart:
    @pytest.mark.parametrize(
        ("size", "stones"), [(2, 0), (3, 2), (4, 4), (5, 6), (6, 8), (7, 12), (12, 40)]
    )
    def test_the_usual_number_of_stones(self, size: int, stones: int) -> None:
        start = GAME.new(2, 3, size=size)
        board = [start.at(cell) for cell in start.grid.cells]
        assert board.count(-1) == stones
        assert start == GAME.new(2, 3, size=size)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"size": 1}, "size must be a whole number from 2 to 12, got 1"),
            ({"size": 5.0}, "size must be a whole number from 2 to 12, got 5.0"),
            ({"size": True}, "got True"),
            (
                {"size": 3, "stones": 9},
                "stones must be a whole number from 0 to 4 for size 3, got 9",
            ),
            ({"sise": 3}, "unknown option 'sise'"),
            (
                {"cells": [[0]]},
                "cells must be a list of rows, an odd number from 3 to 23, got 1 rows",
            ),
            ({"cells": {"0": 1}}, "from 3 to 23, got {'0': 1}"),
            ({"cells": B3, "size": 3}, "cells excludes"),
            (
                {"cells": [[0, *B3[0][1:]], *B3[1:]]},
                r"cells\[0\]\[0\] lies outside the hexagon and must be -1, got 0",
            ),
            ({"cells": [[-1, 3, 0, 2, -1], *B3[1:]]}, r"cells\[0\]\[1\] must be -1, 0, 1 or 2"),
            (
                {"cells": [*B3[:4], B3[0][:4]]},
                "cells must be 5 rows of 5 for size 3, got 4 values in row 4",
            ),
            ({"cells": [*B3[:4], None]}, "5 rows of 5 for size 3, got None in row 4"),
            ({"cells": [[-1, 0, 0], [0, 0, 0], [-1, 0, 1]]}, "one chip of each colour"),
        ],
    )
    def test_what_makes_no_start_is_refused(self, options: Any, message: str) -> None:
        with pytest.raises(UsageError, match=message):
            GAME.new(2, 0, **options)

    @pytest.mark.parametrize("seed", [2**63, 2**64, 10**40])
    def test_a_seed_may_be_as_large_as_one_likes(self, seed: int) -> None:
        assert GAME.new(2, seed) == GAME.new(2, seed)
        assert GAME.new(2, seed) != GAME.new(2, 0)
        line = json.dumps({"state": None, "options": {"seed": seed}}).encode()
        assert step_line(Game(GAME, CODEC), read_object(line))["state"] == CODEC.state_to_json(
            GAME.new(2, seed)
        )

    @pytest.mark.parametrize("seed", [-1, True, 1.0, "1", None])
    def test_what_is_no_seed_is_refused(self, seed: Any) -> None:
        with pytest.raises(
            UsageError, match=f"seed must be a whole number of 0 or more, got {seed!r}"
        ):
            GAME.new(2, seed)

    def test_an_explicit_board(self) -> None:
        start = GAME.new(2, 0, cells=[[-1, 1, 1], [2, 1, 0], [-1, 2, 1]])
        assert (start.placed, start.jumps) == ((4, 2), (2, 1))

    def test_a_board_without_a_move_is_over_at_once(self) -> None:
        start = GAME.new(2, 0, cells=[[-1, 1, 1], [2, 1, 2], [-1, 2, 1]])
        assert (start.ended, start.winner) == ("finished", 1)


class TestCommand:
    def test_the_line_of_a_start_and_of_a_move(self) -> None:
        answer = step_line(Game(GAME, CODEC), {"state": None, "options": {"size": 3, "stones": 0}})
        assert answer["changes"] == []
        line = {
            "state": answer["state"],
            "actions": {"1": {"move_from": [0, 1], "move_to": [0, 2]}},
        }
        moved = step_line(Game(GAME, CODEC), json.loads(json.dumps(line)))
        assert moved["changes"] == [[0, 2, 0, 1], [0, 3, 2, 1]]
        assert moved["outcome"] is None
        assert list(moved["state"]) == [
            "size",
            "cells",
            "jumps",
            "placed",
            "color",
            "ended",
            "winner",
            "fault",
        ]

    @pytest.mark.parametrize(
        "payload",
        [
            {"move_from": [0, 1]},
            {"move_from": [0, 1], "move_to": [0.0, 2]},
            {"move_from": [0, 1], "move_to": [True, 2]},
            {"move_from": [0, 1], "move_to": [0, 2, 1]},
            None,
            "0,1",
            [],
        ],
    )
    def test_what_is_no_move_is_malformed(self, payload: Any) -> None:
        position = state(B3)
        after = GAME.step(position, CODEC.actions_from_json(position, {"1": payload}))
        assert after.fault is not None
        assert (after.fault.kind, after.winner) == ("malformed", 2)

    @pytest.mark.parametrize(
        ("position", "actions", "message"),
        [
            (state(B3), {}, "no action: the colour to move must act"),
            (state(B3), {"2": {"move_from": [0, 3], "move_to": [0, 2]}}, "colour 1 is to move"),
            (state(B3), {"3": None}, "unknown player"),
            (state(B3), {"1": {"fault": "boredom"}}, "unknown fault"),
        ],
    )
    def test_errors(self, position: State, actions: Any, message: str) -> None:
        with pytest.raises(ProtocolError, match=message):
            CODEC.actions_from_json(position, actions)

    def test_nothing_follows_a_fault_and_no_move_follows_the_end(self) -> None:
        lost = GAME.step(state(B3), {1: Fault("timeout")})
        for action in ({"fault": "timeout"}, {"move_from": [0, 1], "move_to": [0, 2]}):
            with pytest.raises(ProtocolError, match="ended by a fault"):
                CODEC.actions_from_json(lost, {"1": action})
        end = GAME.new(2, 0, cells=[[-1, 1, 1], [2, 1, 2], [-1, 2, 1]])
        with pytest.raises(ProtocolError, match="no move can follow"):
            CODEC.actions_from_json(end, {"1": {"move_from": [0, 1], "move_to": [0, 2]}})

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"size": 4}, "cells must be 7 rows of 7 for size 4, got 5 rows"),
            ({"cells": "none"}, "cells must be 5 rows of 5 for size 3, got 'none'"),
            ({"size": 1}, r">= 2 - at `\$.size`: it is 1"),
            ({"jumps": {"1": 2, "2": 1}}, "jumps of colour 1 must be from 0 to 1"),
            ({"jumps": [1, 1]}, r"at `\$.jumps`: it is \[1, 1\]"),
            ({"color": 3}, r"at `\$.color`: it is 3"),
            ({"ended": "finished"}, "color is 1, but ended"),
            (
                LOST | {"fault": {"color": 1, "kind": "bored", "error": ""}},
                r"at `\$.fault.kind`: it is 'bored'",
            ),
            (
                LOST | {"fault": {"color": 3, "kind": "illegal", "error": ""}},
                r"at `\$.fault.color`: it is 3",
            ),
            (
                LOST | {"fault": {"color": 1, "kind": "illegal"}},
                r"missing required field `error` - at `\$.fault`",
            ),
            (
                LOST | {"fault": {"color": 1, "kind": "illegal", "error": 5}},
                r"`str`, got `int` - at `\$.fault.error`: it is 5",
            ),
            (LOST | {"fault": "illegal"}, r"at `\$.fault`: it is 'illegal'"),
            (LOST | {"ended": "finished"}, "ended is 'finished', but there is a fault"),
            (
                {"fault": {"color": 1, "kind": "illegal", "error": ""}},
                "ended is None, but there is a fault",
            ),
        ],
    )
    def test_what_is_no_state_is_refused(self, change: Any, message: str) -> None:
        document = CODEC.state_to_json(state(B3))
        with pytest.raises(ProtocolError, match=message):
            CODEC.state_from_json(document | change)
        del document["cells"]
        with pytest.raises(ProtocolError, match="missing required field `cells`"):
            CODEC.state_from_json(document)

    def test_a_fault_may_be_missing_in_a_state(self) -> None:
        document = CODEC.state_to_json(state(B3))
        del document["fault"]
        assert CODEC.state_from_json(document) == state(B3)
        lost = CODEC.state_to_json(state(B3)) | LOST
        read = CODEC.state_from_json(lost)
        outcome = GAME.outcome(read)
        assert outcome is not None
        assert (outcome.reason, outcome.winner) == ("illegal", 2)
        assert CODEC.state_to_json(read) == lost
        del lost["fault"]
        outcome = GAME.outcome(CODEC.state_from_json(lost))
        assert outcome is not None
        assert (outcome.reason, outcome.winner) == ("fault", 2)


def random_positions(seed: int, size: int) -> list[State]:
    rng = Random(seed)
    position = GAME.new(2, seed, size=size)
    positions = []
    while position.color is not None:
        positions.append(position)
        move = GAME.sample(position, position.color, rng)
        position = GAME.step(position, {position.color: move})
    return [*positions, position]


def test_two_thousand_positions_agree_with_the_reference() -> None:
    seen = 0
    for seed in range(70):
        rng = Random(seed)
        for position in random_positions(seed, rng.choice([2, 3, 4, 5]))[:-1]:
            color = position.color
            assert color is not None
            expected = reference.legal(position, color)
            assert {tuple(move) for move in legal_moves(position)} == expected
            move = rng.choice(sorted(expected))
            after = GAME.step(position, {color: Move(*move)})
            theirs = reference.play(position, move)
            assert [list(row) for row in after.cells] == theirs["cells"]
            assert [list(after.jumps), list(after.placed)] == [theirs["jumps"], theirs["placed"]]
            assert (after.color == 3 - color) == bool(reference.legal(after, 3 - color))
            seen += 1
    assert seen >= 2000


@given(st.integers(0, 10**6), st.sampled_from([2, 3, 4]))
def test_properties_of_a_battle(seed: int, size: int) -> None:
    positions = random_positions(seed, size)
    stones = sum(row.count(-1) for row in positions[0].cells)
    jumps = [0, 0]
    for before, after in pairwise(positions):
        color = before.color
        assert color is not None
        jump = after.changes[0][3] == 0
        jumps[color - 1] += jump
        for index in (0, 1):
            assert after.jumps[index] == after.placed[index] // 2 - jumps[index]
            assert after.jumps[index] >= 0
        chips = [p.chips(1) + p.chips(2) for p in (before, after)]
        assert chips[1] - chips[0] == (not jump)
        assert sum(row.count(-1) for row in after.cells) == stones
        cells = [list(row) for row in before.cells]
        for i, j, old, new in after.changes:
            assert cells[i][j] == old
            cells[i][j] = new
        assert cells == [list(row) for row in after.cells]
    empty = 3 * size * (size - 1) - 5
    assert len(positions) - 1 <= empty + (6 + empty) // 2
    assert not any(0 in row for row in positions[-1].cells)
    assert positions[-1].winner is not None


@pytest.mark.parametrize("size", [2, 3, 5, 7, pytest.param(12, marks=pytest.mark.thorough)])
def test_the_fast_board_is_the_rules_in_another_form(size: int) -> None:
    for seed in range(2):
        for before in random_positions(seed, size)[:-1]:
            assert before.color is not None
            board = FastBoard.from_state(before)
            listed = board.moves()
            named = [board.as_move(move) for move in listed]
            merged = {source_and_target(move): move for move in legal_moves(before)}
            assert len(listed) == len(set(listed)) == len(merged)
            assert {source_and_target(move) for move in named} == set(merged)
            # On a large board all moves of all positions would take minutes.
            tried = min(len(named), 1000 // size**2)
            for index in Random(seed).sample(range(len(named)), tried):
                move, fast = named[index], listed[index]
                GAME.check(before, before.color, move)
                after = moved(before, before.color, move)
                fast_after = board.moved(fast)
                assert board.gain(fast) == -fast_after.lead() - board.lead()
                assert same_position(fast_after, after, 3 - before.color)
                assert same_position(fast_after.turned(), after, before.color)


def source_and_target(move: Move) -> tuple[Any, Any]:
    """Return the cells of a move; it does not matter from where a multiplication comes."""
    return (move.move_from if distance(*move) == 2 else None), move.move_to


def same_position(board: FastBoard, position: State, color: int) -> bool:
    """Return whether a board is a position from the side of a colour, who may have to pass."""
    seen = FastBoard.from_state(replace(position, color=color))
    passes = not position.can_move(color)
    return board == seen and (not board.moves()) == passes


def test_greedy_takes_the_most_valuable_move() -> None:
    for position in random_positions(5, 4)[:-1]:
        board = FastBoard.from_state(position)
        color = position.color or 0
        move = greedy(color).act(position)
        after = GAME.step(position, {color: move})
        jump = after.changes[0][3] == 0
        captured = len(after.changes) - 1 - jump
        assert (not jump) + 2 * captured == max(map(board.gain, board.moves()))


@pytest.mark.parametrize("depth", [2, 3])
def test_the_expert_sees_some_moves_ahead(depth: int) -> None:
    positions = random_positions(9, 3)[:-1]
    for position in [*positions[:: 2 * depth], *positions[-4:]]:
        board = FastBoard.from_state(position)
        best = Search(10**9).best(board, depth, board.moves()[0])
        worth = {move: -worth_of(board.moved(move), depth - 1) for move in board.moves()}
        assert worth[best] == max(worth.values())


def worth_of(board: FastBoard, depth: int) -> int:
    """Return the lead that the mover can reach in some moves, found by trying all."""
    if depth == 0:
        return board.lead()
    if moves := board.moves():
        return max(-worth_of(board.moved(move), depth - 1) for move in moves)
    other, lead = board.turned(), board.lead()
    if other.moves():
        return -worth_of(other, depth)
    return lead + (1000 if lead > 0 else -1000 if lead < 0 else 0)


@pytest.mark.parametrize(
    ("stronger", "weaker", "size", "games"),
    [
        ("greedy", "random", 3, 20),
        pytest.param("greedy", "random", 5, 10, marks=pytest.mark.thorough),
        pytest.param("expert", "greedy", 3, 6, marks=pytest.mark.thorough),
    ],
)
def test_the_next_strategy_wins(stronger: str, weaker: str, size: int, games: int) -> None:
    won = 0
    for number in range(games):
        position = GAME.new(2, number // 2, size=size)
        names = (stronger, weaker) if number % 2 == 0 else (weaker, stronger)
        seats = {c: STRATEGIES[names[c - 1]](c, Random(number)) for c in (1, 2)}
        while position.color is not None:
            move = seats[position.color].act(position)
            GAME.check(position, position.color, move)
            position = GAME.step(position, {position.color: move})
        won += position.winner == 1 + number % 2
    assert won >= games * 0.8


def test_the_expert_stops_when_its_budget_is_exceeded() -> None:
    board = FastBoard.from_state(GAME.new(2, 1, size=7))
    search = Search(5000)
    with pytest.raises(BudgetExceeded):
        search.best(board, Expert.deepest, board.moves()[0])
    assert -1000 < search.budget < 0


def test_the_expert_gives_the_same_move_for_the_same_position() -> None:
    position = GAME.new(2, 1, size=7)
    move, again = (Expert(1, Random(seed)).act(position) for seed in (1, 2))
    GAME.check(position, 1, move)
    assert move == again
