"""A page of a stranger wants to read matches, or to play, on a server of this machine."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from cw.games.paint.boards import MOST_TURNS
from hub.tests.attacks.raw import Answer, ask
from hub.tests.campaign import ROOT, wait_until
from tests.matches.bots_of_games import PAINT
from tests.server.strangers import FOREIGN, OWN

pytestmark = pytest.mark.thorough

SERVERS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "serve --no-replays --port 0": ("/games/", ("/", "/history", "/rooms/", "/rooms/x/history")),
    "demo --port 0": ("/games/", ("/", "/history", "/replays/")),
    "league bots --game paint --include builtin --matches 100000 --port 0": (
        "/league/",
        ("/", "/league/stand", "/replays/"),
    ),
    f"championship run teams --game paint --option turns={MOST_TURNS} --no-validate --port 0": (
        "/championship/",
        ("/", "/championship/report.json", "/replays/"),
    ),
    "replay open match.json.gz --no-browser": ("/replays/", ("/", "/games/")),
    "play paint builtin:random builtin:random --browser": ("/games/", ("/", "/replays/")),
    "workshop paint mine --no-browser": ("", ("/", "/workshop/paint/", "/workshop/paint/files")),
}
"""By the arguments of `cw`: a page that is for everybody here, and others that are there.

None of these commands ends before the test does; the demo is the shortest, with half a minute.
"""

EVERYWHERE: Final = (
    "/static/base.css",
    "/nowhere",
    "/reg/alice",
    "/move/alice/1,2,top",
    "/restart",
)


@contextmanager
def running(folder: Path, *arguments: str) -> Iterator[str]:
    """Run a command of `cw` while the block runs; gives the address that it prints."""
    log = folder / "output.log"
    environment = {**os.environ, "BROWSER": "true", "PYTHONPATH": str(ROOT)}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "cw", *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )

    def address() -> re.Match[str] | None:
        assert process.poll() is None, log.read_text()
        return re.search(r"http://127\.0\.0\.1:\d+(?=/)", log.read_text())

    try:
        wait_until(lambda: address() is not None, "the address")
        found = address()
        assert found is not None
        yield found[0]
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with bots, teams and a replay."""
    for place in ("bots/down", "teams/a", "teams/b"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "bot.py").write_text(PAINT, encoding="utf-8")
    play = "play paint builtin:random builtin:random --out match.json.gz"
    command = [sys.executable, "-m", "cw", *play.split()]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    return tmp_path


def assert_refused(answer: Answer) -> None:
    assert answer.status in (400, 403), answer.text
    assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize("command", SERVERS)
def test_nothing_is_served_under_another_name(folder: Path, command: str) -> None:
    open_to_all, others = SERVERS[command]
    with running(folder, *command.split()) as address:
        for lines in FOREIGN:
            assert_refused(ask(address, open_to_all or "/", *lines))
        for path in (open_to_all or "/", *others, *EVERYWHERE):
            assert_refused(ask(address, path, "Host: evil.example"))
            assert_refused(ask(address, f"http://evil.example{path}", "Host: 127.0.0.1"))
        for lines in OWN if open_to_all else ():
            assert ask(address, open_to_all, *lines).status == 200, lines


def test_the_status_of_the_game_is_for_every_page(folder: Path) -> None:
    with running(folder, "serve", "--no-replays", "--port", "0") as address:
        for path in ("/status", "/rooms/x/status"):
            for host in ("evil.example", "EVIL.example.:80", "192.0.2.1:8000", "[::2]"):
                answer = ask(address, path, f"Host: {host}", "Origin: http://evil.example")
                assert (answer.status, answer.json()["status_code"]) == (200, 100)
                assert answer.headers["Access-Control-Allow-Origin"] == "http://evil.example"


def test_a_class_reaches_a_server_by_address_and_by_the_name_of_the_machine(folder: Path) -> None:
    options = ("--host", "0.0.0.0", "--port", "0", "--no-replays", "--name", "arena.example")
    machine = socket.gethostname().partition(".")[0]
    with running(folder, "serve", *options) as address:
        for host in (
            "192.168.1.7:5000",
            "[fe80::1]:5000",
            "0.0.0.0:5000",
            f"{machine}:5000",
            f"{machine.upper()}.local",
            "Arena.example",
            "localhost",
        ):
            assert ask(address, "/games/", f"Host: {host}").status == 200, host
        for host in ("evil.example", f"{machine}.evil.example", "1.2.3.4.evil.example"):
            refused = ask(address, "/games/", f"Host: {host}")
            assert_refused(refused)
            assert "--name" in refused.text
