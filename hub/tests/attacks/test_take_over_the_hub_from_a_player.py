"""A program that has taken over its player wants the memory of the hub, and to break its pages.

The player is a process that listens on the socket of `CW_PLAYERS`, and writes what it likes.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from cw.arena.processes import PROC
from hub.tests.attacks.hubs import Hub, open_hub
from hub.tests.campaign import wait_until

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(not PROC.is_dir(), reason="this system has no /proc"),
]

HOSTILE: Final = r"""
import json, os, socket, sys, threading

folder = sys.argv[1]
listening = socket.socket(socket.AF_UNIX)
listening.bind(f"{folder}/players.sock")
listening.listen(16)
open(f"{folder}/listens", "w").close()

STEP = b'{"type":"Answers","steps":[{"step":"x","ok":true,"problem":"","fix":""'
SAID = {
    "wide": STEP + b',"seen":[' + b"[]," * 20_000_000 + b"[]]}]}",
    "deep": b'{"type":"Answers","steps":[{"step":' + b"[" * 200_000 + b"]" * 200_000 + b"}]}",
    "mistyped": b'{"type":"Answers","steps":[{"step":["x"],"ok":false,"problem":{}}]}',
    "honest": STEP + b"}]}",
}

def serve(connection):
    lines = connection.makefile("rb")
    for line in lines:
        task = json.loads(line)
        if task["type"] == "Measure":
            connection.sendall(b'{"type":"Measured","problem":"","limits":[]}\n')
        elif task["type"] == "Check":
            with open(f"{folder}/said") as file:
                said = SAID[file.read()]
            connection.sendall(said + b"\n")
        elif task["type"] != "Program":
            connection.sendall(b'{"type":"Failed","kind":"failure","message":"no"}\n')

while True:
    threading.Thread(target=serve, args=(listening.accept()[0],), daemon=True).start()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Run the player, once it listens; its folder says in a file what it is to say."""
    folder = tmp_path_factory.mktemp("hostile")
    player = subprocess.Popen([sys.executable, "-c", HOSTILE, str(folder)])
    try:
        wait_until((folder / "listens").exists, "the player")
        yield folder
    finally:
        player.kill()
        player.wait()


@pytest.fixture(scope="module")
def attacked(folder: Path) -> Iterator[Hub]:
    """Run a hub that plays with it."""
    place = f"unix:{folder / 'players.sock'}"
    with open_hub("one server", folder / "hub", CW_PLAYERS=place) as hub:
        yield hub


def most_memory(hub: Hub) -> int:
    """Return the most MiB that the hub has used."""
    status = (PROC / str(hub.processes[0].process.pid) / "status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024


def test_what_a_player_says_of_a_check_takes_no_memory_and_breaks_nothing(
    attacked: Hub, folder: Path
) -> None:
    (folder / "said").write_text("honest")
    owner = attacked.player("owner")
    files = {"bot.py": b"for _ in open(0): print('{}', flush=True)\n"}
    assert owner.send_program("honest", files).status_code == 303
    owner.checked("honest")
    before = most_memory(attacked)
    for said in ("wide", "deep", "mistyped"):
        (folder / "said").write_text(said)
        assert owner.send_program(said, {"bot.py": files["bot.py"] + said.encode()}).ok
        assert "could not be finished" in owner.checked(said)
        assert attacked.visitor().open(f"/bot/{said}?game=paint").status_code == 200
    assert most_memory(attacked) - before < 200
    assert "Traceback" not in attacked.logs()
    assert attacked.is_running()
