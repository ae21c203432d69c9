"""The rules of Hexagon: worked examples, rule by rule, and against a plain reference."""

from __future__ import annotations

import json
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cw.cli.step import step_line
from cw.errors import IllegalAction, OutOfTurn, ProtocolError, Refused
from cw.games.base import FAULT_KINDS, Fault
from cw.games.hexagon.fast_board import FastBoard
from cw.games.hexagon.grid import distance, grid
from cw.games.hexagon.rules import Hexagon, legal_moves
from cw.games.hexagon.state import Move, State
from cw.games.hexagon.strategies import STRATEGIES, Expert, Search
from tests.games.hexagon import hexagon_reference as reference

GAME = Hexagon()

B3 = [[-1, 1, 0, 2, -1], [0, 0, 0, 0, -1], [2, 0, 0, 0, 1], [0, 0, 0, 0, -1], [-1, 1, 0, 2, -1]]


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
            ((0, 1), (0, 1), "no empty cell"),
            ((0, 1), (0, 3), "no empty cell"),
            ((0, 1), (0, 4), "no empty cell"),
            ((0, 1), (99, 99), "no empty cell"),
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
            ({"cells": [[0]]}, "cells must be a list of rows"),
            ({"cells": B3, "size": 3}, "cells excludes"),
            (
                {"cells": [[0, *B3[0][1:]], *B3[1:]]},
                r"cells\[0\]\[0\] lies outside the hexagon and must be -1, got 0",
            ),
            ({"cells": [[-1, 3, 0, 2, -1], *B3[1:]]}, r"cells\[0\]\[1\] must be -1, 0, 1 or 2"),
            ({"cells": [B3[0][:4], *B3[1:]]}, "5 rows of 5"),
            ({"cells": [[-1, 0, 0], [0, 0, 0], [-1, 0, 1]]}, "one chip of each colour"),
        ],
    )
    def test_what_makes_no_start_is_refused(self, options: Any, message: str) -> None:
        with pytest.raises(Refused, match=message):
            GAME.new(2, 0, **options)

    def test_an_explicit_board(self) -> None:
        start = GAME.new(2, 0, cells=[[-1, 1, 1], [2, 1, 0], [-1, 2, 1]])
        assert (start.placed, start.jumps) == ((4, 2), (2, 1))

    def test_a_board_without_a_move_is_over_at_once(self) -> None:
        start = GAME.new(2, 0, cells=[[-1, 1, 1], [2, 1, 2], [-1, 2, 1]])
        assert (start.ended, start.winner) == ("finished", 1)


class TestCommand:
    def test_the_line_of_a_start_and_of_a_move(self) -> None:
        answer = step_line(GAME, {"state": None, "options": {"size": 3, "stones": 0}})
        assert answer["changes"] == []
        line = {
            "state": answer["state"],
            "actions": {"1": {"move_from": [0, 1], "move_to": [0, 2]}},
        }
        moved = step_line(GAME, json.loads(json.dumps(line)))
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
        "said",
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
    def test_what_is_no_move_is_malformed(self, said: Any) -> None:
        position = state(B3)
        after = GAME.step(position, GAME.actions_from_json(position, {"1": said}))
        assert after.fault is not None
        assert (after.fault.kind, after.winner) == ("malformed", 2)

    @pytest.mark.parametrize(
        ("position", "actions", "message"),
        [
            (state(B3), {}, "no action at all"),
            (state(B3), {"2": {"move_from": [0, 3], "move_to": [0, 2]}}, "colour 1 is to move"),
            (state(B3), {"3": None}, "unknown colour"),
            (state(B3), {"1": {"fault": "boredom"}}, "unknown fault"),
        ],
    )
    def test_errors(self, position: State, actions: Any, message: str) -> None:
        with pytest.raises(ProtocolError, match=message):
            GAME.actions_from_json(position, actions)

    def test_nothing_follows_a_fault_and_no_move_follows_the_end(self) -> None:
        lost = GAME.step(state(B3), {1: Fault("timeout")})
        for action in ({"fault": "timeout"}, {"move_from": [0, 1], "move_to": [0, 2]}):
            with pytest.raises(ProtocolError, match="ended by a fault"):
                GAME.actions_from_json(lost, {"1": action})
        end = GAME.new(2, 0, cells=[[-1, 1, 1], [2, 1, 2], [-1, 2, 1]])
        with pytest.raises(ProtocolError, match="no move can follow"):
            GAME.actions_from_json(end, {"1": {"move_from": [0, 1], "move_to": [0, 2]}})

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"size": 4}, "7 rows of 7"),
            ({"size": 1}, "size must be"),
            ({"jumps": {"1": 2, "2": 1}}, "jumps of colour 1 must be from 0 to 1"),
            ({"jumps": [1, 1]}, "jumps must be"),
            ({"color": 3}, "color must be one of"),
            ({"ended": "finished"}, "color is 1, but ended"),
            ({"fault": {"color": 1, "kind": "bored"}}, "kind must be one of"),
        ],
    )
    def test_what_is_no_state_is_refused(self, change: Any, message: str) -> None:
        document = GAME.state_to_json(state(B3))
        with pytest.raises(ProtocolError, match=message):
            GAME.state_from_json(document | change)
        del document["cells"]
        with pytest.raises(ProtocolError, match="no 'cells'"):
            GAME.state_from_json(document)


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
            made = reference.play(position, move)
            assert [list(row) for row in after.cells] == made["cells"]
            assert [list(after.jumps), list(after.placed)] == [made["jumps"], made["placed"]]
            assert (after.color == 3 - color) == bool(reference.legal(after, 3 - color))
            seen += 1
    assert seen >= 2000


