"""Real championships of other games: bots in many languages, web services, kills and failures."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random

import pytest

from cw.championship.journal import load_progress
from cw.games.registry import load_game
from cw.kits import new_bot
from cw.replays import document
from cw.replays.verify import verify
from tests.championship.contests import (
    built_in,
    cw,
    lines_of,
    report_of,
    run_in_background,
    service,
    tables_of,
    wait_for_a_result,
)
from tests.documented import installed, programs
from tests.effort import amount
from tests.tools import require

QUICK = ("--option", "turns=10")
KILLS = amount(1, 3, "CW_KILLS")


def verify_replays(game: str, out: Path) -> None:
    """Play every replay of a championship again."""
    files = list((out / "games").glob("*.json.gz"))
    assert len(files) == len(lines_of(out))
    for file in files:
        assert verify(load_game(game), document.decode(file.read_bytes())) is None


@pytest.mark.thorough
def test_eight_paint_bots_in_four_languages(tmp_path: Path) -> None:
    languages = ("python", "javascript", "ruby", "php")
    for language in languages:
        require(language)
    teams = tmp_path / "teams"
    for number in range(8):
        language = languages[number % 4]
        new_bot("paint", language, teams / f"{language}-{number}")
    out = tmp_path / "out"
    result = cw(
        "run", teams, "--game", "paint", "--format", "free-for-all", "--players", 4,
        "--rounds", 4, "--jobs", 2, "--out", out, *QUICK,
    )  # fmt: skip
    assert result.exit_code == 0, result.output + result.stderr
    lines = lines_of(out)
    assert len(lines) == 8
    assert [line["faults"] for line in lines] == [[]] * 8
    assert {line["reason"] for line in lines} == {"turns_over"}
    assert all(len(line["longest_ms"]) == 4 for line in lines)
    verify_replays("paint", out)
    (standing,) = report_of(out)["standings"]
    assert [row["wins"] + row["draws"] + row["losses"] for row in standing["rows"]] == [12] * 8


@contextmanager
def strategy(name: str) -> Iterator[str]:
    """Serve a built-in strategy of Hexagon."""
    command = [sys.executable, "-m", "cw", "bots", "serve", "hexagon", name, "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        try:
            yield line.removeprefix("listening on ").strip()
        finally:
            process.kill()


@pytest.mark.thorough
def test_three_hexagon_web_services(tmp_path: Path) -> None:
    new_bot("hexagon", "python", tmp_path / "bot")
    with ExitStack() as running:
        kits = [running.enter_context(service(tmp_path / "bot" / "bot.py")) for _ in range(2)]
        bots = [running.enter_context(strategy("random"))]
        file = tmp_path / "teams.toml"
        tables = [
            f'[teams.web-{number}]\nbot = "{address}"\nsecret = "hush-{number}"\n'
            for number, address in enumerate([*kits, *bots])
        ]
        file.write_text("".join(tables))
        out = tmp_path / "out"
        result = cw(
            "run", file, "--game", "hexagon", "--format", "round-robin", "--jobs", 3, "--out", out,
            "--no-validate",
            "--option", "size=4", "--option", "timeout=60",
        )  # fmt: skip
    assert result.exit_code == 0, result.output + result.stderr
    lines = [line for line in lines_of(out) if not line["tie_break"]]
    assert len(lines) == 3
    assert [line["faults"] for line in lines] == [[]] * 3
    verify_replays("hexagon", out)
    for path in filter(Path.is_file, out.rglob("*")):
        data = path.read_bytes()
        text = document.unpacked(data) if path.suffix == ".gz" else data
        assert b"hush" not in text, path


@pytest.mark.parametrize(
    "game", ["end-of-codes", pytest.param("code-battle", marks=pytest.mark.thorough)]
)
def test_the_other_games_play_too(tmp_path: Path, game: str) -> None:
    names = {"end-of-codes": ("idle", "sample", "hunter"), "code-battle": ("random", "gatherer")}
    options = {"end-of-codes": ("M=3", "max_rounds=5"), "code-battle": ("max_turns=20",)}
    file = built_in(tmp_path / "teams.toml", names[game])
    option_arguments = [part for option in options[game] for part in ("--option", option)]
    out = tmp_path / "out"
    result = cw(
        "run", file, "--game", game, "--format", "gauntlet", "--out", out, *option_arguments
    )
    assert result.exit_code == 0, result.output + result.stderr
    verify_replays(game, out)


def test_killed_at_any_instant_paint_loses_nothing(tmp_path: Path) -> None:
    file = built_in(tmp_path / "teams.toml", ("random", "greedy", "walker", "still"))
    more = ("--game", "paint", "--format", "free-for-all", "--players", "3", "--rounds", "8")
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert run_in_background(file, whole, *more, *QUICK).wait(300) == 0
    rng = Random(1)
    for _ in range(KILLS):
        runner = run_in_background(file, killed, *more, *QUICK)
        try:
            runner.wait(rng.uniform(0.5, 3.0))
        except subprocess.TimeoutExpired:
            runner.send_signal(signal.SIGKILL)
            runner.wait(60)
    assert run_in_background(file, killed, *more, *QUICK).wait(300) == 0
    played = [(line["round"], tuple(line["players"])) for line in lines_of(killed)]
    assert len(set(played)) == len(played) == 8
    assert tables_of(killed) == tables_of(whole)
    verify_replays("paint", killed)


@pytest.mark.thorough
def test_a_match_that_cannot_be_played_does_not_stop_the_others(tmp_path: Path) -> None:
    file = built_in(tmp_path / "teams.toml", ("random", "gatherer"))
    # Web services of Code Battle cannot be asked without a secret.
    with file.open("a") as teams:
        teams.write('[teams.unsigned]\nbot = "http://127.0.0.1:9"\n')
    out = tmp_path / "out"
    result = cw(
        "run", file, "--game", "code-battle", "--format", "double-round-robin", "--out", out,
        "--option", "max_turns=10", "--no-validate",
    )  # fmt: skip
    assert result.exit_code == 1
    assert "4 could not be played; continue with: cw championship resume" in result.stdout
    assert "requests of this game are signed with the secret" in result.stderr
    assert {tuple(sorted(line["players"])) for line in lines_of(out)} == {("gatherer", "random")}
    assert len(report_of(out)["failed"]) == 4
    assert "Failed matches" in (out / "report" / "index.html").read_text()
    file.write_text(file.read_text().replace("http://127.0.0.1:9", "builtin:random"))
    assert cw("resume", out).exit_code == 0
    report = report_of(out)
    assert report["over"]
    assert report["failed"] == []
    progress = load_progress(out)
    assert (progress.running, progress.failed) == ({}, {})


@pytest.mark.thorough
def test_ctrl_c_finishes_the_matches_in_flight(tmp_path: Path) -> None:
    file = built_in(tmp_path / "teams.toml", ("random", "walker", "greedy", "still"))
    out = tmp_path / "out"
    more = ("--game", "paint", "--format", "double-round-robin", "--option", "turns=200")
    runner = run_in_background(file, out, *more)
    wait_for_a_result(out)
    runner.send_signal(signal.SIGINT)
    assert runner.wait(300) in (0, 1)
    assert all(line["reason"] == "turns_over" for line in lines_of(out))
    assert cw("resume", out).exit_code == 0
    assert report_of(out)["over"]


@pytest.mark.thorough
def test_a_game_of_another_package_has_its_championships(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(installed())}

    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "cw", "championship", *arguments]
        done = subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("new", "teams", "--game", "nim")
    unnamed = ("grace", "ken")
    for team in unnamed:
        folder = tmp_path / "teams" / team
        shutil.rmtree(folder)
        folder.mkdir()
        (folder / "bot.py").write_text(programs()["bot.py"])
    slow = ("--option", "timeout=60")
    output = run("validate", "teams", "--game", "nim", *slow)
    teams = sorted(team.name for team in (tmp_path / "teams").iterdir())
    names = [team if team in unnamed else f"{team.title()} ({team})" for team in teams]
    assert output.splitlines() == [f"{name}: ok" for name in names]
    run("run", "teams", "--game", "nim", "--out", "out", "--format", "swiss", *slow)
    lines = [line for line in lines_of(tmp_path / "out") if not line["tie_break"]]
    assert len(lines) == 3 * 8
    assert [line["faults"] for line in lines] == [[]] * 24
    assert {line["reason"] for line in lines} == {"last_object"}
    assert report_of(tmp_path / "out")["over"]
