"""Attacks a hub on a machine of its own: programs without a sandbox read what a player can read.

They stand for a program that has broken out of its sandbox.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import requests

from cw import kits
from cw.arena.bots import BotSpec
from cw.games.wire import Credit, Credits
from cw.matches.spec import Isolation, MatchSpec
from cw_hub.players import packages
from cw_hub.players.messages import Match, Played, Program, ReplayKeys
from cw_hub.players.players import Players
from hub.tests.attacks.hubs import RATED, Player

HUB: Final = "http://127.0.0.1:8000"
SOCKET: Final = "/run/circuit-wars/players.sock"
PLAYER: Final = "hub player"
DATA: Final = Path("/var/lib/circuit-wars")

SPY: Final = b"""
import glob, json, os, sys
def read(path):
    try:
        with open(path, "rb") as file:
            return len(file.read())
    except OSError as error:
        return type(error).__name__
hub = next(p for p in glob.glob("/proc/[0-9]*") if b"serve" in open(f"{p}/cmdline", "rb").read())
names = ["secret.key", "master.key", "hub.sqlite", "hub.sqlite-wal"]
paths = [f"/var/lib/circuit-wars/{name}" for name in names]
paths += ["/var/lib/circuit-wars", "/etc/circuit-wars.env", f"{hub}/environ", f"{hub}/mem"]
found = {path: read(path) for path in paths}
found["user"] = os.getuid()
found["variables"] = sorted(name for name in os.environ if name.startswith(("CW_", "AWS_")))
sys.stderr.write("FOUND" + json.dumps(found) + "DNUOF")
"""


def run(*command: str) -> str:
    """Run a command; return what it prints."""
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ended.returncode == 0, f"{command}: {ended.stdout}{ended.stderr}"
    return ended.stdout


def wait_for_pages() -> None:
    """Wait until the hub answers."""
    for _ in range(3000):
        try:
            requests.get(f"{HUB}/health", timeout=5)
        except requests.RequestException:
            time.sleep(0.1)
        else:
            return
    raise SystemExit(run("journalctl", "-u", "cw-hub", "--no-pager"))


def read_without_sandbox() -> dict[str, object]:
    """Return what a program finds that a player runs without a sandbox."""
    bots = (BotSpec("spy", "absent", ""), BotSpec("other", "builtin", "still"))
    spec = MatchSpec("m", RATED, bots, 1, {"turns": 2}, isolation=Isolation("off"))
    names = Credits("m", [Credit(bot.name, "") for bot in bots])
    task = Match(spec, ReplayKeys("own", "viewed", "archive"), names)
    players = Players(f"unix:{SOCKET}")
    with players.play(task, [Program("spy", packages.pack({"bot.py": SPY}))]) as play:
        played = next(message for message in play if isinstance(message, Played))
    players.close()
    (output,) = played.slots[0].stats.get("outputs", [str(played.slots[0])])
    assert "FOUND" in output, output
    found: dict[str, object] = json.loads(output.partition("FOUND")[2].partition("DNUOF")[0])
    return found


def main() -> None:
    """Start the hub as its units do, and attack it."""
    run("useradd", "--system", "--user-group", "cw")
    Path("/etc/circuit-wars.env").write_text("CW_HEALTH_EVERY=60\n")
    Path("/etc/circuit-wars.env").chmod(0o600)
    run("ip", "link", "set", "lo", "up")
    run("systemctl", "start", "cw-players.socket", "cw-hub.service")
    wait_for_pages()
    owner = Player(HUB, "owner")
    cw = "/opt/circuit-wars/bin/cw"
    as_hub = ["setpriv", "--reuid=cw", "--regid=cw", "--clear-groups", "env", f"CW_DATA={DATA}"]
    run(*as_hub, cw, "hub", "competition", "new", "rated", RATED)
    run(*as_hub, cw, "hub", "competition", "resume", f"rated/{RATED}")
    kit = {name: file.read_bytes() for name, file in kits.files(RATED, "python").items()}
    answer = owner.send_program("Honest", kit)
    assert answer.status_code == 303, answer.text
    owner.checked("Honest")
    is_active = owner.status("Honest") == "ACTIVE"
    lines = run("ps", "-eo", "uid,args").splitlines()
    playing = [line for line in lines if line.endswith(PLAYER)]
    report = {
        "honest program is active": is_active,
        "users of players": sorted({int(one.split()[0]) for one in playing}),
        "owner and mode of the socket": run("stat", "-c", "%U %a", SOCKET).strip(),
        "read by a player": read_without_sandbox(),
    }
    run("systemctl", "stop", "cw-hub.service")
    for _ in range(600):
        if not any(line.endswith(PLAYER) for line in run("ps", "-eo", "args").splitlines()):
            break
        time.sleep(0.1)
    report["players left"] = PLAYER in run("ps", "-eo", "args")
    Path(sys.argv[1], "report.json").write_text(json.dumps(report))


if __name__ == "__main__":
    main()
