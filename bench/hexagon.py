"""Benchmark of Hexagon: random battles on size 5, compared to games of python-chess and ataxx."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from random import Random
from typing import Any, Final

from bench.rows import INSTALL, Effort, Goal, Row, medians, rate
from cw.games.hexagon.fast_board import FastBoard
from cw.games.hexagon.rules import Hexagon, legal_moves
from cw.games.hexagon.state import State

LONGEST_CHESS: Final = 300


def rows(effort: Effort) -> list[Row]:
    """Compare moves per second; every contender lists the legal moves before each move."""
    yardsticks = {"python-chess": chess_game(), "ataxx": ataxx_game()}
    games = {"fast": fast_game(), "step": stepped_game()} | {
        name: game for name, game in yardsticks.items() if game is not None
    }
    figures = medians(
        {name: partial(rate, game, effort.seconds) for name, game in games.items()}, effort.repeats
    )
    pairs = [
        ("fast", "fast board", "python-chess", Goal(">=", 3.0)),
        ("fast", "fast board", "ataxx", Goal(">=", 3.0)),
        ("step", "frozen states", "ataxx", Goal(">=", 1.0)),
    ]
    return [
        Row(
            "hexagon",
            f"size 5, {what}",
            figures[ours],
            "moves/s",
            yardstick,
            figures.get(yardstick),
            goal,
            "" if yardstick in figures else INSTALL,
        )
        for ours, what, yardstick, goal in pairs
    ]


def starts() -> list[State]:
    """Return a few boards to start from."""
    return [Hexagon().new(2, seed) for seed in range(20)]


def fast_game() -> Callable[[], int]:
    """Return a random battle on the fast board."""
    rng = Random(1)
    boards = [FastBoard.from_state(state) for state in starts()]

    def play() -> int:
        board, moves = rng.choice(boards), 0
        while True:
            legal = board.moves()
            if not legal:
                board = board.turned()
                legal = board.moves()
                if not legal:
                    return moves
            board = board.moved(rng.choice(legal))
            moves += 1

    return play


def stepped_game() -> Callable[[], int]:
    """Return a random battle by the rules on frozen states."""
    rng, game, boards = Random(1), Hexagon(), starts()

    def play() -> int:
        state, moves = rng.choice(boards), 0
        while state.color is not None:
            state = game.step(state, {state.color: rng.choice(legal_moves(state))})
            moves += 1
        return moves

    return play


def chess_game() -> Callable[[], int] | None:
    """Return a random game of python-chess, cut after 300 plies; None if it is not installed."""
    chess = load("chess")
    rng = Random(1)

    def play() -> int:
        board = chess.Board()
        while board.ply() < LONGEST_CHESS and not board.is_game_over():
            board.push(rng.choice(list(board.legal_moves)))
        return int(board.ply())

    return play if chess else None


def ataxx_game() -> Callable[[], int] | None:
    """Return a random game of ataxx; None if it is not installed."""
    ataxx = load("ataxx")
    rng = Random(1)

    def play() -> int:
        board, moves = ataxx.Board(), 0
        while not board.gameover():
            board.makemove(rng.choice(board.legal_moves()))
            moves += 1
        return moves

    return play if ataxx else None


def load(name: str) -> Any:
    """Import a yardstick, None if it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        return None
