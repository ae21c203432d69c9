"""`cw maps`: making, checking and showing maps, from the command line to the files."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result
from PIL import Image, ImageColor

from cw.cli import main
from cw.drawing import MARGIN
from cw.games.code_battle.maps.generation import make_map
from cw.games.code_battle.maps.map_file import decode_map, encode_map
from cw.games.code_battle.picture import WALL

MAP = make_map("m4_001", 4, 7, rows=30, cols=44, cores_per_player=2)
SMALL = ("--rows", "30", "--cols", "44", "--cores-per-player", "2")


def maps(*arguments: str | Path, game: str = "code-battle") -> Result:
    return CliRunner().invoke(main, ["maps", game, *map(str, arguments)])


def generate(folder: Path, *arguments: str) -> Result:
    return maps("generate", "--players", "4", "--seed", "7", "--out", folder, *SMALL, *arguments)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "m4_001.json"
    path.write_bytes(encode_map(MAP))
    return path


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    document = json.loads(encode_map(MAP))
    document["walls"].remove(document["walls"][0])
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(document))
    return path


class TestGenerate:
    def test_it_writes_a_file_for_each_map(self, tmp_path: Path) -> None:
        folder = tmp_path / "new" / "maps"
        done = generate(folder, "--count", "2", "--json")
        assert done.exit_code == 0, done.stderr
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        files = [folder / "m4_001.json", folder / "m4_002.json"]
        assert [Path(line["file"]) for line in lines] == files == sorted(folder.iterdir())
        assert [(line["map_id"], line["seed"]) for line in lines] == [("m4_001", 7), ("m4_002", 8)]
        assert files[0].read_bytes() == encode_map(MAP)
        assert decode_map(files[1].read_bytes(), "m").seed == 8

    def test_the_options_reach_the_map_maker(self, tmp_path: Path) -> None:
        option_arguments = ("--wall-density", "0.3", "--energy-nodes", "32")
        done = generate(tmp_path, *option_arguments)
        assert "walls 396, wall_density 0.3" in done.stdout
        grid = decode_map((tmp_path / "m4_001.json").read_bytes(), "m")
        assert (grid.wall_density, len(grid.nodes), grid.cores_per_player) == (0.3, 32, 2)

    def test_nothing_is_overwritten_unasked(self, tmp_path: Path) -> None:
        old = tmp_path / "m4_002.json"
        old.write_text("old")
        done = generate(tmp_path, "--count", "2")
        assert done.exit_code == 2
        assert "m4_002.json already exists; --force overwrites it" in done.stderr
        assert [path.name for path in tmp_path.iterdir()] == ["m4_002.json"]
        assert old.read_text() == "old"
        assert generate(tmp_path, "--count", "2", "--force").exit_code == 0
        assert decode_map(old.read_bytes(), "m").seed == 8

    @pytest.mark.parametrize(
        ("arguments", "error"),
        [
            (("--players", "5"), "players: 5 is not one of 2, 3, 4, 6"),
            (("--rows", "20"), "rows: 20 is not within 30..120"),
            (("--cols", "45"), "4 players need rows == cols, or rows and cols both even"),
            (("--wall-density", "nan"), "wall_density: nan is not within 0.05..0.30"),
            (("--energy-nodes", "51"), "energy_nodes: 51 is not within 8..50"),
            (("--seed", "-1"), "seed: -1 is not within"),
            (("--count", "0"), "0 is not in the range"),
        ],
    )
    def test_what_is_refused_leaves_no_file(
        self, tmp_path: Path, arguments: tuple[str, ...], error: str
    ) -> None:
        done = generate(tmp_path / "maps", *arguments)
        assert done.exit_code == 2
        assert error in done.stderr
        assert not (tmp_path / "maps").exists()

    def test_a_folder_that_cannot_be(self, file: Path) -> None:
        done = generate(file / "below")
        assert done.exit_code == 2
        assert "cannot be written" in done.stderr


class TestCheck:
    def test_a_map_that_is_right(self, file: Path) -> None:
        done = maps("check", file)
        assert (done.exit_code, done.stdout) == (0, f"{file}: ok\n")

    def test_every_file_is_judged_and_one_that_fails_fails_all(
        self, file: Path, bad: Path, tmp_path: Path
    ) -> None:
        done = maps("check", bad, file, tmp_path / "none.json", "--json")
        assert done.exit_code == 1
        first, second, third = map(json.loads, done.stdout.splitlines())
        wall = list(MAP.walls[0])
        expected = f"map bad: not symmetric at tile {wall}"
        assert first == {"file": str(bad), "ok": False, "error": expected}
        assert second == {"file": str(file), "ok": True, "error": None}
        assert "none.json cannot be read: No such file" in third["error"]

    def test_files_that_are_no_maps(self, tmp_path: Path) -> None:
        for number, data in enumerate((b"", b"\xff", b"[" * 9999, b"{}", b" " * 2_000_000)):
            path = tmp_path / f"{number}.json"
            path.write_bytes(data)
            done = maps("check", path)
            assert done.exit_code == 1
            assert f"{path}: map {number}: " in done.stdout
        assert maps("check", tmp_path).exit_code == 1
        assert maps("check").exit_code == 2


class TestShow:
    def test_in_the_terminal(self, file: Path) -> None:
        done = maps("show", file)
        lines = done.stdout.splitlines()
        assert done.exit_code == 0
        assert [len(line) for line in lines] == [44] * 30
        for row, line in enumerate(lines):
            for col, sign in enumerate(line):
                owner = dict(MAP.cores).get((row, col))
                is_sign = {
                    "#": (row, col) in MAP.walls,
                    "*": (row, col) in MAP.nodes,
                    ".": (row, col) not in {*MAP.walls, *MAP.nodes} and owner is None,
                }
                assert is_sign.get(sign, sign == "ABCD"[owner or 0])

    def test_a_wide_map_is_not_folded(self, tmp_path: Path) -> None:
        path = tmp_path / "wide.json"
        path.write_bytes(encode_map(make_map("wide", 2, 1, rows=30, cols=120)))
        assert [len(line) for line in maps("show", path).stdout.splitlines()] == [120] * 30

    def test_as_pictures(self, file: Path, tmp_path: Path) -> None:
        svg, png = tmp_path / "a.svg", tmp_path / "a.png"
        done = maps("show", file, "--svg", svg, "--png", png)
        assert (done.exit_code, done.stdout) == (0, "")
        root = ElementTree.fromstring(svg.read_text("utf-8"))
        space = "{http://www.w3.org/2000/svg}"
        assert root.findtext(f"{space}title") == "m4_001"
        assert [node.text for node in root.iter(f"{space}text")] == [
            "ABCD"[owner] for _, owner in sorted(MAP.cores)
        ]
        assert len(list(root.iter(f"{space}polygon"))) == len(MAP.nodes)
        assert sum(node.get("fill") == WALL for node in root.iter()) == len(MAP.walls)
        with Image.open(BytesIO(png.read_bytes())) as image:
            assert image.format == "PNG"
            tile = (image.width - 2 * MARGIN) // 44
            assert image.size == (44 * tile + 2 * MARGIN, 30 * tile + 2 * MARGIN)
            middles = {
                (row, col): image.getpixel(
                    (MARGIN + col * tile + tile // 2, MARGIN + row * tile + tile // 2)
                )
                for row in range(30)
                for col in range(44)
            }
        wall = ImageColor.getrgb(WALL)
        assert {place for place, colour in middles.items() if colour == wall} == set(MAP.walls)

    def test_a_map_that_is_wrong(self, bad: Path) -> None:
        done = maps("show", bad)
        assert done.exit_code == 2
        assert "map bad: not symmetric at tile" in done.stderr


class TestGames:
    def test_a_game_without_maps(self) -> None:
        done = maps("show", "x.json", game="hexagon")
        assert done.exit_code == 2
        assert "hexagon has no maps; the games with maps are: code-battle" in done.stderr

    def test_an_unknown_game(self) -> None:
        done = maps("show", "x.json", game="chess")
        assert done.exit_code == 2
        assert "there is no game 'chess'" in done.stderr
