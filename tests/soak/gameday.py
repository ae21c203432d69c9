"""`make gameday`: each part of a hub is killed and hung, and a report says what that did.

    python -m tests.soak.gameday REPORT.md [PART ...]

The hub is that of deploy/compose.yaml, without an engine (composed.py). Of each stroke the report
says what the site answered meanwhile, and after how many seconds all was well again: every part
ready, and another match done. In the end the disk of the objects is filled, the hub is restored
elsewhere, and its master key gives way to a new one. Where parts are named, only these are struck.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from cw.hub.operation.keys import try_all
from cw.hub.store.sealing import Sealer, new_master_key
from tests.hub import services
from tests.hub.campaign import wait_until
from tests.soak.composed import Composed, composed
from tests.soak.test_compose import done, environment, reading

PARTS: Final = (
    *("acb-api", "acb-scheduler", "acb-worker", "acb-strategy-random"),
    *("postgresql", "pgbouncer", "redis", "store", "acb-web"),
)
"""What is struck."""

LASTS: Final = float(os.environ.get("CW_OUTAGE", "20"))
"""Seconds of an outage."""

KEYS: Final = "CW_MASTER_KEYS"
PATHS: Final = ("/health", "/", "/leaderboard")


@dataclass(frozen=True)
class Stroke:
    """What one part suffered, and what became of it."""

    part: str
    what: str
    answers: str
    """Of the site meanwhile."""
    seconds: float
    """Until all was well."""

    def __str__(self) -> str:
        """Return a row of the report."""
        return f"| {self.part} | {self.what} | {self.answers} | {self.seconds:.0f} |"


def answer(hub: Composed, path: str) -> str:
    """Return the status of a page as a visitor gets it, `none` without one within 15 s."""
    (web,) = hub.of("acb-web")
    command = ["curl", "-sk", "-o", os.devnull, "-w", "%{http_code}", "--max-time", "15"]
    where = ["--resolve", f"hub.example:443:{web.host.address}", f"https://hub.example{path}"]
    code = subprocess.run([*command, *where], check=False, capture_output=True, text=True).stdout
    return code if code.strip("0") else "none"


def answers(hub: Composed, seconds: float) -> str:
    """Return what visitors are told for a while, by how often."""
    until, counted = time.monotonic() + seconds, Counter[str]()
    while time.monotonic() < until:
        counted.update(answer(hub, path) for path in PATHS)
    return ", ".join(f"{code}: {number}" for code, number in counted.most_common())


def well_again(hub: Composed) -> float:
    """Wait until another match is done and the site answers; return the seconds."""
    began = time.monotonic()
    wait_until(lambda: done_or_none(hub) >= 0, "the database")
    matches = done_or_none(hub)
    wait_until(lambda: done_or_none(hub) > matches, "another match")
    wait_until(lambda: answer(hub, "/ready?full=1") == "200", "all parts")
    return time.monotonic() - began


def done_or_none(hub: Composed) -> int:
    """Return how many matches are done, -1 while the database does not say."""
    with suppress(Exception):
        return done(hub)
    return -1


def killed(hub: Composed, part: str) -> Stroke:
    """Kill all processes of a part, and start them again after the outage."""
    for one in hub.of(part):
        one.signal(signal.SIGKILL)
    problem = answers(hub, LASTS)
    for one in hub.of(part):
        one.again()
    return Stroke(part, "killed", problem, well_again(hub))


def hung(hub: Composed, part: str) -> Stroke:
    """Suspend all processes of a part, and let them go on after the outage."""
    for one in hub.of(part):
        one.signal(signal.SIGSTOP)
    try:
        problem = answers(hub, LASTS)
    finally:
        for one in hub.of(part):
            one.signal(signal.SIGCONT)
    return Stroke(part, "hung", problem, well_again(hub))


def typed(name: str, act: Callable[[], str]) -> Stroke:
    """Do what an operator types; the last line that is printed is told."""
    began = time.monotonic()
    lines = act().strip().splitlines()
    return Stroke("operator", name, lines[-1] if lines else "", time.monotonic() - began)


def disk_filled(hub: Composed) -> Stroke:
    """Fill the disk of the objects, and free it after the outage."""
    (store,) = hub.of("store")
    filler = store.folder / "device" / "filler"
    try:
        fill(filler)
        before = done(hub)
        problem = f"{answers(hub, LASTS)}; matches done: {done(hub) - before}"
    finally:
        filler.unlink()
    return Stroke("store", "disk full", problem, well_again(hub))


def fill(path: Path) -> None:
    """Write into a file until its disk is full."""
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))


def key_replaced(hub: Composed) -> Iterator[Stroke]:
    """Put a new master key first, encrypt all secrets with it, and remove the old one."""
    (scheduler,) = hub.of("acb-scheduler")
    old, new = scheduler.environment[KEYS], new_master_key("k2")
    begin_anew(hub, f"{new},{old}")
    yield typed("new key first, keys rotated", lambda: scheduler.type("keys", "rotate"))
    left = json.loads(scheduler.type("keys", "status", "--json"))["secrets"]
    assert left[old.partition(":")[0]] == 0, left
    begin_anew(hub, new)
    seconds = well_again(hub)
    with reading(hub) as session:
        tried = try_all(session, Sealer(new))
    assert not tried.missing, tried
    assert not tried.broken, tried
    yield Stroke("operator", "old key removed", f"{tried.number} secrets open", seconds)


def begin_anew(hub: Composed, keys: str) -> None:
    """Start all processes that have master keys anew, with others."""
    for one in hub.instances:
        if KEYS in one.environment:
            one.about["environment"][KEYS] = keys
            if one.ended() is None:
                one.signal(signal.SIGKILL)
                one.again()


def strokes(hub: Composed, folder: Path, parts: Sequence[str]) -> Iterator[Stroke]:
    """Strike each part in both ways; then do what operators do on a bad day."""
    (scheduler,) = hub.of("acb-scheduler")
    scheduler.type("competition", "set", "rated/code-battle", "house_plays=true", "rest=0")
    well_again(hub)
    for part in parts:
        yield killed(hub, part)
        yield hung(hub, part)
    yield disk_filled(hub)
    copies = str(folder / "copies")
    yield typed("back-up, sealed elsewhere", lambda: scheduler.type("backup", "--objects", copies))
    yield typed("drill", lambda: scheduler.type("backup", "drill", copies))
    elsewhere = f"sqlite:///{folder / 'elsewhere.sqlite'}"
    objects = "CW_STORE_URL=s3://replays/elsewhere"
    settings = ("--set", f"CW_DATABASE_URL={elsewhere}", "--set", objects)
    restore = ("restore", *settings, copies, "--objects")
    yield typed("restored elsewhere, with objects", lambda: scheduler.type(*restore))
    yield typed("ratings", lambda: scheduler.type("ratings", "verify"))
    yield from key_replaced(hub)


HEAD: Final = """# Game day

| part | what was done | answers of the site meanwhile, by status | seconds until all was well |
|---|---|---|--:|
"""


def main(report: Path, parts: Sequence[str]) -> None:
    """Spend the day; each row is written as soon as it is known."""
    services.permit(True)
    report.write_text(HEAD)
    with TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "hub").mkdir()
        with composed(folder / "hub", environment()) as hub, report.open("a") as lines:
            for stroke in strokes(hub, folder, parts):
                lines.write(f"{stroke}\n")
                lines.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or PARTS)
