"""An honest client in a championship against a team that tries everything at once."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from secrets import token_hex
from shutil import copy

import pytest

from cw.assets import asset
from cw.games.registry import load_game
from cw.replays import document as replay
from cw.replays.verify import verify
from tests.arena.attacking import BWRAP
from tests.arena.test_attacks import FAIR, FILLS, HOARDS, KNOCKS, NESTS, SPINS
from tests.arena.zoo import commands_with, wait_until
from tests.championship.contests import lines_of, report_of

ROOT = Path(__file__).resolve().parents[2]
MOVES = 5
"""Moves that the attacker makes as the rules want them, with all attacks under way."""

ASKS = """
import socket
for target in [
    "/move/honest/0,0,top", "move/honest/0,0,top", "http:move/honest/0,0,top",
    "//move/honest/0,0,top", "http://127.0.0.1:5000/move/honest/0,0,top", "/move/honest/9,9,top",
    "/reg/honest", "/reg/second", "/restart", "restart", "/" + 16_000 * "x",
]:
    for method in ("GET", "POST"):
        try:
            with socket.create_connection(("127.0.0.1", 5000), 5) as one:
                one.sendall(f"{method} {target} HTTP/1.1\\r\\nHost: cw\\r\\n\\r\\n".encode())
                one.recv(1000)
        except OSError:
            pass
"""

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

STARTS = """
def start(attacks):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for attack in attacks:
        if os.fork() == 0:
            os.setsid()
            os.chdir("/tmp")
            os.execv(sys.executable, [sys.executable, "-c", attack, SIGN])

calls = 0

def choose(board, player):
    global calls
    calls += 1
    if calls == 1:
        for place in PLACES:
            if os.access(place, os.R_OK) and os.listdir(place):
                ask(f"found/{place}")
        exec(ASKS)
        start(FIRST)
    elif calls > MOVES:
        start(LAST)
        time.sleep(600)
    return board.free_borders()[0]

"""
"""Attacks before its first move and plays on; after some moves attacks harder, and never moves."""


def attacker(port: int, sign: str, *places: Path) -> str:
    """Return a client that tries to reach a port and to read places, beside all else.

    Its processes bear a sign.
    """
    knocks = KNOCKS.replace("sys.argv[1:]", f"[{port}]")
    few = SPINS.replace("range(150)", "range(20)")
    first, last = [knocks, HOLDS, FILLS, NESTS, few], [SPINS, HOARDS, SHOUTS]
    given = f"import signal\nFIRST, LAST, ASKS, MOVES = {first!r}, {last!r}, {ASKS!r}, {MOVES}\n"
    given += f"SIGN, PLACES = {sign!r}, {list(map(str, places))!r}\n"
    client = asset("game_ai.py").read_text(encoding="utf-8")
    head, main = client.split("if __name__", 1)
    return f"{head}{given}{STARTS}if __name__{main}"


@BWRAP
@FAIR
def test_an_honest_client_wins_against_a_team_that_tries_everything(tmp_path: Path) -> None:
    teams, sign = tmp_path / "teams", token_hex()
    for team in ("honest", "attacker"):
        (teams / team).mkdir(parents=True)
    copy(asset("game_ai.py"), teams / "honest" / "game_ai.py")
    with socket.create_server(("127.0.0.1", 0)) as server:
        source = attacker(server.getsockname()[1], sign, teams, ROOT / "cw" / "cli", tmp_path)
        (teams / "attacker" / "game_ai.py").write_text(source, encoding="utf-8")
        command = [sys.executable, "-m", "cw", "championship", "run", "teams", "--out", "results"]
        command += ["--format", "double-round-robin", "--openings", "0", "--timeout", "5"]
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
        assert line["status_code"] == 500 + lost, line
        assert {noted["player"] for noted in line["reasons"]} == {lost}, line
        assert line["turns"] > MOVES, line
        said = json.dumps(line)
        assert "/move/honest/0,0,top" in said
        assert "more of its requests were refused" in said
        assert line["longest_ms"][2 - lost] < 5000
        assert "found" not in said
    assert report_of(out)["order"][0] == ["honest"]
    assert b"\x1b" not in played.stdout + played.stderr
    game = load_game("circuit-wars")
    replays = [replay.decode(file.read_bytes()) for file in out.glob("games/**/*.json.gz")]
    assert [verify(game, document) for document in replays] == [None, None]
    wait_until(lambda: not commands_with(sign))
