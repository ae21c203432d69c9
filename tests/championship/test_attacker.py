"""An honest client in a championship against a team that tries everything at once."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from pathlib import Path
from secrets import token_hex

import pytest

from cw.assets import asset
from cw.games.registry import load_game
from cw.replays import document as replays_document
from cw.replays.verify import verify
from tests import patience
from tests.arena.test_attacks import FAIR, FILLS, HOARDS, KNOCKS, NESTS, SPINS
from tests.arena.zoo import commands_with, wait_until
from tests.championship.contests import FIRST_FREE, lines_of, make_teams, report_of
from tests.tools import NEEDS_BUBBLEWRAP

ROOT = Path(__file__).resolve().parents[2]
MOVES = 5
"""Moves that the attacker makes before it starts its last attacks."""

THINKS = """
def choose(board, player):
    began = time.process_time()
    while time.process_time() - began < 0.3:
        pass
    return board.free_borders()[0]

"""
"""An honest client that needs 0.3 s of a core for each move."""

LIMIT = 10
"""Seconds for a turn: beside 150 sessions that spin, 0.3 s of one of 2 cores would take 22."""

STEALS = """
import socket
for target in TARGETS:
    for method in ("GET", "POST"):
        head = f"{method} {target} HTTP/1.1\\r\\nHost: 127.0.0.1:5000\\r\\n\\r\\n"
        try:
            with socket.create_connection(("127.0.0.1", 5000), 5) as one:
                one.sendall(head.encode())
                one.recv(1000)
        except OSError:
            pass
"""

NAMES = ["/reg/", "/reg/no-id!"]
"""What it asks before it registers: under no name that could be its own."""

MOVES_OF_OTHERS = [
    "reg/honest",
    "http:reg/honest",
    "/reg/honest",
    "//reg/honest",
    "/reg/second",
    "/move/honest/9,9,top",
    "move/honest/9,9,top",
    "http:move/honest/9,9,top",
    "//move/honest/9,9,top",
    "http://127.0.0.1:5000/move/honest/9,9,top",
    "/restart",
    "restart",
    *["/" + 16_000 * "x"] * 20,
]
"""What it asks in its turn: each move would be illegal, and lose the match of its opponent."""

HOLDS = """
import socket, time
kept = []
for _ in range(1000):
    try:
        kept.append(socket.create_connection(("127.0.0.1", 5000), 5))
    except OSError:
        break
time.sleep(600)
"""

SHOUTS = r"""
import sys
while True:
    sys.stderr.write("\x1b[2J\x1b]0;won\x07" * 1000)
"""

WAITS = """
import os, time
while os.path.exists("/tmp/its-own-turn"):
    time.sleep(0.01)
"""
"""Waits for the turn of its opponent."""

STARTS = """
def steal(targets):
    exec(STEALS, {"TARGETS": targets})

def start(attacks):
    for attack in attacks:
        if os.fork() == 0:
            os.setsid()
            os.execv(sys.executable, [sys.executable, "-c", attack, SIGN])

calls = 0

def choose(board, player):
    global calls
    calls += 1
    if calls == 1:
        for place in PLACES:
            if os.access(place, os.R_OK) and os.listdir(place):
                steal([f"found/{place}"])
        steal(MOVES_OF_OTHERS)
        start(FIRST)
    elif calls == MOVES:
        start(LAST)
    elif calls > MOVES:
        sys.exit("it has done what it could")
    return board.free_borders()[0]

polite = request

def request(path, **query):
    answer = polite(path, **query)
    if path.startswith("move/") and calls == MOVES:
        os.remove("/tmp/its-own-turn")
    return answer

open("/tmp/its-own-turn", "w").close()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
steal(NAMES)

"""
"""Attacks from its start on; its last attacks begin when it has moved, in its opponent's turn."""


def attacker(port: int, sign: str, *places: Path) -> str:
    """Return a client that tries to reach a port and to read places, beside all else.

    Its processes bear a sign.
    """
    knocks = KNOCKS.replace("sys.argv[1:]", f"[{port}]")
    few = SPINS.replace("range(150)", "range(20)")
    first = [knocks, HOLDS, FILLS, NESTS, few]
    last = [WAITS + attack for attack in (SPINS, HOARDS, SHOUTS)]
    prelude = f"import signal\nFIRST, LAST, MOVES = {first!r}, {last!r}, {MOVES}\n"
    prelude += f"STEALS, NAMES, MOVES_OF_OTHERS = {STEALS!r}, {NAMES!r}, {MOVES_OF_OTHERS!r}\n"
    prelude += f"SIGN, PLACES = {sign!r}, {list(map(str, places))!r}\n"
    return client(prelude + STARTS)


