"""The files that students run, as real processes against a real server."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
import requests
from click.testing import CliRunner

from cw.cli import main
from cw.interruption import INTERRUPTED
from cw.server.session import ABSENCE
from cw.web import create_app
from cw.web.settings import SiteSettings
from tests.arena.zoo import wait_until
from tests.fixtures import FakeClock, Serve
from tests.games.circuit_wars.examples import SEED_MOVES, SEED_STATUS
from tests.processes import NEEDS_PROC, descendants

ROOT = Path(__file__).resolve().parents[1]

NEEDS_SIGINT = pytest.mark.skipif(
    os.name != "posix", reason="Windows has no SIGINT for one process"
)


def start(server: str, *command: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *command],
        cwd=ROOT,
        env=os.environ | {"CW_SERVER": server, "CW_PAUSE": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # As in a terminal, where Ctrl-C reaches the programs that a client has started, too.
        start_new_session=True,
    )


def run(server: str, *command: str) -> tuple[int, str, str]:
    """Run a client to its end; give exit code, output and errors."""
    process = start(server, *command)
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def test_two_clients_play_a_whole_game(serve: Serve) -> None:
    server = serve(create_app(SiteSettings(timeout=60)))
    players = [start(server, "game_ai.py", team) for team in ("a", "b")]
    outputs = [player.communicate(timeout=300) for player in players]
    assert [player.returncode for player in players] == [0, 0], outputs
    status = requests.get(f"{server}/status", timeout=60).json()
    assert status["status_code"] in (301, 302)
    assert status["score_1"] + status["score_2"] == 49
    assert sorted(out.splitlines()[-1] for out, _ in outputs) == ["You lost.", "You won."]
    assert f"Watch the game at {server}/" in outputs[0][0]


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
    ],
)
def test_a_refused_registration_is_explained(
    serve: Serve, registered: tuple[str, ...], team: str, error: str
) -> None:
    server = serve(create_app(SiteSettings(timeout=60)))
    for other in registered:
        requests.get(f"{server}/reg/{other}", timeout=60)
    code, _, err = run(server, "game_ai.py", team)
    assert code == 1
    assert re.search(error, err), err


def test_a_client_waits_for_the_end_of_a_game_and_begins_a_new_one(
    serve: Serve, clock: FakeClock
) -> None:
    server = serve(create_app(SiteSettings(timeout=3), clock))
    for other in ("a", "b"):
        requests.get(f"{server}/reg/{other}", timeout=60)
    client = start(server, "game_ai.py", "c")
    try:
        assert client.stdout is not None
        assert client.stdout.readline().startswith("Waiting for the end of the match")
        clock.advance(3.1)
        assert client.stdout.readline().startswith("c is player 1.")
        assert client.stdout.readline().startswith("Waiting for an opponent: cw bots join")
    finally:
        client.terminate()
        client.communicate()


def test_where_nobody_can_restart_a_client_says_so_after_the_end(
    serve: Serve, clock: FakeClock
) -> None:
    server = serve(create_app(SiteSettings(timeout=3, restart=False), clock))
    for other in ("a", "b"):
        requests.get(f"{server}/reg/{other}", timeout=60)
    clock.advance(3.1)
    code, out, err = run(server, "game_ai.py", "c")
    assert (code, out) == (1, "")
    assert "is over, and no new one can start: restarting is turned off on this server" in err


RESTARTED = [
    pytest.param(("game_ai.py", "alice"), id="game_ai.py"),
    pytest.param(
        ("-m", "cw", "bots", "join", "URL", "greedy", "--team", "alice"), id="cw bots join"
    ),
]


@pytest.mark.parametrize("command", RESTARTED)
def test_a_client_whose_seat_somebody_else_has_taken_registers_again(
    serve: Serve, command: tuple[str, ...]
) -> None:
    server = serve(create_app(SiteSettings(timeout=60, size=1)))
    client = start(server, *(server if part == "URL" else part for part in command))
    try:
        assert client.stdout is not None
        assert client.stdout.readline().startswith("alice is player 1.")
        # Somebody restarts and registers between two looks of the client.
        requests.get(f"{server}/restart", timeout=60)
        requests.get(f"{server}/reg/bob", timeout=60)
        lines = iter(client.stdout.readline, "")
        assert any(line.startswith("alice is player ") for line in lines)
        teams = requests.get(f"{server}/history", timeout=60).json()["teams"]
        assert sorted(teams) == ["alice", "bob"]
        requests.get(f"{server}/move/bob/9,9,top", timeout=60)
        assert client.wait(300) == 0
    finally:
        client.kill()
        client.communicate()


@pytest.mark.thorough
def test_a_client_brings_its_opponent(serve: Serve) -> None:
    server = serve(create_app(SiteSettings(timeout=60)))
    for _ in range(2):
        code, out, err = run(server, "game_ai.py", "alice", "--against", "greedy")
        assert (code, err) == (0, "")
        assert out.splitlines()[-1] in ("You won.", "You lost.")


@pytest.mark.parametrize(
    ("team", "against", "says"),
    [
        pytest.param(
            "alice", "gredy", "there is no 'gredy'; choose one of:", marks=pytest.mark.thorough
        ),
        ("greedy", "greedy", "cannot both be greedy"),
    ],
)
def test_an_opponent_that_cannot_be_is_refused(team: str, against: str, says: str) -> None:
    code, _, err = run("http://127.0.0.1:9", "game_ai.py", team, "--against", against)
    assert (code, says in err) == (2, True)


@NEEDS_SIGINT
@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("game_ai.py", "alice"), 1),
        pytest.param(
            ("-m", "cw", "bots", "join", "URL", "greedy"), INTERRUPTED, marks=pytest.mark.thorough
        ),
    ],
)
def test_who_leaves_while_waiting_gives_the_seat_back(
    serve: Serve, command: tuple[str, ...], code: int
) -> None:
    server = serve(create_app(SiteSettings(timeout=60)))
    client = start(server, *(server if part == "URL" else part for part in command))
    try:
        assert client.stdout is not None
        assert "is player 1." in client.stdout.readline()
        client.send_signal(signal.SIGINT)
        assert client.wait(300) == code
    finally:
        client.kill()
        client.communicate()
    assert requests.get(f"{server}/status", timeout=60).json()["status_code"] == 100


@NEEDS_SIGINT
@pytest.mark.parametrize("ends", [False, True])
def test_who_leaves_while_others_play_does_so_without_a_word_of_python(
    serve: Serve, clock: FakeClock, ends: bool
) -> None:
    server = serve(create_app(SiteSettings(timeout=3), clock))
    for other in ("a", "b"):
        requests.get(f"{server}/reg/{other}", timeout=60)
    client = start(server, "game_ai.py", "alice")
    assert client.stdout is not None
    assert client.stdout.readline().startswith("Waiting for the end of the match")
    if ends:
        clock.advance(3.1)
    assert stopped(client) == (1, "alice has left.\n")
    assert requests.get(f"{server}/history", timeout=60).json()["teams"] == ["a", "b"]


@NEEDS_SIGINT
def test_who_leaves_while_registering_does_so_too() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        client = start(f"http://127.0.0.1:{silent.getsockname()[1]}", "game_ai.py", "alice")
        connection, _ = silent.accept()
        with connection:
            assert stopped(client) == (1, "alice has left.\n")


@NEEDS_SIGINT
@NEEDS_PROC
def test_who_leaves_while_the_opponent_starts_does_so_too(serve: Serve) -> None:
    server = serve(create_app(SiteSettings(timeout=60)))
    client = start(server, "game_ai.py", "alice", "--against", "greedy")
    assert client.stdout is not None
    assert client.stdout.readline().startswith("alice is player 1.")
    wait_until(lambda: bool(descendants(client.pid)))
    assert stopped(client) == (1, "alice has left.\n")
    assert requests.get(f"{server}/status", timeout=60).json()["status_code"] != 101


def stopped(client: subprocess.Popen[str]) -> tuple[int, str]:
    """Press Ctrl-C, once more if Python has lost it; give exit code and errors."""
    err = ""
    try:
        for _ in range(3):
            os.killpg(client.pid, signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                _, err = client.communicate(timeout=60)
                break
    finally:
        with suppress(ProcessLookupError):
            os.killpg(client.pid, signal.SIGKILL)
        client.communicate()
    return client.returncode, err


@pytest.mark.skipif(os.name != "posix", reason="Windows has no SIGKILL")
def test_a_client_that_is_killed_while_it_waits_gives_the_seat_back(
    serve: Serve, clock: FakeClock
) -> None:
    server = serve(create_app(SiteSettings(timeout=3), clock))
    client = start(server, "game_ai.py", "alice")
    try:
        assert client.stdout is not None
        assert "is player 1." in client.stdout.readline()
        client.send_signal(signal.SIGKILL)
        client.wait(300)
    finally:
        client.kill()
        client.communicate()
    clock.advance(ABSENCE + 1)
    again = requests.get(f"{server}/reg/alice", timeout=60).json()
    assert again == {"response": "OK", "player": 1}


@pytest.mark.thorough
def test_a_built_in_strategy_joins_as_often_as_asked(serve: Serve) -> None:
    server = serve(create_app(SiteSettings(timeout=60)))
    room = f"{server}/rooms/table-4"
    joins = ("-m", "cw", "bots", "join", room, "greedy", "--games", "2", "--pause", "0")
    guest = start(server, *joins)
    ending = re.compile(r"greedy (?:won|lost) by score: \d+ to \d+ squares\.\n")
    try:
        assert guest.stdout is not None
        for team in ("a", "b"):
            code, _, err = run(room, "game_ai.py", team)
            assert (code, err) == (0, "")
            # Who begins the next match clears this one away, a second after it has seen its end.
            assert any(ending.fullmatch(line) for line in iter(guest.stdout.readline, ""))
        assert guest.wait(300) == 0
    finally:
        guest.kill()
        guest.communicate()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("http://127.0.0.1:9", "greedy"), "there is no server at http://127.0.0.1:9"),
        (("http://127.0.0.1:9", "gredy"), "no strategy 'gredy'"),
        (("ftp://127.0.0.1", "greedy"), "did not answer /reg/greedy with JSON"),
        (("URL", "greedy", "--team", "not-valid"), "1 to 10 letters or digits"),
    ],
)
def test_why_a_strategy_cannot_join_is_said(
    serve: Serve, arguments: tuple[str, ...], says: str
) -> None:
    server = serve(create_app(SiteSettings(timeout=60)))
    words = [server if part == "URL" else part for part in arguments]
    result = CliRunner().invoke(main, ["bots", "join", *words])
    assert result.exit_code != 0
    assert says in result.stderr
    assert isinstance(result.exception, SystemExit)


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
    assert requests.get(f"{server}/status", timeout=60).json() == SEED_STATUS
    clock.advance(3.1)
    assert requests.get(f"{server}/status", timeout=60).json()["status_code"] == 501


def test_the_fixed_moves_need_a_new_game(serve: Serve) -> None:
    server = serve(create_app(SiteSettings(timeout=60)))
    requests.get(f"{server}/reg/other", timeout=60)
    code, _, err = run(server, "test.py")
    assert code == 1
    assert "/restart" in err
