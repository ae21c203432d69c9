"""The Board for students: the names of the assignment, and nothing that surprises."""

from __future__ import annotations

import pytest

from cw.errors import IllegalAction, ProtocolError, UsageError
from cw.game import TIMEOUT, Board
from tests.games.circuit_wars.examples import BOUNDARY, SEED_MOVES, SEED_STATUS


def seed_board() -> Board:
    board = Board()
    for turn, move in enumerate(SEED_MOVES):
        x, y, border = move.split(",")
        board.add_border(int(x), int(y), border, 1 + turn % 2)
    return board


def test_the_time_limit_is_that_of_the_assignment() -> None:
    assert TIMEOUT == 3


def test_an_empty_board() -> None:
    board = Board()
    assert board.get_size() == 7
    assert board.get_board() == [[0] * 7] * 7
    assert board.get_colored() == [0, 0]
    assert len(board.free_borders()) == len(set(board.free_borders())) == 112


def test_the_borders_and_their_bits() -> None:
    assert dict(Board.BORDERS) == {"top": 1, "right": 2, "bottom": 4, "left": 8}


def test_the_example_of_the_assignment() -> None:
    board = seed_board()
    assert board.get_board() == SEED_STATUS["board"]
    assert board.get_colored() == [3, 4]
    assert (board.is_occupied(2, 0), board.is_occupied(3, 1), board.is_occupied(0, 0)) == (1, 2, 0)
    assert board.has_border(4, 0, "bottom")
    assert board.has_border(4, 1, "top")
    assert not board.has_border(2, 0, "bottom")
    assert not board.is_free(2, 0, "bottom")
    assert not board.is_free(4, 1, "top")
    assert board.is_free(6, 6, "right")


def test_a_board_from_a_status_document_plays_on_the_same() -> None:
    board = Board.from_status(SEED_STATUS)
    assert board.get_board() == seed_board().get_board()
    assert board.free_borders() == seed_board().free_borders()


@pytest.mark.parametrize(
    "document",
    [{}, {"board": None}, {"board": [["x"]]}, {"board": [[0, 0, 0], [0], [0]]}],
)
def test_a_document_without_a_board_is_refused(document: dict[str, object]) -> None:
    with pytest.raises(ProtocolError):
        Board.from_status(document)


def test_a_copy_is_independent() -> None:
    board = Board(3)
    copy = board.copy()
    copy.add_border(1, 1, "left", 2)
    assert not board.has_border(1, 1, "left")
    board.get_board()[0][0] = 63
    assert board.get_board()[0][0] == 0


def test_a_drawn_segment_cannot_be_drawn_again_under_either_name() -> None:
    board = Board()
    board.add_border(1, 1, "bottom", 1)
    for x, y, border in ((1, 1, "bottom"), (1, 2, "top")):
        with pytest.raises(IllegalAction, match="already drawn"):
            board.add_border(x, y, border, 2)


@pytest.mark.parametrize(
    ("x", "y", "border"), [(7, 0, "top"), (0, -1, "top"), (-1, 0, "right"), (0, 0, "middle")]
)
def test_what_is_not_on_the_board(x: int, y: int, border: str) -> None:
    board = Board()
    assert not board.is_free(x, y, border)
    with pytest.raises(IllegalAction):
        board.has_border(x, y, border)
    with pytest.raises(IllegalAction):
        board.add_border(x, y, border, 1)


def test_there_are_two_players() -> None:
    with pytest.raises(IllegalAction, match="no player 3"):
        Board().add_border(0, 0, "top", 3)


def test_sizes() -> None:
    assert Board(31).get_size() == 31
    with pytest.raises(UsageError, match="odd number from 1 to 31"):
        Board(4)


def test_the_boundary_takes_all() -> None:
    board = Board()
    for move in BOUNDARY:
        x, y, border = move.split(",")
        board.add_border(int(x), int(y), border, 2)
    assert board.get_colored() == [0, 49]
    assert board.free_borders() == []
