"""A program that names the file of the master key as its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from hub.tests.attacks.hubs import Hub
from hub.tests.attacks.spellings import COLON, UP
from tests.tools import NEEDS_BUBBLEWRAP

pytestmark = [pytest.mark.thorough, NEEDS_BUBBLEWRAP]

KEY = "master.key"
CANARY = "k9:a-key-that-nobody-may-read"


def key_of(hub: Hub) -> Path:
    """Return the file of a key in the folder of a hub; roles are given theirs in another way."""
    file = hub.data / KEY
    if not file.exists():
        file.write_text(CANARY)
    return file


@pytest.mark.parametrize(
    ("name", "bot"),
    [
        ("colon", "python:{colon}{key}:Bot"),
        ("up", "python:/{up}{key}:Bot"),
        ("command", "exec:python3 {colon}{key}"),
        ("path", "{colon}{key}"),
    ],
)
def test_no_upload_reads_it(hub: Hub, name: str, bot: str) -> None:
    key = key_of(hub)
    secret = key.read_text().strip().partition(":")[2]
    thief = hub.player(f"key_thief_{name}")
    spec = bot.format(colon=COLON, up=UP, key=str(key).lstrip("/"))
    about = f"bot = {json.dumps(spec)}\n".encode()
    answer = thief.send_program(f"Key-{name}", {"bot.py": b"", "team.toml": about})
    seen = thief.checked(f"Key-{name}") if answer.status_code == 303 else answer.text
    assert secret not in seen + hub.logs()
    assert answer.status_code == 422
    assert "outside the folder" in answer.text


def test_no_team_reads_it(tmp_path: Path) -> None:
    key = tmp_path / "data" / KEY
    key.parent.mkdir()
    key.write_text(CANARY)
    for team in ("ann", "bob", "thief"):
        (tmp_path / "teams" / team).mkdir(parents=True)
        (tmp_path / "teams" / team / "bot.py").write_text("raise SystemExit(3)\n")
    spec = f"python:{COLON}{str(key).lstrip('/')}:Bot"
    (tmp_path / "teams" / "thief" / "team.toml").write_text(f"bot = {json.dumps(spec)}\n")
    command = [sys.executable, "-m", "cw", "championship", "run", "teams", "--game", "paint"]
    for more in ([], ["--no-validate"], ["--skip-broken"]):
        done = subprocess.run(
            [*command, "--option", "turns=1", "--out", f"results{len(more)}", *more],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        written = [
            file.read_text(errors="replace") for file in tmp_path.glob("results*/**/*.json*")
        ]
        assert CANARY not in done.stdout + done.stderr + "".join(written)
        assert "outside the folder" in done.stdout + done.stderr
