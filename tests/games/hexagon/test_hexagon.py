"""The rules of Hexagon: worked examples, and rule by rule."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from cw.errors import IllegalAction, OutOfTurn
from cw.games.hexagon.state import Move, State, distance, grid
from cw.games.hexagon.strategies import STRATEGIES
from cw.games.rules import FAULT_KINDS, Fault, Player
from tests.games.hexagon.positions import B3, GAME, greedy, make, state


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
