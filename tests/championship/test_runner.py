"""A real championship of client folders, some of which misbehave, killed and resumed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
import requests

from cw.championship.journal import load_progress
from cw.games.registry import load_game
from cw.replays import document as replays_document
from cw.replays.verify import verify
from tests.championship.contests import (
    CLIENT,
    FIRST_FREE,
    built_in,
    cw,
    lines_of,
    make_teams,
    run_in_background,
    tables_of,
    wait_for_a_result,
)
from tests.tools import NEEDS_BUBBLEWRAP

KILLS = int(os.environ.get("CW_KILLS", "3"))

SMALL = ("--size", "3", "--jobs", "3", "--groups", "1", "--timeout", "60")

LIMIT = 30
"""Seconds for a turn that only a client which sleeps exceeds."""

LOOK = '        answer = request("status")\n'
"""What the client does again and again."""
assert LOOK in CLIENT

MISBEHAVING = {
    "sleeper": FIRST_FREE.replace("    return board", "    time.sleep(600)\n    return board"),
    "illegal": CLIENT.replace("return random.choice(board.free_borders())", 'return (0, 0, "up")'),
    "impostor": FIRST_FREE.replace(
        LOOK,
        '        requests.get(f"{SERVER}/move/honest/0,0,top", timeout=9)\n'
        '        requests.get(f"{SERVER}/reg/honest", timeout=9)\n' + LOOK,
    ),
    "restarter": FIRST_FREE.replace(
        LOOK,
        '        requests.get(f"{SERVER}/restart", timeout=9)\n' + LOOK,
    ),
    "silent": "import time\ntime.sleep(600)\n",
    "leaver": CLIENT.replace("return random.choice(board.free_borders())", "raise SystemExit(3)"),
}


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CW_PAUSE", "0")


@pytest.mark.thorough
@NEEDS_BUBBLEWRAP
def test_everyone_pays_for_its_own_mistakes_only(tmp_path: Path) -> None:
    teams = make_teams(
        tmp_path / "teams", {"honest": FIRST_FREE, "steady": FIRST_FREE} | MISBEHAVING
    )
    out = tmp_path / "out"
    result = cw(
        "run", teams, "--out", out, "--format", "gauntlet", "--size", 3, "--no-validate",
        "--timeout", LIMIT, "--jobs", 3,
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
    assert "did not register within" in str([line["reasons"] for line in lines])


def lost_by(line: dict[str, Any]) -> str:
    """Name the loser of a game."""
    kind, player = divmod(line["status_code"], 100)
    return str(line[f"player_{3 - player if kind == 3 else player}"])


def other(line: dict[str, Any]) -> str:
    """Name who played against the first team of the gauntlet."""
    return str(line["player_2"] if line["player_1"] == "honest" else line["player_1"])


@pytest.mark.thorough
@NEEDS_BUBBLEWRAP
def test_killed_at_any_instant_it_loses_nothing(tmp_path: Path) -> None:
    places = {"ann": "0", "bob": "-1", "cid": "len(board.free_borders()) // 2"}
    sources = {
        t: FIRST_FREE.replace("free_borders()[0]", f"free_borders()[{place}]")
        for t, place in places.items()
    }
    teams = make_teams(tmp_path / "teams", sources)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert run_in_background(teams, whole, *SMALL).wait(300) == 0
    rng = Random(1)
    for _ in range(KILLS):
        runner = run_in_background(teams, killed, *SMALL)
        try:
            runner.wait(rng.uniform(0.5, 2.0))
        except subprocess.TimeoutExpired:
            runner.send_signal(signal.SIGKILL)
            runner.wait(60)
    assert run_in_background(teams, killed, *SMALL).wait(300) == 0
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


@pytest.mark.thorough
@NEEDS_BUBBLEWRAP
def test_logs_and_replays_tell_every_game(tmp_path: Path) -> None:
    teams = make_teams(tmp_path / "teams", {"ann": FIRST_FREE, "bob": CLIENT})
    out = tmp_path / "out"
    options = ("--size", 3, "--openings", 2, "--timeout", 60)
    assert cw("run", teams, "--out", out, *options).exit_code == 0
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
        document = replays_document.decode(file.with_suffix(".json.gz").read_bytes())
        assert verify(load_game("circuit-wars"), document) is None
    meetings = {(line["player_1"], line["player_2"]): line["seed"] for line in lines[:2]}
    assert len(set(meetings.values())) == 1


def stem(line: dict[str, Any]) -> str:
    parts: Sequence[str] = [line["stage"], line["group"] or "", f"round-{line['round']}"]
    extra = [f"tie-break-{line['extra']}"] if line["extra"] else []
    return "_".join(part for part in (*parts, line["first"], line["second"], *extra) if part)


@pytest.mark.thorough
@NEEDS_BUBBLEWRAP
def test_ctrl_c_finishes_the_games_in_flight(tmp_path: Path) -> None:
    teams = make_teams(tmp_path / "teams", dict.fromkeys(("ann", "bob", "cid"), CLIENT))
    out = tmp_path / "out"
    runner = run_in_background(teams, out, *SMALL)
    wait_for_a_result(out)
    runner.send_signal(signal.SIGINT)
    assert runner.wait(300) in (0, 1)
    for line in lines_of(out):
        assert line["status_code"] // 100 == 3


def test_built_in_teams_of_a_file_play_a_championship(tmp_path: Path) -> None:
    file = built_in(tmp_path / "teams.toml", ("random", "mirror", "greedy"))
    out = tmp_path / "out"
    result = cw("run", file, "--out", out, "--size", 3, "--format", "double-round-robin")
    assert result.exit_code == 0, result.output + result.stderr
    table = cw("table", out / "results.jsonl", "--json")
    stages = json.loads(table.stdout)["stages"]
    assert [len(rows) for rows in stages.values()] == [3]
    assert cw("run", file, "--out", out).exit_code == 2
    assert cw("resume", out).exit_code == 0
    html = (out / "report" / "index.html").read_text()
    assert "<script" not in html
    assert "greedy" in html


def is_pending(process: int, number: int) -> bool:
    """Return whether a signal has not reached a process yet: a second one would be lost."""
    status = Path(f"/proc/{process}/status").read_text()
    waiting = re.search(r"^ShdPnd:\s+(\w+)$", status, re.MULTILINE)
    assert waiting
    return bool(int(waiting[1], 16) >> number - 1 & 1)


@pytest.mark.thorough
@NEEDS_BUBBLEWRAP
def test_a_game_in_flight_can_be_watched_and_not_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So that a game lasts much longer than it takes to look at it.
    monkeypatch.setenv("CW_PAUSE", "1")
    teams = make_teams(tmp_path / "teams", dict.fromkeys(("ann", "bob"), CLIENT))
    out = tmp_path / "out"
    runner = run_in_background(teams, out, *SMALL, "--openings", "0")
    try:
        until = time.monotonic() + 300
        address = None
        while address is None and time.monotonic() < until:
            address = next(filter(None, load_progress(out).running.values()), None)
            time.sleep(0.05)
        assert requests.get(f"{address}/", timeout=30).status_code == 200
        assert "status_code" in requests.get(f"{address}/status", timeout=30).json()
        for path in ("reg/eve", "move/ann/0,0,top", "restart"):
            assert requests.get(f"{address}/{path}", timeout=30).status_code == 403
    finally:
        runner.send_signal(signal.SIGINT)
        while is_pending(runner.pid, signal.SIGINT):
            time.sleep(0.01)
        runner.send_signal(signal.SIGINT)
        assert runner.wait(300) == 1
    assert lines_of(out) == []
