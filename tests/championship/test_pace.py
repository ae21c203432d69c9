"""How long a championship still takes."""

from __future__ import annotations

import pytest

from cw.championship.runner import Pace, in_words


def test_nothing_is_said_before_a_few_matches_have_ended() -> None:
    pace = Pace()
    pace.add(10.0)
    pace.add(10.0)
    assert pace.seconds_left(10, 2, 2) is None
    pace.add(10.0)
    assert pace.seconds_left(10, 2, 2) == 55.0


def test_fewer_matches_than_lanes_are_played_at_once() -> None:
    pace = Pace()
    for _ in range(3):
        pace.add(10.0)
    assert pace.seconds_left(0, 1, 8) == 5.0
    assert pace.seconds_left(0, 0, 8) == 0.0


def test_one_match_that_hung_and_what_is_long_ago_change_nothing() -> None:
    pace = Pace()
    for seconds in (1e6, *[2.0] * 18, 1e6):
        pace.add(seconds)
    assert pace.seconds_left(5, 0, 1) == 10.0
    for _ in range(60):
        pace.add(4.0)
    assert pace.seconds_left(5, 0, 1) == 20.0


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (3, "less than a minute"),
        (61, "about 1 min"),
        (59 * 60, "about 59 min"),
        (3600, "about 1 h"),
        (4500, "about 1 h 15 min"),
    ],
)
def test_a_time_in_words(seconds: float, words: str) -> None:
    assert in_words(seconds) == words
