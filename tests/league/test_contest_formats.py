"""Formats: what cannot be chosen is refused with a sentence."""

from __future__ import annotations

import pytest

from cw.errors import UsageError
from cw.league.contest_formats import Format
from tests.league.playing import names

SEATS = range(2, 9)


@pytest.mark.parametrize(
    ("chosen", "teams", "error"),
    [
        (Format("league"), "abcd", "unknown format 'league'; there are: championship, knockout"),
        (Format("swiss", groups=2), "abcd", "'championship' takes a number of groups"),
        (Format("gauntlet", meetings=2), "abcd", "'swiss' takes a number of meetings"),
        (Format("swiss", rounds=2), "abcd", "'free-for-all' or 'ladder' takes a number of rounds"),
        (Format("swiss", meetings=9), "abcd", "1 to 2 Swiss meetings, not 9"),
        (Format("knockout"), "a", "2 to 500 teams, not 1"),
        (Format(groups=3), "abcd", "4 teams make 1 to 2 groups, not 3"),
        (Format(groups={"A": "ab", "B": "c"}), "abcd", "'d' is in 0 groups"),
        (Format(groups={"A": "abc", "B": "d"}), "abcd", "it needs two"),
        (Format(groups={"A": "abc", "B": "dx"}), "abcd", "'x', which is not a team"),
        (Format("free-for-all"), "ab", "3 to 2 players, not of 2"),
        (Format("free-for-all", players=2), "abcd", "3 to 4 players, not of 2"),
        (Format("free-for-all", players=5), "abcd", "3 to 4 players, not of 5"),
        (Format("free-for-all", players=9), names(10), "this game is for 2 to 8 players"),
        (Format("ladder", rounds=0), "abcd", "1 to 1000 rounds, not 0"),
        (Format("free-for-all", rounds=0), "abcd", "1 to 1000 rounds, not 0"),
    ],
)
def test_what_cannot_be_is_refused(chosen: Format, teams: tuple[str, ...], error: str) -> None:
    with pytest.raises(UsageError, match=error):
        chosen.contest(tuple(teams), 1, SEATS)


def test_a_format_must_suit_the_seats_of_the_game() -> None:
    with pytest.raises(UsageError, match="this game is for 2 players"):
        Format("free-for-all").contest(names(4), 1)
    with pytest.raises(UsageError, match="for 3 to 4 players; choose 'free-for-all'"):
        Format("knockout").contest(names(4), 1, range(3, 5))