def client(source: str) -> str:
    """Return the client of the course with a source before it begins."""
    head, main = asset("game_ai.py").read_text(encoding="utf-8").split("if __name__", 1)
    return f"{head}{source}if __name__{main}"


FULL = """
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

def choose(board, player):
    exec(FILLS)
    with open("notes", "w") as notes:
        notes.write("where I wanted to think")
    return board.free_borders()[0]

"""
"""Fills all that it may write to in its first turn, and then needs a file."""


@pytest.mark.thorough
@NEEDS_BUBBLEWRAP
def test_a_client_that_fills_its_disk_loses_its_own_matches_only(tmp_path: Path) -> None:
    sources = {"ann": FIRST_FREE, "bob": FIRST_FREE, "eve": client(f"FILLS = {FILLS!r}\n{FULL}")}
    make_teams(tmp_path / "teams", sources)
    command = [*patience.PROGRAM, *"championship run teams --no-validate --out results".split()]
    command += ["--format", "round-robin", "--jobs", "2", "--timeout", "60", "--size", "3"]
    command += ["--sandbox", "require"]
    env = {**os.environ, "CW_PAUSE": "0"}
    played = subprocess.run(command, check=False, cwd=tmp_path, env=env, capture_output=True)
    assert played.returncode == 0, played.stderr[-2000:]
    lines = lines_of(tmp_path / "results")
    assert len(lines) == 3
    for line in lines:
        teams = [line["player_1"], line["player_2"]]
        if "eve" not in teams:
            assert (line["reasons"], line["status_code"] // 100) == ([], 3), line
            continue
        seat = teams.index("eve")
        assert line["status_code"] in (401 + seat, 501 + seat), line
        assert {noted["player"] for noted in line["reasons"]} == {seat + 1}, line
        assert line["stderr"][seat].count("No space left on device") >= 4, line


@pytest.mark.thorough
@NEEDS_BUBBLEWRAP
@FAIR
def test_an_honest_client_wins_against_a_team_that_tries_everything(tmp_path: Path) -> None:
    teams, sign = tmp_path / "teams", token_hex()
    for team in ("honest", "attacker"):
        (teams / team).mkdir(parents=True)
    (teams / "honest" / "game_ai.py").write_text(client(THINKS), encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as server:
        source = attacker(server.getsockname()[1], sign, teams, ROOT / "cw" / "cli", tmp_path)
        (teams / "attacker" / "game_ai.py").write_text(source, encoding="utf-8")
        command = [*patience.PROGRAM, *"championship run teams --no-validate --out results".split()]
        command += ["--format", "double-round-robin", "--openings", "0", "--timeout", str(LIMIT)]
        played = subprocess.run(
            command,
            check=False,
            cwd=tmp_path,
            env={**os.environ, "CW_PAUSE": "0"},
            capture_output=True,
        )
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert played.returncode == 0, played.stderr[-2000:]
    out = tmp_path / "results"
    lines = lines_of(out)
    assert len(lines) == 2
    for line in lines:
        lost = 1 if line["player_1"] == "attacker" else 2
        assert line["status_code"] in (400 + lost, 500 + lost), line
        assert {noted["player"] for noted in line["reasons"]} == {lost}, line
        assert line["turns"] > MOVES, line
        text = json.dumps(line)
        assert "move/honest/9,9,top" in text
        assert "more of its requests were refused" in text
        assert line["longest_ms"][2 - lost] < 1000 * LIMIT
        assert "found" not in text
    assert report_of(out)["order"][0] == ["honest"]
    assert b"\x1b" not in played.stdout + played.stderr
    game = load_game("circuit-wars")
    replays = [
        replays_document.decode(file.read_bytes()) for file in out.glob("games/**/*.json.gz")
    ]
    assert [verify(game, document) for document in replays] == [None, None]
    wait_until(lambda: not commands_with(sign))
