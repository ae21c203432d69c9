"""The files and values that the documents print: each is read by what reads such a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cw.championship.teams import read_teams
from cw.cli import main
from cw.game import Board
from cw.games.registry import load_game
from cw.lab.tuning import read_parameters
from tests.documented import DOCS, block

STATES = [
    ("circuit_wars", '{"size"'),
    ("hexagon", '{"size"'),
    ("paint", '{"width"'),
    ("code_battle", '{"config"'),
]


@pytest.mark.parametrize(("game", "start"), STATES)
def test_the_state_of_a_game_is_one(game: str, start: str) -> None:
    document = json.loads(block(DOCS / "games" / f"{game}.md", start))
    codec = load_game(game.replace("_", "-")).codec
    assert codec.state_to_json(codec.state_from_json(document)) == document


def test_the_function_of_the_first_client_chooses_a_free_border() -> None:
    names: dict[str, Any] = {}
    exec(block(DOCS / "first-bot.md", "def choose(board, player)"), names)
    board = Board(3)
    while board.free_borders():
        x, y, border = names["choose"](board, 1)
        assert (x, y, border) in board.free_borders()
        board.add_border(x, y, border, 1)
    assert board.get_colored()[0] == 9


def test_the_teams_of_a_championship_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIRES_SECRET", "0123456789abcdef")
    services = tmp_path / "services.toml"
    services.write_text(block(DOCS / "championship.md", "[teams."), encoding="utf-8")
    assert [team.id for team in read_teams(services, "hexagon")] == ["house", "wires"]
    for name in ("wires", "others"):
        folder = tmp_path / "teams" / name
        folder.mkdir(parents=True)
        (folder / "bot.js").touch()
    named = block(DOCS / "championship.md", "name =")
    (tmp_path / "teams" / "wires" / "team.toml").write_text(named)
    (tmp_path / "teams" / "others" / "team.toml").write_text('run = "node bot.js"')
    names = {team.name for team in read_teams(tmp_path / "teams", "paint")}
    assert "The Wires" in names


def test_the_numbers_of_a_bot_can_be_tuned(tmp_path: Path) -> None:
    file = tmp_path / "numbers.toml"
    file.write_text(block(DOCS / "lab.md", "[depth]"), encoding="utf-8")
    assert [number.name for number in read_parameters(file)] == ["depth"]


def test_a_replay_is_loaded_as_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    match = ("paint", "builtin:walker", "builtin:random", "--option", "turns=20")
    played = CliRunner().invoke(main, ["play", *match, "--out", "replays/paint-3.json.gz"])
    assert played.exit_code == 0, played.output
    exec(block(DOCS / "replay.md", "from cw.replays"), {})
    assert capsys.readouterr().out.endswith("frames\n")
