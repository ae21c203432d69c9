"""What pictures of Hexagon show, pixel by pixel, is what the frames say."""

from __future__ import annotations

from math import sqrt

import pytest

from cw.drawing import LIGHT, colour_of
from tests.pictures.looking import Look, document_of, rgb


class TestHexagon:
    @pytest.mark.parametrize("turn", [0, 12, 31])
    def test_chips_and_stones_lie_in_shifted_rows(self, turn: int) -> None:
        document = document_of("hexagon")
        look = Look(document, turn)
        actions = document["turns"][turn - 1]["actions"].values() if turn else ()
        moved = [cell for move in actions for cell in (move["move_from"], move["move_to"])]
        kinds = set()
        for row, cells in enumerate(look.frame["cells"]):
            away = abs(row - 3)
            first = (1 + away - row % 2) // 2
            for col, value in list(enumerate(cells))[first : first + 7 - away]:
                x = col + 0.5 + (row % 2) / 2
                y = 1 / sqrt(3) + row * sqrt(3) / 2
                colours = {-1: LIGHT.stone, 0: LIGHT.line}
                colour = colours.get(value) or colour_of(value - 1, dark=False)
                if [row, col] not in moved:
                    assert look.at(x, y + 0.28) == rgb(colour), (row, col)
                kinds.add(value)
        assert {-1, 0 if turn < 31 else 1, 1} <= kinds

    def test_the_target_of_a_move_is_ringed(self) -> None:
        document = document_of("hexagon")
        look = Look(document)
        [move] = document["turns"][-1]["actions"].values()
        row, col = move["move_to"]
        x, y = col + 0.5 + (row % 2) / 2, 1 / sqrt(3) + row * sqrt(3) / 2
        assert look.at(x, y + 0.42) == rgb(LIGHT.glow)
