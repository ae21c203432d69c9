"""Programs that close, stop, end or are ended while others wait for them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cw.arena.sandbox import Policy
from tests.arena.attacking import (
    BOTH,
    POSIX,
    RANDOM,
    ROOT,
    faults,
    match,
    stderr,
    written,
)
from tests.arena.zoo import PATIENCE, commands_with, wait_until
from tests.tools import NEEDS_BUBBLEWRAP

pytestmark = pytest.mark.usefixtures("patient_painters")


CLOSES = """
import os, time
input()
print('{"ready":true}', flush=True)
os.close(0)
os.close(1)
time.sleep(600)
"""


@BOTH
def test_a_bot_that_closes_its_pipes_is_disconnected_and_not_late(
    policy: Policy, tmp_path: Path
) -> None:
    played = match("paint", written(tmp_path, "mute", CLOSES), RANDOM, policy=policy, turns=5)
    assert set(faults(played, "mute")) == {"disconnected"}


STOPS = """
import os, signal, sys, time
for process in filter(str.isdigit, os.listdir("/proc")):
    with open(f"/proc/{process}/cmdline") as file:
        words = file.read().split("\\0")
    if any(word.endswith("/forwarder.py") for word in words[:4]):
        os.kill(int(process), signal.SIGSTOP)
        print("stopped", file=sys.stderr, flush=True)
time.sleep(600)
"""


@NEEDS_BUBBLEWRAP
def test_a_service_that_stops_its_forwarder_holds_nobody_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Enough for the bot to do so, and all of it is waited for.
    monkeypatch.setattr("cw.arena.seats.http.SERVICE_READY", 20.0)
    played = match("hexagon", written(tmp_path, "stopper", STOPS), RANDOM)
    assert stderr(played)["stopper"] == "stopped\n"
    assert set(faults(played, "stopper")) == {"startup"}


MUTE = "import os; os.close(1); os.close(0)\n"


@pytest.mark.thorough
@BOTH
def test_a_client_and_a_service_need_no_pipes(policy: Policy, tmp_path: Path) -> None:
    client = (ROOT / "game_ai.py").read_text().replace("import os\n", MUTE, 1)
    client = client.replace("print(", "str(").replace(", flush=True", "")
    service = LEAVES.replace("import os\n", MUTE, 1)
    for game, source, kinds in (("circuit-wars", client, []), ("hexagon", service, ["crashed"])):
        played = match(game, written(tmp_path / game, "mute", source), RANDOM, policy=policy)
        assert faults(played, "mute")[:1] == kinds


LEAVES = """
import os
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        os._exit(3)
    do_POST = do_PUT = do_DELETE = do_GET

HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""


@BOTH
def test_a_service_that_ends_has_crashed(policy: Policy, tmp_path: Path) -> None:
    played = match("hexagon", written(tmp_path, "leaver", LEAVES), RANDOM, policy=policy)
    assert faults(played, "leaver")[0] == "crashed"
    assert "exit code 3" in played.faults[0].fault.detail


SLEEPS = "import time\nprint('asleep', flush=True)\ntime.sleep(600)\n"


@POSIX
@BOTH
@pytest.mark.parametrize(
    ("number", "before"),
    [
        (signal.SIGTERM, []),
        pytest.param(
            signal.SIGTERM,
            ["sh", "-c", "trap '' INT; exec \"$@\"", "in the background"],
            marks=pytest.mark.thorough,
        ),
        pytest.param(signal.SIGHUP, [], marks=pytest.mark.thorough),
        pytest.param(signal.SIGINT, [], marks=pytest.mark.thorough),
    ],
)
def test_a_command_that_is_ended_leaves_nothing_running(
    policy: Policy, number: int, before: list[str], tmp_path: Path
) -> None:
    bot = written(tmp_path / "bot", "sleeper", f"{SLEEPS}# {tmp_path}", "sleeper.py")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    sign = f"sign-of-{tmp_path.name}-{os.getpid()}"
    command = [*before, sys.executable, "-m", "cw", "play", "paint"]
    command += [f"exec:{bot.target} {sign}"]
    command += ["builtin:random", "--no-replay", "--sandbox", policy]
    env = {**os.environ, "TMPDIR": str(scratch)}
    playing = subprocess.Popen(
        command, cwd=tmp_path, env=env | {"PYTHONPATH": str(ROOT)}, stderr=subprocess.DEVNULL
    )
    try:
        wait_until(lambda: any("sleeper.py" in line for line in commands_with(sign)[1:]))
        playing.send_signal(number)
        assert playing.wait(PATIENCE) != 0
        # The system takes a moment to bury what was killed with its namespace.
        wait_until(lambda: commands_with(sign) == [])
        assert list(scratch.iterdir()) == []
    finally:
        playing.kill()
        playing.wait()
