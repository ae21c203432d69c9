"""A real championship of client folders, some of which misbehave, killed and resumed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
import requests
from click.testing import CliRunner, Result

from cw.arena.sandbox import bubblewrap
from cw.assets import asset
from cw.championship.journal import opened
from cw.championship.report import harmless, rendered
from cw.championship.teams import read_teams
from cw.cli import main
from cw.errors import UsageError
from cw.games.registry import load_game
from cw.league.fixtures import Fixture
from cw.replays import document as replay
from cw.web.championship_routes import championship_app

CLIENT = asset("game_ai.py").read_text(encoding="utf-8")
FIRST_FREE = CLIENT.replace("random.choice(board.free_borders())", "board.free_borders()[0]")

WALLED = bubblewrap.problem() is None
KILLS = int(os.environ.get("CW_KILLS", "20"))

MISBEHAVING = {
    "sleeper": FIRST_FREE.replace("    return board", "    time.sleep(60)\n    return board"),
    "illegal": CLIENT.replace("return random.choice(board.free_borders())", 'return (0, 0, "up")'),
    "impostor": FIRST_FREE.replace(
        '        status = ask("status")\n',
        '        requests.get(f"{SERVER}/move/honest/0,0,top", timeout=9)\n'
        '        requests.get(f"{SERVER}/reg/honest", timeout=9)\n'
        '        status = ask("status")\n',
    ),
    "restarter": FIRST_FREE.replace(
        '        status = ask("status")\n',
        '        requests.get(f"{SERVER}/restart", timeout=9)\n        status = ask("status")\n',
    ),
    "silent": "import time\ntime.sleep(600)\n",
    "leaver": CLIENT.replace("return random.choice(board.free_borders())", "raise SystemExit(3)"),
}


def make_teams(folder: Path, sources: dict[str, str]) -> Path:
    """Write a folder for each team."""
    for team, source in sources.items():
        (folder / team).mkdir(parents=True)
        (folder / team / "game_ai.py").write_text(source, encoding="utf-8")
    return folder


def cw(*arguments: str | int | Path) -> Result:
    return CliRunner().invoke(main, ["championship", *map(str, arguments)])


def lines_of(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]


def tables_of(out: Path) -> Any:
    report = json.loads((out / "report" / "report.json").read_text())
    return report["standings"], report["bracket"], report["order"]


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CW_PAUSE", "0")


@pytest.mark.skipif(not WALLED, reason="bubblewrap does not work here")
def test_everyone_pays_for_its_own_mistakes_only(tmp_path: Path) -> None:
    teams = make_teams(
        tmp_path / "teams", {"honest": FIRST_FREE, "steady": FIRST_FREE} | MISBEHAVING
    )
    out = tmp_path / "out"
    result = cw(
        "run", teams, "--out", out, "--format", "gauntlet", "--size", 3,
        "--timeout", 1, "--jobs", 3,
    )  # fmt: skip
    assert result.exit_code == 0, result.output + result.stderr
    lines = lines_of(out)
    assert len(lines) >= 2 * 7
    for line in lines:
        names = {line["player_1"], line["player_2"]}
        kind, player = divmod(line["status_code"], 100)
        named = line[f"player_{player}"]
        if kind == 3:
            # An impostor and a restarter are refused and play on; so do the honest ones.
            assert not names & {"sleeper", "illegal", "silent", "leaver"}, line
        else:
            assert named in MISBEHAVING, line
            assert named not in ("impostor", "restarter"), line
            assert line["reasons"], line
    tried = [
        noted["detail"]
        for line in lines
        for noted in line["reasons"]
        if "impostor" in (line["player_1"], line["player_2"])
    ]
    assert any("/move/honest/0,0,top" in detail for detail in tried)
    assert any("/reg/honest" in detail for detail in tried)
    losses = [line for line in lines if "honest" in lost_by(line) and not line["extra"]]
    assert {other(line) for line in losses} <= {"steady", "impostor", "restarter"}
    assert "exit code 3" in str([line["reasons"] for line in lines])
    assert "not registered within" in str([line["reasons"] for line in lines])


def lost_by(line: dict[str, Any]) -> str:
    """Name the loser of a game."""
    kind, player = divmod(line["status_code"], 100)
    return str(line[f"player_{3 - player if kind == 3 else player}"])


def other(line: dict[str, Any]) -> str:
    """Name who played against the first team of the gauntlet."""
    return str(line["player_2"] if line["player_1"] == "honest" else line["player_1"])


def run_in_background(teams: Path, out: Path, *more: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "cw", "championship", "run", str(teams), "--out", str(out)]
    command += ["--resume", "--size", "3", "--jobs", "3", "--groups", "1", *more]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.mark.skipif(not WALLED, reason="bubblewrap does not work here")
def test_killed_at_any_instant_it_loses_nothing(tmp_path: Path) -> None:
    places = {"ann": "0", "bob": "-1", "cid": "len(board.free_borders()) // 2"}
    sources = {
        t: FIRST_FREE.replace("free_borders()[0]", f"free_borders()[{place}]")
        for t, place in places.items()
    }
    teams = make_teams(tmp_path / "teams", sources)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert run_in_background(teams, whole).wait(300) == 0
    rng = Random(1)
    for _ in range(KILLS):
        runner = run_in_background(teams, killed)
        try:
            runner.wait(rng.uniform(0.5, 2.0))
        except subprocess.TimeoutExpired:
            runner.send_signal(signal.SIGKILL)
            runner.wait(60)
    assert run_in_background(teams, killed).wait(300) == 0
    played = [
        tuple(line[key] for key in ("stage", "group", "round", "first", "second", "extra"))
        for line in lines_of(killed)
    ]
    assert len(set(played)) == len(played)
    assert tables_of(killed) == tables_of(whole)
    assert {(*p,) for p in played} == {
        tuple(line[key] for key in ("stage", "group", "round", "first", "second", "extra"))
        for line in lines_of(whole)
    }


@pytest.mark.skipif(not WALLED, reason="bubblewrap does not work here")
def test_logs_and_replays_tell_every_game(tmp_path: Path) -> None:
    teams = make_teams(tmp_path / "teams", {"ann": FIRST_FREE, "bob": CLIENT})
    out = tmp_path / "out"
    assert cw("run", teams, "--out", out, "--size", 3, "--openings", 2).exit_code == 0
    games = sorted((out / "games").glob("*.log"))
    lines = lines_of(out)
    assert len(games) == len(lines) > 0
    for line in lines:
        (file,) = [log for log in games if stem(line) == log.stem]
        moves, end = file.read_text().split("----\n")
        assert moves.startswith(f"/move/{line['player_1']}/")
        assert len(moves.splitlines()) == line["turns"]
        assert end.splitlines() == [
            str(line["status_code"]),
            f"{line['player_1']} {line['player_2']}",
            f"{line['score_1']} {line['score_2']}",
        ]
        document = replay.decode(file.with_suffix(".json.gz").read_bytes())
        assert replay.verify(load_game("circuit-wars"), document) is None
    meetings = {(line["player_1"], line["player_2"]): line["seed"] for line in lines[:2]}
    assert len(set(meetings.values())) == 1


def stem(line: dict[str, Any]) -> str:
    parts: Sequence[str] = [line["stage"], line["group"] or "", f"round-{line['round']}"]
    extra = [f"extra-{line['extra']}"] if line["extra"] else []
    return "_".join(part for part in (*parts, line["first"], line["second"], *extra) if part)


def test_a_second_runner_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path):
        command = [sys.executable, "-m", "cw", "championship", "report", str(tmp_path)]
        (tmp_path / "championship.json").write_text(
            json.dumps({"teams": ["a", "b"], "place": str(tmp_path)})
        )
        second = subprocess.run(command, capture_output=True, text=True, check=False)
    assert second.returncode == 2
    assert "is being run by another process" in second.stderr


def test_a_torn_line_is_cut_off_and_a_broken_one_refused(tmp_path: Path) -> None:
    line = {
        "stage": "group", "group": "A", "round": 1, "first": "a", "second": "b", "extra": 0,
        "player_1": "a", "player_2": "b", "status_code": 301, "score_1": 5, "score_2": 4, "size": 3,
    }  # fmt: skip
    file = tmp_path / "results.jsonl"
    whole = json.dumps(line).encode() + b"\n"
    file.write_bytes(whole + whole[:-20])
    with opened(tmp_path) as journal:
        assert len(journal.lines) == 1
    assert file.read_bytes() == whole
    file.write_bytes(b"{}\n" + whole)
    with pytest.raises(UsageError, match="line 1"), opened(tmp_path):
        pass


def test_a_full_disk_leaves_what_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = {"player_1": "a", "player_2": "b", "status_code": 301, "score_1": 5, "score_2": 4}
    with opened(tmp_path) as journal:
        journal.add(Fixture("group", "A", 1, "a", "b"), line)
        before = (tmp_path / "results.jsonl").read_bytes()

        def full(_: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(UsageError, match="No space left on device"):
            journal.add(Fixture("group", "A", 2, "b", "a"), line)
        assert (tmp_path / "results.jsonl").read_bytes() == before
        assert len(journal.lines) == 1


@pytest.mark.skipif(not WALLED, reason="bubblewrap does not work here")
def test_ctrl_c_finishes_the_games_in_flight(tmp_path: Path) -> None:
    teams = make_teams(tmp_path / "teams", dict.fromkeys(("ann", "bob", "cid"), CLIENT))
    out = tmp_path / "out"
    runner = run_in_background(teams, out, "--timeout", "60")
    until = time.monotonic() + 60
    while time.monotonic() < until and not (out / "results.jsonl").exists():
        time.sleep(0.05)
    time.sleep(1.0)
    runner.send_signal(signal.SIGINT)
    assert runner.wait(120) in (0, 1)
    for line in lines_of(out):
        assert line["status_code"] // 100 == 3


def test_eight_example_teams_are_made_and_valid(tmp_path: Path) -> None:
    folder = tmp_path / "teams"
    assert cw("new", folder).exit_code == 0
    assert len(read_teams(folder)) == 8
    assert cw("new", folder).exit_code == 2
    for team in list(folder.iterdir())[2:]:
        for file in team.iterdir():
            file.unlink()
        team.rmdir()
    result = cw("validate", folder, "--json")
    assert result.exit_code == 0, result.output
    assert [json.loads(line)["ok"] for line in result.stdout.splitlines()] == [True, True]


def test_a_team_that_fails_is_told_why(tmp_path: Path) -> None:
    sources = {"good": FIRST_FREE, "bad": MISBEHAVING["illegal"]}
    result = cw("validate", make_teams(tmp_path / "teams", sources))
    assert result.exit_code == 1
    assert "good: ok" in result.stdout
    assert "bad: turn " in result.stdout
    assert "illegal" in result.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"\[teams.ID\]"),
        ("teams = 3", r"\[teams.ID\]"),
        ('[teams.a]\nbot = "builtin:random"', "needs 2 or more"),
        ('[teams.a]\n[teams.b]\nbot = "builtin:random"', "team a needs a bot"),
        ('[teams."a b"]\nbot = "builtin:random"', "letters, digits or hyphens"),
        ("[teams.a]\nhat = 1", "a team has"),
        ("[teams", "Expected|Invalid|Unclosed|Missing"),
    ],
)
def test_a_file_of_teams_that_is_wrong_is_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "teams.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=message):
        read_teams(file)


def test_built_in_teams_of_a_file_play_a_championship(tmp_path: Path) -> None:
    file = tmp_path / "teams.toml"
    names = ("random", "mirror", "greedy", "safe")
    file.write_text("".join(f'[teams.{name}]\nbot = "builtin:{name}"\n' for name in names))
    out = tmp_path / "out"
    result = cw("run", file, "--out", out, "--size", 3, "--format", "double-round-robin")
    assert result.exit_code == 0, result.output + result.stderr
    table = cw("table", out / "results.jsonl", "--json")
    stages = json.loads(table.stdout)["stages"]
    assert [len(rows) for rows in stages.values()] == [4]
    assert cw("run", file, "--out", out).exit_code == 2
    assert cw("resume", out).exit_code == 0
    html = (out / "report" / "index.html").read_text()
    assert "<script" not in html
    assert "greedy" in html


def test_names_are_text_in_the_report(tmp_path: Path) -> None:
    evil = "<img src=x onerror=alert(1)>"
    document: dict[str, Any] = {
        "title": evil, "over": True, "played": 1, "standings": [], "bracket": [],
        "bonus": {evil: 1}, "order": [[evil]], "seats": None, "teams": [], "games": [],
        "stems": [], "live": True,
        "running": [{"first": evil, "second": "b", "stage": "x", "group": None, "window": None}],
    }  # fmt: skip
    assert evil not in rendered("championship.html", document)
    assert harmless("=1+1") == "'=1+1"


def test_the_page_shows_what_is_played_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "teams.toml"
    file.write_text("".join(f'[teams.{n}]\nbot = "builtin:{n}"\n' for n in ("random", "greedy")))
    out = tmp_path / "out"
    assert cw("run", file, "--out", out, "--size", 3, "--format", "round-robin").exit_code == 0
    client = championship_app(out).test_client()
    assert client.get("/").location == "/championship/"
    page = client.get("/championship/")
    assert "greedy" in page.text
    assert "<script" not in page.text
    assert "script-src" not in page.headers["Content-Security-Policy"]
    names = [path.name for path in (out / "games").iterdir()]
    assert len(names) == 2
    for name in names:
        with client.get(f"/championship/games/{name}") as answer:
            assert answer.status_code == 200
    for name in ("../results.jsonl", "..%2fresults.jsonl", "nothing.log", ".lock"):
        assert client.get(f"/championship/games/{name}").status_code == 404
    with (out / "results.jsonl").open("ab") as torn:
        torn.write(b'{"torn')
    assert json.loads(client.get("/championship/report.json").text)["played"] == 1
    assert (out / "results.jsonl").read_bytes().endswith(b'{"torn')


@pytest.mark.skipif(not WALLED, reason="bubblewrap does not work here")
def test_a_game_in_flight_can_be_watched_and_not_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So that a game lasts much longer than it takes to look at it.
    monkeypatch.setenv("CW_PAUSE", "1")
    teams = make_teams(tmp_path / "teams", dict.fromkeys(("ann", "bob"), CLIENT))
    out = tmp_path / "out"
    runner = run_in_background(teams, out, "--timeout", "60", "--openings", "0")
    try:
        until = time.monotonic() + 60
        windows: list[Path] = []
        while not windows and time.monotonic() < until:
            windows = list((out / "games").glob("*.watch"))
        address = windows[0].read_text()
        assert requests.get(f"{address}/", timeout=30).status_code == 200
        assert "status_code" in requests.get(f"{address}/status", timeout=30).json()
        for path in ("reg/eve", "move/ann/0,0,top", "restart"):
            assert requests.get(f"{address}/{path}", timeout=30).status_code == 403
    finally:
        runner.send_signal(signal.SIGINT)
        time.sleep(0.5)
        runner.send_signal(signal.SIGINT)
        assert runner.wait(120) == 1
    assert lines_of(out) == []
    assert not list((out / "games").glob("*.watch"))


def test_a_team_cannot_name_what_is_outside_of_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_teams(tmp_path / "teams", {"honest": CLIENT, "thief": CLIENT})
    about = folder / "thief" / "team.toml"
    monkeypatch.chdir(folder)
    for stolen in (str(folder / "honest" / "game_ai.py"), "honest/game_ai.py"):
        about.write_text(f"run = 'python3 {stolen}'", encoding="utf-8")
        with pytest.raises(UsageError, match="outside of the folder"):
            read_teams(folder)
    about.write_text("run = 'env X=1 /bin/sh game_ai.py'", encoding="utf-8")
    assert str(folder / "thief" / "game_ai.py") in read_teams(folder)[1].bot.target
    about.unlink()
    (folder / "thief" / "game_ai.py").unlink()
    (folder / "thief" / "game_ai.py").symlink_to(folder / "honest" / "game_ai.py")
    with pytest.raises(UsageError, match="outside of the folder"):
        read_teams(folder)
