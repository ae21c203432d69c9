"""The built-in strategies: always legal, the same for the same seed, and as clever as they say."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest

from cw.games.circuit_wars import board
from cw.games.circuit_wars.board import Move, parse_move
from cw.games.circuit_wars.components import Position
from cw.games.circuit_wars.fast_board import FastBoard
from cw.games.circuit_wars.rules import CircuitWars, State
from cw.games.circuit_wars.search import UNLIMITED, BudgetExceeded, Solver
from cw.games.circuit_wars.strategies import STRATEGIES

GAME = CircuitWars()
THOROUGH = pytest.mark.thorough
QUICK = ("random", "mirror", "greedy", "safe")
SLOW = ("search", "expert")


def game(first: str, second: str, size: int, seed: int, openings: int = 0) -> State:
    """Play a whole game; every move must be legal."""
    state = GAME.new(2, seed, size=size, openings=openings)
    players = {
        1: STRATEGIES[first](1, Random(seed)),
        2: STRATEGIES[second](2, Random(seed + 1)),
    }
    while not state.ended:
        move = players[state.player].act(state)
        GAME.check(state, state.player, move)
        state = GAME.step(state, {state.player: move})
    assert state.ended == "finished"
    return state


def wins(name: str, other: str, games: int) -> int:
    """Count the games that a strategy wins, half of them in each seat."""
    won = 0
    for number in range(games):
        first, second = (name, other) if number % 2 == 0 else (other, name)
        end = game(first, second, 7, number // 2, openings=4)
        won += end.winner == 1 + number % 2
    return won


@pytest.mark.parametrize(
    ("name", "size"),
    [
        *((name, size) for name in QUICK for size in (1, 3, 5)),
        *((name, 1) for name in SLOW),
        *(pytest.param(name, size, marks=THOROUGH) for name in SLOW for size in (3, 5)),
    ],
)
def test_every_move_is_legal_in_either_seat(name: str, size: int) -> None:
    for seed in range(2 if name in QUICK else 1):
        game(name, "random", size, seed)
        game("random", name, size, seed)


@pytest.mark.parametrize("name", QUICK)
def test_whole_games_on_the_usual_board(name: str) -> None:
    for seed in range(3):
        game(name, name, 7, seed, openings=seed)


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=THOROUGH) for name in SLOW)])
def test_the_same_seed_gives_the_same_game(name: str) -> None:
    assert game(name, "random", 5, 8) == game(name, "random", 5, 8)


@pytest.mark.parametrize("games", [8, pytest.param(40, marks=THOROUGH)])
@pytest.mark.parametrize(("name", "other"), [("greedy", "random"), ("safe", "greedy")])
def test_the_next_one_wins(name: str, other: str, games: int) -> None:
    assert wins(name, other, games) >= 0.85 * games


@THOROUGH
def test_search_beats_safe() -> None:
    assert wins("search", "safe", 10) >= 6


@pytest.mark.parametrize("size", [1, 3, 5, 7])
@pytest.mark.parametrize("name", ["random", "greedy", "safe"])
def test_mirror_cannot_lose_as_player_2_from_an_empty_board(name: str, size: int) -> None:
    assert all(game(name, "mirror", size, seed).winner == 2 for seed in range(4))


def half_played(rng: Random, size: int, free: int) -> State:
    """Return a position of a random game with at most so many free segments."""
    state = GAME.new(2, rng.randrange(10**6), size=size)
    while len(board.free_moves(state.board)) > free:
        state = GAME.step(state, {state.player: GAME.sample(state, state.player, rng)})
    return state


def test_every_candidate_has_the_points_and_the_value_of_the_rules() -> None:
    rng = Random(4)
    for _ in range(60):
        state = half_played(rng, rng.choice([3, 5, 7]), rng.randrange(10, 90))
        if state.ended:
            continue
        candidates = Position.from_squares(state.board).candidates()
        moves = board.free_moves(state.board)
        assert sorted(candidate.edge.segment.move for candidate in candidates) == sorted(moves)
        for candidate in candidates:
            assert (candidate.points, candidate.value) == worth(state, candidate.edge.segment.move)


def worth(state: State, move: Move) -> tuple[int, int]:
    """Return a move's points, and those less the most that can be captured after it."""
    fast = FastBoard.from_squares(state.board)
    points = fast.draw(fast.geometry.by_move[move])
    return points, points - max((points for _, points in fast.scoring()), default=0)


def test_a_position_after_a_candidate_is_the_position_on_the_board() -> None:
    rng = Random(6)
    for _ in range(20):
        state = GAME.new(2, 0, size=5)
        position = Position.from_squares(state.board)
        while not state.ended:
            candidate = rng.choice(position.candidates())
            position = position.draw(candidate)
            state = GAME.step(state, {state.player: str(candidate.edge.segment.move)})
            expected = Position.from_squares(state.board)
            assert (position.unowned, position.free) == (expected.unowned, expected.free)


@cache
def minimax(squares: board.Squares) -> int:
    """Return what the mover wins from here on, less what the other does, by trying everything."""
    best = None
    for move in board.free_moves(squares):
        after = board.draw(squares, move, 1)
        gain = sum(board.scores(after)) - sum(board.scores(squares)) - minimax(after)
        best = gain if best is None else max(best, gain)
    return best or 0


def test_the_solver_is_exact_where_it_leaves_out_nothing() -> None:
    rng = Random(9)
    for _ in range(25):
        state = half_played(rng, rng.choice([3, 5]), 8)
        position = Position.from_squares(state.board)
        squares = position.unowned.bit_count()
        value = Solver(UNLIMITED, budget=10**9).value(position, -squares, squares)
        assert value == minimax(state.board)


def test_the_expert_plays_endgames_without_a_mistake_and_by_its_seed() -> None:
    rng = Random(10)
    for seed in range(20):
        state = half_played(rng, 5, 9)
        if state.ended:
            continue
        name, again = (STRATEGIES["expert"](state.player, Random(seed)).act(state) for _ in "12")
        assert name == again
        move = parse_move(name)
        after = board.draw(state.board, move, 1)
        gain = sum(board.scores(after)) - sum(board.scores(state.board))
        assert gain - minimax(after) == minimax(state.board)


def test_the_solver_stops_when_its_budget_is_exceeded() -> None:
    position = Position.from_squares(board.empty(5))
    with pytest.raises(BudgetExceeded):
        Solver(UNLIMITED, budget=2000).best(position)


def test_greedy_takes_the_largest_area() -> None:
    rng = Random(12)
    for seed in range(30):
        state = half_played(rng, 7, 60)
        move = parse_move(STRATEGIES["greedy"](state.player, Random(seed)).act(state))
        largest = max(
            (points for _, points in FastBoard.from_squares(state.board).scoring()), default=0
        )
        assert worth(state, move)[0] == largest


def test_safe_gives_nothing_away_while_it_can() -> None:
    rng = Random(13)
    for seed in range(30):
        state = half_played(rng, 7, 95)
        move = parse_move(STRATEGIES["safe"](state.player, Random(seed)).act(state))
        best = max(worth(state, other)[1] for other in board.free_moves(state.board))
        assert worth(state, move)[1] == best
