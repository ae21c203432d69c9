"""The files that students run, as real processes against a real server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import requests

from cw.web import create_app
from cw.web.settings import SiteSettings
from tests.conftest import FakeClock, Serve
from tests.games.circuit_wars.examples import SEED_MOVES, SEED_STATUS

ROOT = Path(__file__).resolve().parents[1]


def start(server: str, *command: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *command],
        cwd=ROOT,
        env=os.environ | {"CW_SERVER": server, "CW_PAUSE": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(server: str, *command: str) -> tuple[int, str, str]:
    """Run a client to its end; give exit code, output and errors."""
    process = start(server, *command)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def test_two_clients_play_a_whole_game(serve: Serve) -> None:
    server = serve(create_app(SiteSettings(timeout=60)))
    players = [start(server, "game_ai.py", team) for team in ("a", "b")]
    said = [player.communicate(timeout=120) for player in players]
    assert [player.returncode for player in players] == [0, 0], said
    status = requests.get(f"{server}/status", timeout=10).json()
    assert status["status_code"] in (301, 302)
    assert status["score_1"] + status["score_2"] == 49
    assert sorted(out.splitlines()[-1] for out, _ in said) == ["You lost.", "You won."]
    assert f"Watch the game at {server}/" in said[0][0]


def test_without_a_name_the_client_takes_its_team_id(serve: Serve) -> None:
    server = serve(create_app(SiteSettings(timeout=60)))
    client = start(server, "game_ai.py")
    try:
        assert client.stdout is not None
        assert client.stdout.readline().startswith("myTeam is player 1.")
    finally:
        client.terminate()
        client.communicate()


@pytest.mark.parametrize(
    ("registered", "team", "error"),
    [
        ((), "not-valid", r"error 1.*1 to 10 letters or digits"),
        (("a",), "a", r"error 2.*taken"),
        (("a", "b"), "c", r"error 3.*already started"),
    ],
)
def test_a_refused_registration_is_explained(
    serve: Serve, registered: tuple[str, ...], team: str, error: str
) -> None:
    server = serve(create_app(SiteSettings(timeout=60)))
    for other in registered:
        requests.get(f"{server}/reg/{other}", timeout=10)
    code, _, err = run(server, "game_ai.py", team)
    assert code == 1
    assert re.search(error, err), err


@pytest.mark.parametrize("client", ["game_ai.py", "test.py"])
def test_a_server_that_is_not_there_is_said(client: str) -> None:
    code, _, err = run("http://127.0.0.1:9", client)
    assert (code, "Start it with: python cw/game_server.py" in err) == (1, True)
    assert "Traceback" not in err


def test_the_fixed_moves_show_the_example_and_then_a_time_out(
    serve: Serve, clock: FakeClock
) -> None:
    server = serve(create_app(SiteSettings(timeout=3), clock))
    code, out, err = run(server, "test.py")
    assert code == 0, err
    assert [line.split()[1] for line in out.splitlines()[:-1]] == SEED_MOVES
    assert requests.get(f"{server}/status", timeout=10).json() == SEED_STATUS
    clock.advance(3.1)
    assert requests.get(f"{server}/status", timeout=10).json()["status_code"] == 501


def test_the_fixed_moves_need_a_new_game(serve: Serve) -> None:
    server = serve(create_app(SiteSettings(timeout=60)))
    requests.get(f"{server}/reg/other", timeout=10)
    code, _, err = run(server, "test.py")
    assert code == 1
    assert "/restart" in err
