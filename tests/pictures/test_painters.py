"""The two painters, and what bounds them: sizes, bytes, names and documents from outside."""

from __future__ import annotations

import os
import subprocess
import sys
from io import BytesIO
from itertools import islice
from math import ceil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from cw.drawing import Circle, Part, Polygon, Rectangle, Shape, Sheet, Stroke, Text
from cw.errors import ArenaError, ProtocolError, UsageError
from cw.pictures import exports, raster
from cw.pictures.exports import animation, still
from cw.pictures.raster import Canvas, capsule, fitted, image_of, png, printable, width_of
from cw.pictures.svg import number, svg
from cw.replays import document as replays_document
from cw.web.replay_export import drawn
from tests.browser.recorded import MATCHES
from tests.effort import first_is_fast
from tests.pictures.looking import document_of, rgb, sheet_at

SPACE = "{http://www.w3.org/2000/svg}"
PLAIN = {"svg", "title", "g", "rect", "circle", "polygon", "path", "text"}

HOSTILE = (
    "<script>alert(1)</script>\"&'",
    "</text></svg><svg onload=alert(1)>",
    "a\x00b\x1b[31m\r\nc\u202ed\ud83de\ufffff",
    "n" * 100_000,
    "",
    "東京" * 40,
)


def moving(
    document: replays_document.Document, span: tuple[int, int] = (0, -1), speed: float = 8
) -> bytes:
    return animation(drawn(document), span, speed).data


def opened(data: bytes) -> Any:
    return Image.open(BytesIO(data))


def times(image: Any) -> list[int]:
    """Return the milliseconds of every frame."""
    durations = []
    for frame in range(image.n_frames):
        image.seek(frame)
        durations.append(image.info["duration"])
    return durations


class TestShapes:
    def painted(self, shape: Shape) -> Image.Image:
        return image_of(Sheet(60, 40, "#ffffff", "", (Part((shape,), 10, 10, 10),)))

    @pytest.mark.parametrize(
        ("shape", "inside", "outside"),
        [
            (Rectangle(1, 1, 2, 1, "#0000ff"), (20, 20), (19, 25)),
            (Rectangle(1, 1, 2, 1, "#0000ff"), (39, 29), (40, 30)),
            (Polygon(((0, 0), (2, 0), (0, 2)), "#0000ff"), (12, 12), (28, 28)),
            (Polygon(((0, 0), (4, 0), (4, 2), (0, 2)), "#0000ff", stroke=0.4), (30, 10), (30, 20)),
            (Circle(2, 1, 1, "#0000ff"), (30, 12), (22, 12)),
            (Circle(2, 1, 0.8, "#0000ff", stroke=0.4), (30, 12), (30, 20)),
            (Stroke((1, 1), (3, 1), 0.4, "#0000ff"), (41, 20), (43, 20)),
            (Stroke((1, 1), (1, 1), 0.4, "#0000ff"), (20, 20), (23, 20)),
        ],
    )
    def test_they_cover_what_they_should(
        self, shape: Shape, inside: tuple[int, int], outside: tuple[int, int]
    ) -> None:
        image = self.painted(shape)
        assert (image.getpixel(inside), image.getpixel(outside)) == (
            (0, 0, 255),
            (255, 255, 255),
        )

    def test_what_is_translucent_is_mixed_once(self) -> None:
        image = self.painted(Stroke((0, 1), (4, 1), 1, "#0000ff", 0.5))
        assert {image.getpixel((x, 20)) for x in range(8, 52)} == {(127, 127, 255)}

    def test_text_stands_in_the_middle(self) -> None:
        image = self.painted(Text(2, 1, "H", 2, "#000000"))
        box = image.convert("L").point(lambda value: 255 - value).getbbox()
        assert box is not None
        left, top, right, bottom = box
        assert abs((left + right) / 2 - 30) <= 1
        assert abs((top + bottom) / 2 - 20) <= 1

    def test_a_line_is_round_at_both_ends(self) -> None:
        corners = capsule((0, 0), (10, 0), 1)
        assert max(x for x, _ in corners) == pytest.approx(11)
        assert min(x for x, _ in corners) == pytest.approx(-1)
        assert max(y for _, y in corners) == pytest.approx(1)

    @pytest.mark.parametrize(("value", "text"), [(1.0, "1"), (0.12345, "0.123"), (-0.5, "-0.5")])
    def test_numbers_of_svg_are_short(self, value: float, text: str) -> None:
        assert number(value) == text


