"""Benchmark of FastBoard: random games in one process, compared to OpenSpiel and python-chess."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pkgutil import resolve_name
from random import Random
from typing import Any, Final, TypeAlias

from bench.rows import INSTALL, Effort, Goal, Row, medians, rate
from cw.games.circuit_wars.fast_board import FastBoard

Playout: TypeAlias = Callable[[], int]
"""Plays a random game to its end and gives the number of its moves."""

LONGEST_CHESS_GAME: Final = 300


def order_in_advance(rng: Random) -> Playout:
    """Draw the order of all segments in advance and skip those that are no longer free.

    Restricted to the free segments a uniformly random order is one too: each turn takes a
    uniformly random legal move.
    """

    def play() -> int:
        board = FastBoard()
        moves = 0
        segments = board.geometry.segments
        for segment in rng.sample(segments, len(segments)):
            if board.is_free(segment):
                board.draw(segment)
                moves += 1
        return moves

    return play


def choice_each_move(rng: Random) -> Playout:
    """List the free segments before each move and choose one."""

    def play() -> int:
        board = FastBoard()
        moves = 0
        while free := board.free():
            board.draw(rng.choice(free))
            moves += 1
        return moves

    return play


def open_spiel(rng: Random) -> Playout:
    """Play OpenSpiel's dots and boxes, written in C++, from Python."""
    game: Any = resolve_name("pyspiel").load_game("dots_and_boxes(num_rows=7,num_cols=7)")

    def play() -> int:
        state = game.new_initial_state()
        moves = 0
        while not state.is_terminal():
            state.apply_action(rng.choice(state.legal_actions()))
            moves += 1
        return moves

    return play


def chess(rng: Random) -> Playout:
    """Play chess with python-chess, at most 300 plies."""
    new_board: Any = resolve_name("chess:Board")

    def play() -> int:
        board = new_board()
        moves = 0
        while moves < LONGEST_CHESS_GAME and (legal := list(board.legal_moves)):
            board.push(rng.choice(legal))
            moves += 1
        return moves

    return play


OURS: Final[Mapping[str, Callable[[Random], Playout]]] = {
    "7x7 games, order drawn in advance": order_in_advance,
    "7x7 games, free() before each move": choice_each_move,
}
YARDSTICKS: Final[Mapping[str, Callable[[Random], Playout]]] = {
    "OpenSpiel dots_and_boxes 7x7": open_spiel,
    "python-chess": chess,
}
ADVANCE, CHOICE = OURS
SPIEL, CHESS = YARDSTICKS


def rows(effort: Effort) -> list[Row]:
    """Compare moves per second."""
    playouts = {name: make(Random(1)) for name, make in OURS.items()} | installed()
    runs = {name: partial(rate, play, effort.seconds) for name, play in playouts.items()}
    figures = medians(runs, effort.repeats)
    return [
        compare(figures, ADVANCE, SPIEL, Goal(">=", 1.0)),
        compare(figures, CHOICE, SPIEL, Goal(">=", 1.0)),
        compare(figures, ADVANCE, CHESS),
    ]


def installed() -> dict[str, Playout]:
    """Make the yardsticks that can be imported."""
    playouts: dict[str, Playout] = {}
    for name, make in YARDSTICKS.items():
        try:
            playouts[name] = make(Random(1))
        except ImportError:
            continue
    return playouts


def compare(
    figures: Mapping[str, float], what: str, yardstick: str, goal: Goal | None = None
) -> Row:
    """Set one of ours beside a yardstick, which may be missing."""
    theirs = figures.get(yardstick)
    note = INSTALL if theirs is None else ""
    return Row("fast-board", what, figures[what], "moves/s", yardstick, theirs, goal, note)
