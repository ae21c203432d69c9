"""Players in the terminal are told apart."""

from __future__ import annotations

from cw.drawing import COLORS, color, letter


def test_players_have_colours_and_letters_of_their_own_until_they_run_out() -> None:
    assert len({color(number) for number in range(len(COLORS))}) == len(COLORS) >= 6
    assert color(len(COLORS)) == color(0)
    assert "".join(map(letter, range(26))) == "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    assert letter(26) == "A"
