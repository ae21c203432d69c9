"""A team of a championship that names a file of another team as its own program."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cw.championship.teams import read_folder
from hub.tests.attacks.spellings import COLON
from tests.arena.attacking import RANDOM, match
from tests.tools import NEEDS_BUBBLEWRAP

pytestmark = NEEDS_BUBBLEWRAP

PLAN = "bob begins in the corner"
"""The first line of a file of bob's, which Python quotes where it cannot run it."""


@pytest.fixture
def teams(tmp_path: Path) -> Path:
    teams = tmp_path / "teams"
    for team in ("ann", "bob", "thief"):
        (teams / team).mkdir(parents=True)
        (teams / team / "bot.py").write_text("raise SystemExit(3)\n")
    (teams / "bob" / "plan.txt").write_text(f"{PLAN}\n")
    return teams


@pytest.mark.thorough
@pytest.mark.parametrize("way", ["{colon}{plan}", "{colon}proc/self/cwd/teams/bob/plan.txt"])
def test_it_does_not_run_them(teams: Path, way: str) -> None:
    plan = str(teams / "bob" / "plan.txt").lstrip("/")
    spec = f"python:{way.format(colon=COLON, plan=plan)}:Bot"
    (teams / "thief" / "team.toml").write_text(f"bot = {json.dumps(spec)}\n")
    command = [sys.executable, "-m", "cw", "championship", "run", "teams", "--game", "paint"]
    for more in ("--no-validate", "--skip-broken"):
        done = subprocess.run(
            [*command, "--option", "turns=1", "--out", f"results{more}", more],
            cwd=teams.parent,
            capture_output=True,
            text=True,
            check=False,
        )
        results = [file for file in teams.parent.glob("results*/**/*") if file.is_file()]
        written = "".join(file.read_text(errors="replace") for file in results)
        assert PLAN not in done.stdout + done.stderr + written
        assert "outside the folder" in done.stdout + done.stderr


@pytest.mark.parametrize("way", ["file", "folder"])
def test_a_link_that_is_made_after_it_was_read_is_not_followed(teams: Path, way: str) -> None:
    thief = teams / "thief"
    (thief / "src").mkdir()
    (thief / "src" / "plan.txt").write_text("nothing\n")
    (thief / "team.toml").write_text('bot = "python:src/plan.txt:Bot"\n')
    bot = read_folder(thief, "paint").bot
    if way == "file":
        (thief / "src" / "plan.txt").unlink()
        (thief / "src" / "plan.txt").symlink_to(teams / "bob" / "plan.txt")
    else:
        shutil.rmtree(thief / "src")
        (thief / "src").symlink_to(teams / "bob")
    played = match("paint", bot, RANDOM, width=5, height=5, turns=1)
    details = [fault.fault.sentence for fault in played.faults if fault.fault.kind != "illegal"]
    assert details
    assert PLAN not in "".join([*details, *played.stderr.values()])
