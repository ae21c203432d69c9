"""The fast board must be the rules in another form."""

from __future__ import annotations

import random

import pytest

from cw.games.circuit_wars import board
from cw.games.circuit_wars.board import Move, parse_move
from cw.games.circuit_wars.fast_board import FastBoard, geometry
from cw.games.circuit_wars.rules import CircuitWars

GAME = CircuitWars()


@pytest.mark.parametrize(
    ("size", "games"),
    [(1, 5), (3, 100), (5, 20), (7, 5), pytest.param(31, 1, marks=pytest.mark.thorough)],
)
def test_every_position_of_random_games_is_the_same(size: int, games: int) -> None:
    rng = random.Random(size)
    for _ in range(games):
        state, fast = GAME.new(2, 0, size=size), FastBoard(size)
        for _ in range(120):
            if state.ended:
                break
            move = rng.choice(board.free_moves(state.board))
            worth = {segment.move: points for segment, points in fast.scoring()}
            before = sum(state.scores)
            state = GAME.step(state, {state.player: str(move)})
            points = fast.draw(fast.geometry.by_move[move])
            assert points == sum(state.scores) - before == worth.get(move, 0)
            assert [segment.move for segment in fast.free()] == board.free_moves(state.board)
            assert FastBoard.from_squares(state.board).key == fast.key
            assert fast.is_over() == (state.ended is not None)


def test_scoring_names_exactly_the_moves_that_score() -> None:
    rng = random.Random(11)
    for _ in range(60):
        fast = FastBoard(5)
        for segment in rng.sample(fast.geometry.segments, 45):
            if fast.is_free(segment):
                fast.draw(segment)
        tried = {segment.move: fast.copy().draw(segment) for segment in fast.free()}
        expected = {move: points for move, points in tried.items() if points}
        assert {segment.move: points for segment, points in fast.scoring()} == expected


def test_a_board_taken_from_squares_plays_on_the_same() -> None:
    rng = random.Random(5)
    state = GAME.new(2, 0)
    while not state.ended:
        fast = FastBoard.from_squares(state.board)
        move = GAME.sample(state, state.player, rng)
        points = fast.draw(fast.geometry.by_move[parse_move(move)])
        after = GAME.step(state, {state.player: move})
        assert points == sum(after.scores) - sum(state.scores)
        state = after


def test_a_copy_is_independent() -> None:
    fast = FastBoard(3)
    key = fast.key
    copy = fast.copy()
    for segment in tuple(copy.free()):
        if copy.is_free(segment):
            copy.draw(segment)
    assert copy.is_over()
    assert fast.key == key
    assert not fast.is_over()


def test_keys_differ_exactly_when_the_free_segments_do() -> None:
    rng = random.Random(7)
    moves_by_hash: dict[int, tuple[Move, ...]] = {}
    for _ in range(100):
        fast = FastBoard(3)
        while not fast.is_over():
            fast.draw(rng.choice(fast.free()))
            free = tuple(segment.move for segment in fast.free())
            assert moves_by_hash.setdefault(fast.key, free) == free
    assert len(set(moves_by_hash.values())) == len(moves_by_hash)


@pytest.mark.parametrize("size", [1, 3, 7, 31])
def test_the_tables_of_a_board(size: int) -> None:
    tables = geometry(size)
    assert len(tables.segments) == 2 * size * (size + 1)
    on_board = [move for move in tables.by_move if move.is_on(size)]
    assert len(on_board) == 4 * size * size
    assert len(tables.around) == size * size + 1
