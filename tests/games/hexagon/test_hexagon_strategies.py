"""The strategies of Hexagon: what they choose, and which of them wins."""

from __future__ import annotations

from random import Random

import pytest

from cw.games.hexagon.fast_board import FastBoard
from cw.games.hexagon.strategies import STRATEGIES, BudgetExceeded, Expert, Search
from tests.games.hexagon.positions import GAME, greedy, random_positions


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
