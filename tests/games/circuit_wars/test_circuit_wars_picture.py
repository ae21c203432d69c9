"""What pictures of Circuit Wars show, pixel by pixel, is what the frames say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from cw.drawing import COLOURS, LIGHT, colour_of
from tests.pictures.looking import Look, close, document_of, mixed, rgb

MIDDLES: Mapping[str, tuple[float, float]] = {
    "top": (0.5, 0),
    "right": (1, 0.5),
    "bottom": (0.5, 1),
    "left": (0, 0.5),
}


def moves(document: Mapping[str, Any]) -> list[tuple[int, float, float, bool]]:
    """Return who drew in a turn, the middle of the segment, and whether it lies flat."""
    strokes = []
    for turn in document["turns"]:
        [(player, move)] = turn["actions"].items()
        x, y, border = move.split(",")
        dx, dy = MIDDLES[border]
        strokes.append((int(player) - 1, int(x) + dx, int(y) + dy, border in ("top", "bottom")))
    return strokes


class TestCircuitWars:
    def test_captured_areas_have_their_owners_colour(self) -> None:
        document = document_of("circuit-wars")
        for turn in (0, 30, -1):
            look = Look(document, turn)
            for y, row in enumerate(look.frame["board"]):
                for x, square in enumerate(row):
                    owner = (square >> 4) - 1
                    area = mixed(colour_of(owner, dark=False), LIGHT.ground, 0.42)
                    expected = rgb(LIGHT.ground) if owner < 0 else area
                    assert close(look.at(x + 0.25, y + 0.3), expected), (turn, x, y)
        assert {(square >> 4) for row in look.frame["board"] for square in row} == {1, 2}

    def test_segments_have_the_colour_of_who_drew_them(self) -> None:
        document = document_of("circuit-wars")
        start, end = Look(document, 0), Look(document)
        for seat, x, y, is_flat in moves(document):
            beside = (x, y + 0.04) if is_flat else (x + 0.04, y)
            assert end.at(*beside) == rgb(colour_of(seat, dark=False))
            assert start.at(x, y) not in {rgb(pair[0]) for pair in COLOURS}

    @pytest.mark.parametrize("turn", [1, 20, 45])
    def test_only_the_last_move_has_an_outline(self, turn: int) -> None:
        document = document_of("circuit-wars")
        look = Look(document, turn)
        outlined = []
        for number, (_, x, y, flat) in enumerate(moves(document)[:turn], 1):
            side = (0, 0.09) if flat else (0.09, 0)
            if look.at(x + side[0], y + side[1]) == rgb(LIGHT.glow):
                outlined.append(number)
        assert outlined == [turn]
