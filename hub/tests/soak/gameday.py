"""`make gameday`: each part of a hub is killed and hung, and a report says what that did.

    python -m hub.tests.soak.gameday REPORT.md [PART ...]

The hub is that of hub/deploy/compose.yaml, without an engine (composed.py). For each stroke the
report says what the site answered meanwhile, after how many seconds every part was ready again, and
after how many another match was done. Then each disk is filled, the hub is restored on another
machine, each key gives way to a new one, and all matches are counted. Where parts are named, only
these are killed and hung.
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
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Final

from sqlalchemy import select

from cw_hub.matches import results
from cw_hub.operation.keys import try_all
from cw_hub.store.models import Battle, Match
from cw_hub.store.sealing import Sealer, new_master_key
from hub.tests import services
from hub.tests.campaign import wait_until
from hub.tests.disks import filled, mounted
from hub.tests.soak.composed import DISK, PROGRAM, Composed, another_machine, composed
from hub.tests.soak.test_compose import done, environment, has_begun, reading

PARTS: Final = (
    *("acb-api", "acb-scheduler", "acb-worker", "acb-strategy-random"),
    *("postgresql", "pgbouncer", "redis", "store", "acb-web"),
)
"""What is struck."""

LASTS: Final = float(os.environ.get("CW_OUTAGE", "20"))
"""Seconds of an outage."""

KEYS: Final = "CW_MASTER_KEYS"
PATHS: Final = ("/health", "/", "/leaderboard")
ALL_PARTS: Final = "/ready?full=1"


@dataclass(frozen=True)
class Recovery:
    """After how many seconds a hub was well again."""

    site: float
    """Until each part was ready, as a visitor gets that answer."""
    match: float
    """Until another match was done, which takes as long as a match does."""


@dataclass(frozen=True)
class Stroke:
    """What one part suffered, and what became of it."""

    part: str
    what: str
    answers: str
    """Of the site meanwhile."""
    seconds: float | Recovery
    """Until all was well, or for which an operator waited."""

    def __str__(self) -> str:
        """Return a row of the report."""
        if isinstance(self.seconds, Recovery):
            seconds = f"{self.seconds.site:.0f} | {self.seconds.match:.0f}"
        else:
            seconds = f"{self.seconds:.0f} | "
        return f"| {self.part} | {self.what} | {self.answers} | {seconds} |"


def answer(hub: Composed, path: str) -> str:
    """Return the status of a page as a visitor gets it."""
    (web,) = hub.of("acb-web")
    return status(f"https://hub.example{path}", "--resolve", f"hub.example:443:{web.host.address}")


def status(url: str, *options: str) -> str:
    """Return the status that an address answers with, `none` without one within 15 s."""
    command = ["curl", "-sk", "-o", os.devnull, "-w", "%{http_code}", "--max-time", "15"]
    ended = subprocess.run([*command, *options, url], check=False, capture_output=True, text=True)
    return ended.stdout if ended.stdout.strip("0") else "none"


def answers(hub: Composed, seconds: float) -> str:
    """Return what visitors are told for a while, by how often."""
    until, counted = time.monotonic() + seconds, Counter[str]()
    while time.monotonic() < until:
        counted.update(answer(hub, path) for path in PATHS)
    return ", ".join(f"{code}: {number}" for code, number in counted.most_common())


def well_again(hub: Composed) -> Recovery:
    """Wait until the site has all its parts and another match is done; return the seconds."""
    began = time.monotonic()
    wait_until(lambda: done_or_none(hub) >= 0, "the database")
    matches = done_or_none(hub)

    def seconds_until(is_so: Callable[[], bool], name: str) -> float:
        wait_until(is_so, name)
        return time.monotonic() - began

    with ThreadPoolExecutor() as threads:
        site = threads.submit(seconds_until, lambda: answer(hub, ALL_PARTS) == "200", "all parts")
        match = threads.submit(seconds_until, lambda: done_or_none(hub) > matches, "a match")
    return Recovery(site.result(), match.result())


def done_or_none(hub: Composed) -> int:
    """Return how many matches are done, -1 while the database does not say."""
    with suppress(Exception):
        return done(hub)
    return -1


def killed(hub: Composed, part: str) -> Stroke:
    """Kill all processes of a part, and start them again after the outage."""
    for one in hub.of(part):
        one.host.signal(signal.SIGKILL)
    problem = answers(hub, LASTS)
    for one in hub.of(part):
        one.again()
    return Stroke(part, "killed", problem, well_again(hub))


def hung(hub: Composed, part: str) -> Stroke:
    """Suspend all processes of a part, and let them go on after the outage."""
    for one in hub.of(part):
        one.host.signal(signal.SIGSTOP)
    try:
        problem = answers(hub, LASTS)
    finally:
        for one in hub.of(part):
            one.host.signal(signal.SIGCONT)
    return Stroke(part, "hung", problem, well_again(hub))


def typed(name: str, act: Callable[[], str]) -> Stroke:
    """Do what an operator types; the last line that is printed is told."""
    began = time.monotonic()
    lines = act().strip().splitlines()
    return Stroke("operator", name, lines[-1] if lines else "", time.monotonic() - began)


def disk_filled(hub: Composed, part: str) -> Stroke:
    """Fill the disk of a part, and free it after the outage; start the part again if it ended."""
    (one,) = hub.of(part)
    assert one.disk is not None
    before = done(hub)
    with filled(one.disk):
        problem = f"{answers(hub, LASTS)}; the doctor names: {', '.join(named(hub)) or 'nothing'}"
    if not one.host.pids():
        one.again()
        problem += "; its server has ended"
    recovery = well_again(hub)
    return Stroke(
        part, "disk full", f"{problem}; matches done by now: {done(hub) - before}", recovery
    )


def named(hub: Composed) -> Sequence[str]:
    """Return what the doctor says is to be mended."""
    (scheduler,) = hub.of("acb-scheduler")
    findings = json.loads(scheduler.run("doctor", "--json").stdout)
    return [one["name"] for one in findings if one["needed"] and not one["ok"]]


def copies_refused(hub: Composed, copies: Path) -> Stroke:
    """Let the disk of the copies be full while they are made."""
    (scheduler,) = hub.of("acb-scheduler")
    began = time.monotonic()
    with filled(copies):
        refused = scheduler.run("backup", "--objects", str(copies))
    assert refused.returncode != 0, refused.stdout
    (line,) = refused.stderr.strip().splitlines()
    return Stroke("operator", "back-up, its disk full", line, time.monotonic() - began)


def restored(hub: Composed, folder: Path, copies: str) -> Iterator[Stroke]:
    """Restore the hub on a machine that has nothing but its keys, and serve it there."""
    folder.mkdir()
    elsewhere = {
        "CW_DATABASE_URL": f"sqlite:///{folder / 'hub.sqlite'}",
        "CW_BROKER_URL": "memory://",
        "CW_STORE_URL": "s3://replays/elsewhere",
        "CW_TRUSTED_PROXY": f"{hub.network}.1",
    }
    with another_machine(hub, folder, elsewhere) as machine:
        restore = ("restore", copies, "--objects")
        yield typed("restored on another machine", lambda: machine.type(*restore))
        began = time.monotonic()
        machine.start([*PROGRAM, "hub", "serve", "--host", "0.0.0.0"])
        page = f"http://{machine.host.address}:8000/leaderboard"
        as_proxy = ("-H", "X-Forwarded-Proto: https")
        wait_until(lambda: status(page, *as_proxy) == "200", "the hub elsewhere")
        yield Stroke("operator", "served there", "200", time.monotonic() - began)
        machine.stop()


def master_key_replaced(hub: Composed) -> Iterator[Stroke]:
    """Put a new master key first, encrypt all secrets with it, and remove the old one."""
    (scheduler,) = hub.of("acb-scheduler")
    old, new = scheduler.environment[KEYS], new_master_key("k2")
    begin_anew(hub, KEYS, f"{new},{old}")
    yield typed("new master key first, secrets rotated", lambda: scheduler.type("keys", "rotate"))
    left = json.loads(scheduler.type("keys", "status", "--json"))["secrets"]
    assert left[old.partition(":")[0]] == 0, left
    begin_anew(hub, KEYS, new)
    recovery = well_again(hub)
    with reading(hub) as session:
        tried = try_all(session, Sealer(new))
    assert not tried.missing, tried
    assert not tried.broken, tried
    yield Stroke("operator", "old master key removed", f"{tried.number} secrets open", recovery)


def other_keys_replaced(hub: Composed) -> Iterator[Stroke]:
    """Replace the key of cookies and links, and the secret of the bots of the site."""
    begin_anew(hub, "CW_SECRET_KEY", token_hex(32))
    yield Stroke("operator", "new key of cookies", answers(hub, 1), well_again(hub))
    begin_anew(hub, "BOT_SECRET", token_hex(32))
    (register,) = hub.of("acb-register")
    register.again()
    wait_until(lambda: register.ended() is not None, "the registration of the strategies")
    assert register.ended() == 0, register.log.read_text()
    yield Stroke("operator", "new secret of the strategies", answers(hub, 1), well_again(hub))


def begin_anew(hub: Composed, name: str, value: str) -> None:
    """Start all processes that have a setting anew, with another value."""
    for one in hub.instances:
        if name in one.environment:
            one.about["environment"][name] = value
            if one.ended() is None:
                one.host.signal(signal.SIGKILL)
                one.again()


def counted_once(hub: Composed) -> Stroke:
    """Hold rows against each other: each rated match has one place in the order, and one result."""
    began = time.monotonic()
    with reading(hub) as session:
        matches = results.counts(session)
        ordered = select(Match.seq).where(Match.seq.is_not(None)).order_by(Match.seq)
        order = session.scalars(ordered).all()
        battles = session.scalars(select(Battle.replay_key)).all()
    assert not matches.get("failed"), matches
    assert order == list(range(1, len(order) + 1))
    assert len(battles) == len({*battles}) == matches["done"], matches
    words = f"{matches['done']} done, each once; 0 failed"
    return Stroke("matches", "counted", words, time.monotonic() - began)


def strokes(hub: Composed, folder: Path, parts: Sequence[str]) -> Iterator[Stroke]:
    """Strike each part in both ways; then do what operators do on a bad day."""
    (scheduler,) = hub.of("acb-scheduler")
    wait_until(lambda: has_begun(hub), "the competitions of a new hub")
    scheduler.type("competition", "set", "rated/code-battle", "house_plays=true", "rest=0")
    well_again(hub)
    yield Stroke("nothing", "nothing", answers(hub, LASTS), well_again(hub))
    for part in parts:
        yield killed(hub, part)
        yield hung(hub, part)
    yield disk_filled(hub, "store")
    yield disk_filled(hub, "postgresql")
    copies = folder / "copies"
    copies.mkdir()
    with mounted(copies, DISK):
        yield copies_refused(hub, copies)
        back_up = ("backup", "--objects", str(copies))
        yield typed("back-up, sealed elsewhere", lambda: scheduler.type(*back_up))
        yield typed("drill", lambda: scheduler.type("backup", "drill", str(copies)))
        yield from restored(hub, folder / "elsewhere", str(copies))
    yield from master_key_replaced(hub)
    yield from other_keys_replaced(hub)
    yield typed("ratings", lambda: scheduler.type("ratings", "verify"))
    yield counted_once(hub)


HEAD: Final = """# Game day

| part | what was done | answers meanwhile, by status | seconds until ready | until a match |
|---|---|---|--:|--:|
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
