"""What pictures of End of Codes show, pixel by pixel, is what the frames say."""

from __future__ import annotations

import pytest

from cw.drawing import LIGHT, Text, colour_of
from tests.pictures.looking import Look, document_of, rgb, sheet_at


class TestEndOfCodes:
    @pytest.mark.parametrize("turn", [0, 20, -1])
    def test_creatures_are_where_the_frame_says_with_the_origin_below(self, turn: int) -> None:
        look = Look(document_of("end-of-codes"), turn)
        living = {
            (one["x"], one["y"]): one["userid"] - 1
            for one in look.frame["creatures"]
            if one["hp"] > 0
        }
        assert living
        height = look.frame["H"]
        for x in range(look.frame["W"]):
            for y in range(height):
                # Between the arms of a cross, which stands for a death.
                colour = look.at(x + 0.2, height - 1 - y + 0.5)
                expected = LIGHT.ground
                if (x, y) in living:
                    expected = colour_of(living[x, y], dark=False)
                assert colour == rgb(expected), (x, y)

    def test_rows_and_columns_are_numbered(self) -> None:
        board = sheet_at(document_of("end-of-codes")).parts[0]
        numbers = [
            shape for shape in board.shapes if isinstance(shape, Text) and shape.text.isdigit()
        ]
        columns = {int(shape.text): shape.x for shape in numbers if shape.y > 11}
        rows = {int(shape.text): shape.y for shape in numbers if shape.x < 0}
        assert columns == {number: number + 0.5 for number in range(11)}
        assert rows == {number: 10.5 - number for number in range(11)}
