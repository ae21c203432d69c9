"""The colours and letters of pictures are those of the viewer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cw.assets import asset
from cw.drawing import COLOURS, DARK, LIGHT, Inks, letter_of
from cw.games.code_battle import picture
from cw.games.registry import GAMES

VIEWER = asset("static") / "viewer"


def source(name: str) -> str:
    return Path(VIEWER / name).read_text(encoding="utf-8")


class TestPalette:
    def test_players_have_the_colours_of_the_viewer(self) -> None:
        pairs = re.findall(r'\["(#\w{6})", "(#\w{6})"\]', source("palette.js"))
        assert tuple(pairs) == COLOURS

    @pytest.mark.parametrize(("name", "inks"), [("light", LIGHT), ("dark", DARK)])
    def test_the_other_inks_are_those_of_the_viewer(self, name: str, inks: Inks) -> None:
        [table] = re.findall(rf"^  {name}: {{(.*?)}},$", source("drawing.js"), re.M | re.S)
        pairs = re.findall(r'(\w+): "(#\w{6})"', table)
        assert dict(pairs) == {key: getattr(inks, key) for key, _ in pairs}
        assert {key for key, _ in pairs} == {*Inks.__slots__}

    def test_style_sheets_have_the_colours_of_the_viewer(self) -> None:
        style = (asset("static") / "base.css").read_text(encoding="utf-8")
        one, two, *others = (f"light-dark({light}, {dark})" for light, dark in COLOURS)
        assert f"--one: {one};" in style
        assert f"--two: {two};" in style
        for seat, colour in enumerate(("var(--one)", "var(--two)", *others)):
            assert f'[data-seat="{seat}"] {{ --seat: {colour}; }}' in style

    def test_letters_follow_the_alphabet(self) -> None:
        letters = [letter_of(seat) for seat in (0, 25, 26, 27, 701, 702)]
        assert letters == ["A", "Z", "AA", "AB", "ZZ", "AAA"]

    def test_code_battle_has_the_colours_of_the_viewer(self) -> None:
        colours = dict(
            re.findall(r'^const (\w+) = "(#\w{6})";', source("games/code_battle.js"), re.M)
        )
        del colours["FAR_WALL"]  # Of the small map, which only the viewer has.
        assert colours == {name: getattr(picture, name) for name in colours}
        assert len(colours) == 7

    def test_every_game_of_the_viewer_is_drawn(self) -> None:
        assert set(re.findall(r'\["([a-z-]+)", [A-Z_]+\]', source("games/game.js"))) == set(GAMES)