@given(st.integers(0, 10**6), st.sampled_from([2, 3, 4]))
def test_properties_of_a_battle(seed: int, size: int) -> None:
    positions = random_positions(seed, size)
    stones = sum(row.count(-1) for row in positions[0].cells)
    made = [0, 0]
    for before, after in pairwise(positions):
        color = before.color
        assert color is not None
        jump = after.changes[0][3] == 0
        made[color - 1] += jump
        for index in (0, 1):
            assert after.jumps[index] == after.placed[index] // 2 - made[index]
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


@pytest.mark.parametrize("size", [2, 3, 5, 7])
def test_the_fast_board_is_the_rules_in_another_form(size: int) -> None:
    for seed in range(3):
        positions = random_positions(seed, size)
        for before, after in pairwise(positions):
            board = FastBoard.from_state(before)
            choices = board.choices()
            expected = {
                (move.move_from if distance(*move) == 2 else None, move.move_to)
                for move in legal_moves(before)
            }
            cell = board.tables.cell
            named = {(cell.get(choice.start), cell[choice.target]) for choice in choices}
            assert named == expected
            assert len(choices) == len(named)
            for choice in choices:
                GAME.check(before, before.color or 0, board.as_move(choice))
            if after.color is not None and after.color != before.color:
                start = (after.changes[0][0], after.changes[0][1])
                jump = after.changes[0][3] == 0
                target = after.changes[1][:2] if jump else start
                (made,) = (
                    choice
                    for choice in choices
                    if cell[choice.target] == target
                    and cell.get(choice.start) == (start if jump else None)
                )
                assert board.move(made) == FastBoard.from_state(after)


def test_greedy_takes_the_most_valuable_move() -> None:
    for position in random_positions(5, 4)[:-1]:
        highest = max(choice.value for choice in FastBoard.from_state(position).choices())
        color = position.color or 0
        move = greedy(color).act(position)
        after = GAME.step(position, {color: move})
        jump = after.changes[0][3] == 0
        captured = len(after.changes) - 1 - jump
        assert (not jump) + 2 * captured == highest


def test_the_expert_sees_two_moves_ahead() -> None:
    for position in random_positions(9, 3)[:-1:3]:
        board = FastBoard.from_state(position)
        search = Search(10**9)
        best = search.best(board, 2, board.choices()[0])
        worth = {choice: worst_answer(board.move(choice)) for choice in board.choices()}
        assert worth[best] == max(worth.values())


def worst_answer(board: FastBoard) -> int:
    """Give the lead that is left after the best answer, for who has just moved."""
    answers = [board.move(choice).lead() for choice in board.choices()]
    if answers:
        return min(answers)
    if board.turned().choices():
        return -board.lead()
    lead = -board.lead()
    return lead + (1000 if lead > 0 else -1000 if lead < 0 else 0)


@pytest.mark.parametrize(
    ("stronger", "weaker", "size", "games"),
    [("greedy", "random", 3, 40), ("greedy", "random", 5, 10), ("expert", "greedy", 4, 6)],
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


def test_the_expert_stops_when_its_budget_is_spent() -> None:
    position = GAME.new(2, 1, size=7)
    assert Expert.budget < 10**5
    GAME.check(position, 1, Expert(1, Random(1)).act(position))
