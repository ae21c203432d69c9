"""Hexagon at random: against a plain reference, by its properties, and on its fast board."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cw.games.hexagon.fast_board import FastBoard
from cw.games.hexagon.rules import legal_moves, moved
from cw.games.hexagon.state import Move, State, distance
from tests.games.hexagon import hexagon_reference as reference
from tests.games.hexagon.positions import GAME, random_positions


def test_two_thousand_positions_agree_with_the_reference() -> None:
    count = 0
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
            count += 1
    assert count >= 2000


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
    fast_board = FastBoard.from_state(replace(position, color=color))
    passes = not position.can_move(color)
    return board == fast_board and (not board.moves()) == passes
