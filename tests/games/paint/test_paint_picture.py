"""What pictures of Paint show, pixel by pixel, is what the frames say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cw.drawing import LIGHT, colour_of
from tests.pictures.looking import Look, close, document_of, mixed, rgb


class TestPaint:
    def seat(self, document: Mapping[str, Any], player: str) -> int:
        return [seat["player"] for seat in document["players"]].index(player)

    def test_squares_obstacles_and_avatars(self) -> None:
        document = document_of("paint")
        look = Look(document)
        avatars = {tuple(place): player for player, place in look.frame["player_positions"].items()}
        assert len(avatars) == 2
        obstacles = {tuple(place) for place in look.frame["obstacles"]}
        for row, owners in enumerate(look.frame["colors"]):
            for col, owner in enumerate(owners):
                if (row, col) in obstacles:
                    assert look.at(col + 0.5, row + 0.5) == rgb(LIGHT.stone)
                    continue
                colour = colour_of(-1 if owner is None else self.seat(document, owner), dark=False)
                ground = mixed(colour, LIGHT.ground, 0 if owner is None else 0.62)
                assert close(look.at(col + 0.06, row + 0.9), ground), (row, col)
                if (row, col) in avatars:
                    avatar = self.seat(document, avatars[row, col])
                    pixel = look.at(col + 0.25, row + 0.4)
                    assert pixel == rgb(colour_of(avatar, dark=False))

    def test_shots_are_drawn_from_the_shooter_on(self) -> None:
        document = document_of("paint")
        shots = 0
        for number, turn in enumerate(document["turns"], 1):
            for player, action in turn["actions"].items():
                if action["type"] == "shoot" and any(action["direction"]):
                    look = Look(document, number)
                    row, col = look.frame["player_positions"][player]
                    down, across = action["direction"]
                    # Beside the avatar, before the dot at the end of the shortest shot.
                    place = col + 0.5 + across * 0.53, row + 0.5 + down * 0.53
                    colour = colour_of(self.seat(document, player), dark=False)
                    assert look.at(*place) == rgb(colour), number
                    shots += 1
            if shots == 5:
                return
        raise AssertionError("nobody shot five times")
