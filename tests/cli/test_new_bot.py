"""`cw new-bot`: copies that are whole, and refusals that say what there is."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from cw.cli import main
from cw.kits import LANGUAGES, files, games

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: str) -> tuple[int, str]:
    return cw("new-bot", *arguments)


def cw(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, arguments)
    return result.exit_code, result.output


def test_the_copy_has_every_file_of_the_kit(tmp_path: Path) -> None:
    code, output = run("hexagon", "ruby", str(tmp_path / "mine"))
    assert code == 0
    *_, check, workshop = output.splitlines()
    assert check == "  cw check hexagon bot.rb"
    assert workshop.endswith(f"cw workshop hexagon {tmp_path / 'mine'}")
    copied = {file.name: file.read_bytes() for file in (tmp_path / "mine").iterdir()}
    assert copied == {name: file.read_bytes() for name, file in files("hexagon", "ruby").items()}
    assert {"README.md", "bot.rb", "bot_server.rb", "hexagon.rb"} <= copied.keys()


def test_what_building_left_is_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("bot", "bot.jar", "bot.c"):
        (tmp_path / "kits" / "paint" / "c").mkdir(parents=True, exist_ok=True)
        (tmp_path / "kits" / "paint" / "c" / name).write_text("")
    monkeypatch.setattr("cw.kits.asset", lambda _: tmp_path / "kits")
    assert run("paint", "c", str(tmp_path / "mine"))[0] == 0
    assert [file.name for file in (tmp_path / "mine").iterdir()] == ["bot.c"]


def test_an_empty_folder_will_do_and_a_full_one_will_not(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert run("paint", "c", str(tmp_path / "empty"))[0] == 0
    code, output = run("paint", "c", str(tmp_path / "empty"))
    assert code == 2
    assert "already exists and is not an empty folder" in output
    (tmp_path / "file").touch()
    assert run("paint", "c", str(tmp_path / "file"))[0] == 2


def test_a_place_that_cannot_be_written_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    code, output = run("paint", "c", str(tmp_path / "file" / "mine"))
    assert code == 2
    assert "the bot cannot be written to " in output


def test_unknown_games_and_languages_are_refused_with_those_that_there_are(tmp_path: Path) -> None:
    code, output = run("chess", "c", str(tmp_path / "x"))
    assert code == 2
    assert all(game in output for game in games())
    code, output = run("paint", "cobol", str(tmp_path / "x"))
    assert code == 2
    assert all(language in output for language in LANGUAGES)
    assert not (tmp_path / "x").exists()


def test_two_words_are_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, output = run("paint")
    assert code == 2
    assert "GAME and LANGUAGE; `cw bots kits` lists" in output
    code, output = run("paint", "c")
    assert code == 0
    assert "Created paint-c" in output
    assert (tmp_path / "paint-c" / "bot.c").is_file()


def test_the_list_names_every_game_and_language() -> None:
    code, output = cw("bots", "kits")
    assert code == 0
    assert all(name in output for name in (*games(), *LANGUAGES))
    assert max(map(len, output.splitlines())) <= 80


def test_the_list_as_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for program in ("ruby", "javac", "jar"):
        (tmp_path / program).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    code, output = cw("bots", "kits", "--json")
    assert code == 0
    listed = json.loads(output)
    assert listed["games"] == list(games())
    assert list(listed["languages"]) == list(LANGUAGES)
    ruby, java = listed["languages"]["ruby"], listed["languages"]["java"]
    assert (ruby["installed"], ruby["missing"], ruby["build"]) == (True, [], None)
    assert (java["installed"], java["missing"]) == (False, ["java"])
    assert java["packages"] == ["default-jdk-headless"]
    assert java["bot"] == "exec:java -jar bot.jar"


def test_what_is_missing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    code, output = run("paint", "ruby", str(tmp_path / "mine"))
    assert code == 0
    assert "apt install ruby" in output
    assert "missing: ruby (Debian: ruby)" in cw("bots", "kits")[1]


def test_a_wheel_brings_the_kits() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packed = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert packed["sample_bots"] == "cw/_assets/sample_bots"