@pytest.mark.parametrize("game", MATCHES)
class TestStills:
    def test_svg_is_plain(self, game: str) -> None:
        sheet = sheet_at(document_of(game))
        root = ElementTree.fromstring(svg(sheet))
        assert {element.tag.removeprefix(SPACE) for element in root.iter()} <= PLAIN
        names = {name for element in root.iter() for name in element.attrib}
        assert not {name for name in names if name.startswith("on") or "href" in name}
        assert (root.get("width"), root.get("height")) == (str(sheet.width), str(sheet.height))
        shapes = sum(len(part.shapes) for part in sheet.parts)
        others = {SPACE + name for name in ("svg", "title", "g")}
        assert sum(element.tag not in others for element in root.iter()) == shapes + 1

    def test_png_has_the_size_of_the_sheet(self, game: str) -> None:
        sheet = sheet_at(document_of(game))
        image = opened(png(sheet))
        assert (image.format, image.size) == ("PNG", (sheet.width, sheet.height))
        assert 360 <= max(image.size) <= 1600

    def test_the_same_replay_gives_the_same_bytes(self, game: str) -> None:
        one, other = (sheet_at(document_of(game), 7) for _ in range(2))
        assert (svg(one), png(one)) == (svg(other), png(other))

    def test_minus_one_is_the_last_turn(self, game: str) -> None:
        document = document_of(game)
        last = len(document["turns"])
        assert sheet_at(document) == sheet_at(document, last) != sheet_at(document, last - 1)

    def test_a_turn_that_is_not_there(self, game: str) -> None:
        document = document_of(game)
        last = len(document["turns"])
        for turn in (last + 1, -last - 2):
            with pytest.raises(UsageError, match=f"has the turns 0 to {last}, not {turn}"):
                sheet_at(document, turn)


