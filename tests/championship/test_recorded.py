"""Recorded matches of Circuit Wars: how they count, and their logs."""

from __future__ import annotations

import pytest

from cw.championship.recorded import RecordedLines, forfeited
from cw.league.fixtures import Result
from tests.championship.contests import entry


@pytest.mark.parametrize("size", [5, 7])
def test_an_unfinished_match_gives_every_square_to_the_other_team(size: int) -> None:
    squares = size * size
    lost = forfeited(("a", "b"), 0, "timeout", size)
    assert lost == Result(("a", "b"), (2, 1), (0, squares), "timeout")
    lost = forfeited(("a", "b"), 1, "illegal", size)
    assert lost == Result(("a", "b"), (1, 2), (squares, 0), "illegal")


def test_a_finished_match_counts_as_it_was_played() -> None:
    lines = RecordedLines(3)
    assert lines.result(entry("a", "b")) == Result(("a", "b"), (1, 2), (5, 4))
    assert lines.forfeits(entry("a", "b")) == (None, None)


def test_a_forfeit_is_that_of_the_loser_and_counts_all_squares() -> None:
    late = entry("a", "b", ranks=(2, 1), scores=(5, 1), reason="timeout")
    assert RecordedLines(3).result(late) == Result(("a", "b"), (2, 1), (0, 9), "timeout")
    assert RecordedLines(3).forfeits(late) == ("timeout", None)


def test_a_match_that_was_not_played_is_a_draw_without_scores() -> None:
    lines = RecordedLines(7)
    off = entry("a", "b", ranks=(1, 1), scores=(0, 0), reason="called_off")
    assert lines.result(off) == Result(("a", "b"), (1, 1), (0, 0))
    assert lines.forfeits(off) == (None, None)
    assert lines.write(off)["status_code"] == 100
