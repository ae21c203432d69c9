"""Benchmark of championships: matches per second, and the cost of isolation per client request."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final

from bench.rows import Effort, Goal, NotMeasured, Row
from cw.arena.sandbox import ProgramNeeds, Sandbox, bubblewrap
from cw.assets import asset
from cw.server.player_proxy import Client, player_proxies
from cw.server.rooms import RoomRegistry
from cw.server.wsgi import listen, serving
from cw.web import create_app
from cw.web.settings import SiteSettings

ASKER: Final = """
import http.client, sys, time
host, port, number = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
def ask(connection):
    began = time.perf_counter()
    connection.request("GET", "/status")
    connection.getresponse().read()
    return time.perf_counter() - began
kept = http.client.HTTPConnection(host, port)
times = sorted(ask(kept) for _ in range(number))
fresh = []
for _ in range(number):
    connection = http.client.HTTPConnection(host, port)
    fresh.append(ask(connection))
    connection.close()
print(times[number // 2] * 1000, sorted(fresh)[number // 2] * 1000)
"""
"""Prints the median of a request on a kept connection and on a fresh one, in milliseconds."""

TEAMS: Final = ("ann", "bob", "cid")


def rows(effort: Effort) -> list[Row]:
    """Measure the way through the walls, and championships on one core and on all."""
    if bubblewrap.problem() is not None:
        raise NotMeasured(f"championships are walled by bubblewrap: {bubblewrap.problem()}")
    number = max(200, effort.repeats * 10)
    pairs = [(isolated(number), direct(number)) for _ in range(max(3, effort.matches // 4))]
    return [
        *(
            Row(
                "championship",
                f"added to a request, {what} connection",
                median(w[i] - d[i] for w, d in pairs),
                "ms",
                "without walls",
                median(d[i] for _, d in pairs),
                Goal("<", bound, of="ours"),
            )
            for i, what, bound in ((0, "kept", 0.3), (1, "fresh", 0.6))
        ),
        *throughput(),
    ]


def throughput() -> list[Row]:
    """Compare matches a second, one at a time and one for every two cores."""
    cores = os.cpu_count() or 1
    jobs = max(1, cores // 2)
    one, many = championship(1), championship(jobs)
    return [
        Row(
            "championship",
            f"games a second, {jobs} at a time on {cores} cores",
            many,
            "games/s",
            f"{jobs} x one at a time",
            jobs * one,
            Goal(">=", 0.8),
        )
    ]


def direct(number: int) -> tuple[float, float]:
    """Ask a server over loopback; return kept and fresh milliseconds."""
    with serving(create_app(SiteSettings()), listen("127.0.0.1", 0)) as address:
        host, port = address.removeprefix("http://").split(":")
        return asked([sys.executable, "-c", ASKER, host, port, str(number)])


def isolated(number: int) -> tuple[float, float]:
    """Ask a server from a network of its own."""
    app = create_app(SiteSettings())
    rooms: RoomRegistry = app.extensions["rooms"]
    with player_proxies(app, rooms.find(None).session, [Client("ann", "ann")]) as doors:
        asker = [sys.executable, "-c", ASKER, "127.0.0.1", "5000", str(number)]
        needs = ProgramNeeds(server=doors["ann"].path)
        with Sandbox("require").prepare(asker, needs=needs) as launch:
            return asked([*launch.argv], dict(launch.env))


def asked(command: list[str], env: dict[str, str] | None = None) -> tuple[float, float]:
    """Run what asks, and return its two figures."""
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotMeasured(f"asking failed: {done.stderr}")
    warm, fresh = map(float, done.stdout.split())
    return warm, fresh


def championship(jobs: int) -> float:
    """Play a small championship of clients without pauses; return matches a second."""
    with TemporaryDirectory(prefix="cw-bench-") as folder:
        for team in TEAMS:
            place = Path(folder, "teams", team)
            place.mkdir(parents=True)
            (place / "game_ai.py").write_bytes(asset("game_ai.py").read_bytes())
        out = Path(folder, "out")
        command = [sys.executable, "-m", "cw", "championship", "run", f"{folder}/teams"]
        command += ["--out", str(out), "--format", "double-round-robin"]
        command += ["--openings", "2", "--jobs", str(jobs)]
        began = perf_counter()
        done = subprocess.run(
            command, env={**os.environ, "CW_PAUSE": "0"}, capture_output=True, check=False
        )
        seconds = perf_counter() - began
        if done.returncode:
            raise NotMeasured(done.stderr.decode())
        return len((out / "results.jsonl").read_bytes().splitlines()) / seconds