class TestAnimations:
    def test_every_turn_is_a_frame_and_the_last_one_stays(self) -> None:
        document = document_of("paint")
        image = opened(moving(document, speed=8))
        assert image.n_frames == len(document["turns"]) + 1
        assert image.info["loop"] == 0
        durations = times(image)
        assert durations[-1] == 2000
        assert abs(sum(durations[:-1]) - 1000 * len(document["turns"]) / 8) <= 10

    def test_frames_show_their_turns(self) -> None:
        document = document_of("circuit-wars")
        image = opened(moving(document, (10, 20)))
        assert image.n_frames == 11
        for frame, turn in ((0, 10), (5, 15), (10, 20)):
            image.seek(frame)
            [sheet] = islice(exports.sheets(drawn(document), [turn], (600, 48)), 1)
            ours = np.asarray(image_of(sheet)).astype(int)
            difference = np.abs(np.asarray(image.convert("RGB")) - ours).max(axis=2)
            # The palette holds the flat colours exactly, and those of edges nearly.
            assert (difference > 0).mean() < 0.05
            assert (difference > 60).mean() < 0.001

    def test_too_fast_or_too_long_leaves_turns_out(self, monkeypatch: pytest.MonkeyPatch) -> None:
        document = document_of("paint")
        image = opened(moving(document, speed=100))
        assert image.n_frames == 21
        assert set(times(image)[:-1]) == {20}
        monkeypatch.setattr(exports, "MOST_FRAMES", 9)
        image = opened(moving(document, speed=10))
        assert image.n_frames == 9
        assert sum(times(image)[:-1]) == 4000

    def test_boards_of_many_shapes_have_fewer_frames(self, monkeypatch: pytest.MonkeyPatch) -> None:
        document = document_of("paint")
        shapes = sum(len(part.shapes) for part in sheet_at(document, 0).parts)
        monkeypatch.setattr(exports, "MOST_WORK", 10 * shapes)
        gif = animation(drawn(document), (0, -1), 8)
        assert opened(gif.data).n_frames == gif.frames <= 10
        assert gif.step == ceil(len(document["turns"]) / (gif.frames - 1))

    @pytest.mark.parametrize("game", first_is_fast(MATCHES))
    def test_painting_what_changes_is_painting_all(self, game: str) -> None:
        document = document_of(game)
        turns = range(0, len(document["turns"]) + 1, 3)
        sheets = list(exports.sheets(drawn(document), turns, (600, 48)))
        canvas = Canvas(sheets[0])
        for sheet in [*sheets, sheets[0]]:
            assert canvas.show(sheet).tobytes() == image_of(sheet).tobytes()

    def test_a_canvas_that_knows_too_much_begins_again(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        document = document_of("hexagon")
        sheets = list(exports.sheets(drawn(document), range(4), (600, 48)))
        monkeypatch.setattr(raster, "MOST_KNOWN", 10)
        canvas = Canvas(sheets[0])
        for sheet in sheets:
            assert canvas.show(sheet).tobytes() == image_of(sheet).tobytes()

    def test_one_turn_is_a_picture_that_stands(self) -> None:
        image = opened(moving(document_of("hexagon"), (5, 5)))
        assert image.n_frames == 1

    def test_a_span_that_goes_back(self) -> None:
        with pytest.raises(UsageError, match="turn 9 comes after turn 3"):
            moving(document_of("hexagon"), (9, 3))

    @pytest.mark.thorough
    def test_code_battle_is_small(self) -> None:
        document = document_of("code-battle")
        data = moving(document)
        assert len(data) / len(document["turns"]) < 10_000

    @pytest.mark.thorough
    def test_the_same_bytes_come_out_of_another_process(self, tmp_path: Path) -> None:
        file = tmp_path / "match.json"
        file.write_bytes(replays_document.encode(document_of("hexagon"), packed=False))
        for seed in ("1", "2"):
            out = tmp_path / f"{seed}.gif"
            command = [sys.executable, "-m", "cw", "replay", "export", str(file), "--gif"]
            subprocess.run(
                [*command, "--to", "6", "--out", str(out)],
                env=os.environ | {"PYTHONHASHSEED": seed},
                check=True,
                capture_output=True,
            )
        ours = moving(document_of("hexagon"), (0, 6))
        assert (tmp_path / "1.gif").read_bytes() == (tmp_path / "2.gif").read_bytes() == ours


class TestNames:
    @pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
    def test_hostile_names_are_text_and_nothing_else(self, name: str) -> None:
        document = document_of("hexagon")
        document["players"][0]["name"] = name
        sheet = sheet_at(document)
        root = ElementTree.fromstring(svg(sheet))
        assert {element.tag.removeprefix(SPACE) for element in root.iter()} <= PLAIN
        usual = sheet_at(document_of("hexagon"))
        assert opened(png(sheet)).size == (usual.width, usual.height)
        texts = [element.text or "" for element in root.iter(f"{SPACE}text")]
        assert all(sign.isprintable() for text in texts for sign in text)
        assert max(map(len, texts)) < 80
        assert len(svg(sheet)) < len(svg(usual)) + 500

    def test_what_controls_a_terminal_or_a_line_is_replaced(self) -> None:
        assert printable("a\x1bb\u202ec\nd\ud800e f") == "a?b?c?d?e f"

    def test_a_name_is_cut_where_it_would_be_too_wide(self) -> None:
        assert fitted("short", 15, 200) == "short"
        cut = fitted("W" * 50, 15, 200)
        assert cut.endswith("W…")
        assert width_of(cut, 15) <= 200 < width_of(cut[:-1] + "WW…", 15)

    def test_a_thousand_players(self) -> None:
        document = document_of("end-of-codes")
        document["players"] = [
            {"player": seat, "name": f"bot{seat}", "bot": ""} for seat in range(1, 1001)
        ]
        sheet = sheet_at(document)
        texts = [shape.text for shape in sheet.parts[1].shapes if isinstance(shape, Text)]
        assert "bot12" in texts
        assert "bot13" not in texts
        assert texts[-1] == "and 988 more"
        assert sheet.height < 1200
        document["players"].append({"player": 1001, "name": "bot", "bot": ""})
        with pytest.raises(ProtocolError, match="players"):
            sheet_at(document)


class TestBounds:
    def paint(self, width: int, height: int, owner: str | None) -> replays_document.Document:
        document = document_of("paint")
        colors = [[owner] * width for _ in range(height)]
        frame = {"width": width, "height": height, "player_positions": {}, "colors": colors}
        return document | {"frame": frame, "turns": []}

    @pytest.mark.thorough
    def test_a_huge_board_has_few_pixels(self) -> None:
        sheet = sheet_at(self.paint(4096, 3, None))
        assert max(image_of(sheet).size) <= 1100
        sheet = sheet_at(self.paint(300, 300, "bot1"))
        assert max(sheet.width, sheet.height) <= 1100
        board = sheet.parts[0]
        assert image_of(sheet).getpixel((int(board.x) + 50, int(board.y) + 50)) != (255, 255, 255)

    def test_more_than_can_be_drawn_is_refused(self) -> None:
        with pytest.raises(UsageError, match="more than 250000 things"):
            sheet_at(self.paint(600, 600, "bot1"))
        with pytest.raises(ProtocolError, match=r"<= 4096 - at `\$.width`"):
            sheet_at(self.paint(4097, 1, None))

    @pytest.mark.parametrize("board", [(1, 1), (1, 40), (40, 1)])
    def test_odd_boards(self, board: tuple[int, int]) -> None:
        sheet = sheet_at(self.paint(*board, "bot1"))
        assert image_of(sheet).getpixel((2, 2)) == rgb(sheet.ground)

    def test_a_game_that_is_not_here(self) -> None:
        with pytest.raises(UsageError, match="there is no game 'chess'; there are: "):
            sheet_at(document_of("paint") | {"game": "chess"})


Change = tuple[str, list[Any], Any]

MALFORMED: list[Change] = [
    ("circuit-wars", ["frame", "board", 0, 0], "x"),
    ("circuit-wars", ["frame", "board", 0], [0, 0]),
    ("circuit-wars", ["frame", "size"], 10**30),
    ("circuit-wars", ["frame", "last_move"], None),
    ("circuit-wars", ["frame", "scores"], {"1": 2}),
    ("code-battle", ["frame", "config"], {}),
    ("code-battle", ["frame", "config", "rows"], 10),
    ("code-battle", ["frame", "bots", 0, "row"], -1),
    ("code-battle", ["frame", "bots", 0, "owner"], 10**6),
    ("code-battle", ["frame", "walls", 0], [1]),
    ("code-battle", ["frame", "cores"], None),
    ("end-of-codes", ["frame", "MAX_HP"], 0),
    ("end-of-codes", ["frame", "creatures", 0, "x"], 4000),
    ("end-of-codes", ["frame", "creatures", 0], []),
    ("hexagon", ["frame", "cells", 3, 3], 7),
    ("hexagon", ["frame", "cells", 3], [0]),
    ("hexagon", ["frame", "size"], True),
    ("paint", ["frame", "player_positions", "bot0"], [90, 0]),
    ("paint", ["frame", "colors", 0, 0], {}),
    ("paint", ["frame", "obstacles"], [[1, 2, 3]]),
    ("paint", ["frame"], {}),
    ("paint", ["players"], []),
    ("paint", ["players", 0], {"player": "a"}),
    ("paint", ["players", 0, "name"], 7),
    ("paint", ["turns", 0, "frame"], 7),
    ("paint", ["turns", 0, "frame"], {"-": 7}),
    ("paint", ["turns", 0, "frame"], {"width": [7]}),
    ("paint", ["turns", 0, "frame"], [{"width": 1}]),
]


@pytest.mark.parametrize(
    ("game", "place", "value"),
    MALFORMED,
    ids=[
        f"{game}:{'.'.join(map(str, place))}:{number}"
        for number, (game, place, _) in enumerate(MALFORMED)
    ],
)
def test_what_cannot_be_read_is_an_error_in_a_line(game: str, place: list[Any], value: Any) -> None:
    document = document_of(game)
    within: Any = document
    for key in place[:-1]:
        within = within[key]
    within[place[-1]] = value
    with pytest.raises(ProtocolError) as error:
        still(drawn(document), 1)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300


def test_a_board_that_changes_its_size_is_refused() -> None:
    document = document_of("paint")
    small = {"width": 1, "height": 1, "player_positions": {}, "colors": [[None]]}
    document["turns"][4]["frame"] = [small]
    with pytest.raises(ProtocolError, match="the board changes its size in turn 5"):
        moving(document)


ODD: tuple[Any, ...] = (
    None,
    7,
    [],
    "x,y,top",
    "9,9",
    {"fault": "timeout"},
    {"intent": [None, 7, {}]},
    {"type": "shoot", "direction": [2, 0]},
    {"move_from": [0, 0], "move_to": [-1, 0]},
)


@pytest.mark.parametrize("game", MATCHES)
def test_actions_that_mean_nothing_are_not_drawn(game: str) -> None:
    document = document_of(game)
    players = [str(seat["player"]) for seat in document["players"]]

    def drawn(actions: dict[str, Any]) -> Sheet:
        turns = [{**turn, "actions": actions} for turn in document["turns"]]
        return sheet_at(document | {"turns": turns})

    nothing = drawn({})
    for action in ODD:
        assert drawn(dict.fromkeys([*players, "nobody"], action)) == nothing


def test_deep_patches_are_refused() -> None:
    document = document_of("paint")
    frame: Any = {}
    patch: Any = {}
    for _ in range(5000):
        frame, patch = {"a": frame}, {"a": patch}
    document["frame"]["deep"] = frame
    document["turns"][0]["frame"] = {"deep": patch}
    with pytest.raises(ArenaError, match="frame of turn 1: nested too deeply"):
        sheet_at(document)
