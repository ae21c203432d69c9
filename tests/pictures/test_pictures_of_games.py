"""What pictures show, pixel by pixel, is what the frames say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from cw.assets import asset
from cw.drawing import palette
from cw.drawing.palette import COLOURS, DARK, LIGHT, colour_of, letter_of
from cw.drawing.shapes import Text
from cw.games.registry import GAMES, load_picture
from tests.browser.recorded import MATCHES, recorded
from tests.pictures.looking import Look, close, document_of, mixed, rgb, sheet_at

VIEWER = asset("static") / "viewer"


def source(name: str) -> str:
    return Path(VIEWER / name).read_text(encoding="utf-8")


class TestPalette:
    def test_players_have_the_colours_of_the_viewer(self) -> None:
        found = re.findall(r'\["(#\w{6})", "(#\w{6})"\]', source("palette.js"))
        assert tuple(found) == COLOURS

    @pytest.mark.parametrize(("name", "inks"), [("light", LIGHT), ("dark", DARK)])
    def test_the_other_inks_are_those_of_the_viewer(self, name: str, inks: palette.Inks) -> None:
        [said] = re.findall(rf"^  {name}: {{(.*?)}},$", source("drawing.js"), re.M | re.S)
        pairs = re.findall(r'(\w+): "(#\w{6})"', said)
        assert dict(pairs) == {key: getattr(inks, key) for key, _ in pairs}
        assert {key for key, _ in pairs} == {*palette.Inks.__slots__} - {"letter"}

    def test_letters_are_written_as_in_the_viewer(self) -> None:
        pair = f'scene.dark ? "{DARK.letter}" : "{LIGHT.letter}"'
        assert pair in source("drawing.js")
        letters = [letter_of(seat) for seat in (0, 25, 26, 27, 701, 702)]
        assert letters == ["A", "Z", "AA", "AB", "ZZ", "AAA"]

    def test_code_battle_has_the_colours_of_the_viewer(self) -> None:
        said = dict(re.findall(r'^const (\w+) = "(#\w{6})";', source("games/code_battle.js"), re.M))
        assert said == {name: getattr(palette, name) for name in said}
        assert len(said) == 7

    def test_every_game_of_the_viewer_is_drawn(self) -> None:
        assert set(re.findall(r'\["([a-z-]+)", [A-Z_]+\]', source("games/game.js"))) == set(GAMES)


MIDDLES: Mapping[str, tuple[float, float]] = {
    "top": (0.5, 0),
    "right": (1, 0.5),
    "bottom": (0.5, 1),
    "left": (0, 0.5),
}


def moves(document: Mapping[str, Any]) -> list[tuple[int, float, float, bool]]:
    """Return who drew in a turn, the middle of the segment, and whether it lies flat."""
    found = []
    for turn in document["turns"]:
        [(player, move)] = turn["actions"].items()
        x, y, border = move.split(",")
        dx, dy = MIDDLES[border]
        found.append((int(player) - 1, int(x) + dx, int(y) + dy, border in ("top", "bottom")))
    return found


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
                    shown = look.at(col + 0.25, row + 0.4)
                    assert shown == rgb(colour_of(avatar, dark=False))

    def test_shots_are_drawn_from_the_shooter_on(self) -> None:
        document = document_of("paint")
        shown = 0
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
                    shown += 1
            if shown == 5:
                return
        raise AssertionError("nobody shot five times")


class TestHexagon:
    @pytest.mark.parametrize("turn", [0, 12, 31])
    def test_chips_and_stones_lie_in_shifted_rows(self, turn: int) -> None:
        document = document_of("hexagon")
        look = Look(document, turn)
        actions = document["turns"][turn - 1]["actions"].values() if turn else ()
        moved = [cell for move in actions for cell in (move["move_from"], move["move_to"])]
        seen = set()
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
                seen.add(value)
        assert {-1, 0 if turn < 31 else 1, 1} <= seen

    def test_the_target_of_a_move_is_ringed(self) -> None:
        document = document_of("hexagon")
        look = Look(document)
        [move] = document["turns"][-1]["actions"].values()
        row, col = move["move_to"]
        x, y = col + 0.5 + (row % 2) / 2, 1 / sqrt(3) + row * sqrt(3) / 2
        assert look.at(x, y + 0.42) == rgb(LIGHT.glow)


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
                shown = look.at(x + 0.2, height - 1 - y + 0.5)
                expected = LIGHT.ground
                if (x, y) in living:
                    expected = colour_of(living[x, y], dark=False)
                assert shown == rgb(expected), (x, y)

    def test_rows_and_columns_are_numbered(self) -> None:
        board = sheet_at(document_of("end-of-codes")).parts[0]
        numbers = [
            shape for shape in board.shapes if isinstance(shape, Text) and shape.text.isdigit()
        ]
        columns = {int(shape.text): shape.x for shape in numbers if shape.y > 11}
        rows = {int(shape.text): shape.y for shape in numbers if shape.x < 0}
        assert columns == {number: number + 0.5 for number in range(11)}
        assert rows == {number: 10.5 - number for number in range(11)}


class TestCodeBattle:
    def test_bots_walls_and_energy(self) -> None:
        document = document_of("code-battle")
        look = Look(document)
        frame = look.frame
        assert not frame["dead"]
        bots = {(bot["row"], bot["col"]): bot["owner"] for bot in frame["bots"]}
        for (row, col), owner in bots.items():
            assert look.at(col + 0.25, row + 0.32) == rgb(colour_of(owner, dark=True))
        cores = {(core["row"], core["col"]) for core in frame["cores"]}
        free = {
            place
            for place in [*map(tuple, frame["walls"])]
            if all(abs(place[0] - row) > 1 or abs(place[1] - col) > 1 for row, col in cores)
        }
        assert len(free) > 100
        assert {look.at(col + 0.5, row + 0.5) for row, col in free} == {rgb(palette.WALL)}
        for node in frame["nodes"]:
            if (node["row"], node["col"]) not in bots:
                shown = look.at(node["col"] + 0.5, node["row"] + 0.5)
                full = mixed(palette.ENERGY, palette.GROUND, 0.9)
                assert close(shown, full if node["energy"] else rgb(palette.GROUND))

    def test_cores_have_a_ring_and_razed_ones_a_cross(self) -> None:
        document = document_of("code-battle")
        look = Look(document)
        states = set()
        for core in look.frame["cores"]:
            x, y = core["col"] + 0.5, core["row"] + 0.5
            states.add(core["active"])
            if core["active"]:
                assert look.at(x, y - 1.15) == rgb(colour_of(core["owner"], dark=True))
            else:
                assert look.at(x, y) == rgb(palette.DEATH)
        assert states == {True, False}

    def test_the_ground_is_dark(self) -> None:
        document = document_of("code-battle")
        look = Look(document)
        assert look.image.getpixel((2, 2)) == rgb(DARK.ground)


@pytest.mark.parametrize("game", MATCHES)
def test_the_caption_tells_game_turn_players_and_scores(game: str) -> None:
    document = document_of(game)
    caption = sheet_at(document).parts[1]
    texts = [shape.text for shape in caption.shapes if isinstance(shape, Text)]
    turns = len(document["turns"])
    assert texts[:2] == [load_picture(game).title, f"turn {turns} of {turns}"]
    names = [seat["name"] for seat in document["players"]]
    letters = [letter_of(seat) for seat in range(len(names))]
    assert (texts[2::3], texts[3::3]) == (letters, names)
    outcome = recorded(game)["result"]["outcome"]
    scores = outcome.get("final_scores") or list(outcome["scores"].values())
    if game == "end-of-codes":
        frame = Look(document).frame
        living = [one["userid"] for one in frame["creatures"] if one["hp"] > 0]
        scores = [living.count(seat["player"]) for seat in document["players"]]
    assert [int(text.split()[0]) for text in texts[4::3]] == scores
