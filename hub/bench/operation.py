"""Benchmark of operating a hub: backups, verifying ratings, sweeps, workers, and many browsers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from secrets import token_hex
from statistics import quantiles
from tempfile import TemporaryDirectory, TemporaryFile
from time import perf_counter, sleep
from typing import IO, Final, NamedTuple

from redis import Redis
from redis.exceptions import ConnectionError as RedisAway
from sqlalchemy import func, insert, select
from sqlalchemy.exc import OperationalError

from bench.rows import Effort, Goal, NotMeasured, Row
from bench.server import ROOT, running
from cw_hub.bots import health
from cw_hub.bots.jobs import sweep_bots
from cw_hub.competitions.rated import service as rated_service
from cw_hub.matches import planning
from cw_hub.matches.planning import Plan, Seat
from cw_hub.matches.results import queue_all
from cw_hub.operation import backups
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import Resources, opened
from cw_hub.operation.settings import HubSettings, read_settings
from cw_hub.site.processes import begin_site
from cw_hub.store.database import Database, Session
from cw_hub.store.models import Base, Bot, Competition, Match, User
from cw_hub.store.sealing import Sealer
from hub.bench import crowd, rated_history
from hub.bench.crowd import BROWSERS
from hub.bench.rated import MASTER_KEY, NO_POSTGRESQL, new_postgresql

BOTS: Final = 10_000
BOTS_OF_A_PERSON: Final = 5
MATCHES: Final = 100_000
HANGING: Final = 10
"""One bot of so many does not answer."""

WORKERS: Final = (1, 2, 4)
FOR_EACH: Final = 16
"""Matches for each worker, of which the first and the last do not count."""

LEFT_OUT: Final = 2
"""For each worker, at the beginning and at the end."""

PACE: Final = 5.0
"""Seconds between two polls of a browser."""

WATCHED: Final = 30.0
"""Seconds for which they look on."""

PATIENCE: Final = 600.0
"""Seconds after which something will not come any more."""

REDIS: Final = "redis://127.0.0.1:6379"
NO_REDIS: Final = "no Redis at 127.0.0.1:6379"

TICKS_PER_SECOND: Final = os.sysconf("SC_CLK_TCK")


def rows(_: Effort) -> list[Row]:
    """Measure all of it; each once, as it takes minutes."""
    with running(module="bench.slow_bots") as bots:
        return [*upkeep(), sweep(bots), *on_services(bots)]


# One machine


def upkeep() -> list[Row]:
    """Write a backup, read it again, and prove the ratings."""
    with TemporaryDirectory() as folder, hub(HubSettings(data=Path(folder))) as resources:
        with resources.database.writing() as session:
            rated_history.write(session, BOTS, MATCHES)
        rebuilt, proven = timed_ratings(resources)
        alone = timed_reading(resources)
        with TemporaryFile() as file:
            written, number = timed_backup(resources, file)
            file.seek(0)
            read = timed_restore(Path(folder) / "restored.sqlite", file)
    what = f"of {number:,} rows, SQLite"
    return [
        row(f"backup {what}", number / written, "rows/s", "read alone", number / alone, 50_000),
        row(f"restore {what}", number / read, "rows/s", "backup", number / written, 15_000),
        row("verify", proven, "matches/s", "rebuild", rebuilt, 3_334),
    ]


def row(  # noqa: PLR0913, PLR0917 - the columns of a row
    what: str, ours: float, unit: str, yardstick: str, theirs: float, least: float
) -> Row:
    """Return a row whose figure has a lower bound."""
    return Row("operation", what, ours, unit, yardstick, theirs, Goal(">=", least, "ours"))


@contextmanager
def hub(settings: HubSettings) -> Iterator[Resources]:
    """Open a hub while the block runs."""
    with opened(settings, CeleryQueue(settings)) as resources:
        begin_site(resources, rest=0)
        yield resources


def timed_ratings(resources: Resources) -> tuple[float, float]:
    """Return how many matches are rated anew in a second, and how many proven; a million in 300 s.

    Those of the history are made up, so they are rated first.
    """
    with resources.database.writing() as session:
        competition = session.scalars(
            select(Competition.id).where(Competition.format == "rated")
        ).one()
        start = perf_counter()
        rated_service.rebuild(session, competition)
        rebuilt = perf_counter() - start
    start = perf_counter()
    with resources.database.reading() as session:
        if next(rated_service.verify(session, competition), None) is not None:
            raise NotMeasured("ratings that were written anew are wrong")
    return MATCHES / rebuilt, MATCHES / (perf_counter() - start)


def timed_reading(resources: Resources) -> float:
    """Return the seconds for all rows as the driver of the database has them."""
    start = perf_counter()
    with resources.database.snapshot() as connection:
        for table in Base.metadata.sorted_tables:
            for _ in connection.exec_driver_sql(f"SELECT * FROM {table.name}"):
                pass
    return perf_counter() - start


def timed_backup(resources: Resources, file: IO[bytes]) -> tuple[float, int]:
    """Return the seconds for a backup, and its rows."""
    start = perf_counter()
    header = backups.write(resources.database, file)
    return perf_counter() - start, header.rows


def timed_restore(path: Path, file: IO[bytes]) -> float:
    """Return the seconds for reading it into an empty database."""
    with closing(Database(f"sqlite:///{path}")) as database:
        start = perf_counter()
        backups.restore(database, file, queue_all)
        return perf_counter() - start


def sweep(address: str) -> Row:
    """Ask many bots how they are, some of which do not answer."""
    with TemporaryDirectory() as folder, hub(HubSettings(data=Path(folder))) as resources:
        with resources.database.writing() as session:
            add_bots(session, resources.sealer, address)
        start = perf_counter()
        while is_due(resources):
            sweep_bots(resources)
        duration = perf_counter() - start
        with resources.database.reading() as session:
            ill = session.scalars(select(func.count()).where(Bot.failures > 0)).one()
    if ill != BOTS // HANGING:
        raise NotMeasured(f"{ill} bots of {BOTS // HANGING} that hang were seen to")
    what = f"sweep of {BOTS:,} bots, of which {ill:,} hang"
    return Row("operation", what, duration, "s", "bots", BOTS, Goal("<=", 300, "ours"))


def is_due(resources: Resources) -> bool:
    """Return whether bots are still to be asked."""
    with resources.database.reading() as session:
        return health.any_due(session)


def add_bots(session: Session, sealer: Sealer, address: str) -> None:
    """Add bots that are known to be well, and due."""
    now = session.now()
    names = [f"o{number}" for number in range(BOTS // BOTS_OF_A_PERSON)]
    people = [{"username": name, "username_key": name, "created_at": now} for name in names]
    session.execute(insert(User), people)
    owners = session.scalars(select(User.id).order_by(User.id)).all()
    values = []
    for number in range(BOTS):
        name, bot_id = f"bot-{number}", f"b_{number:08x}"
        sealed = sealer.seal(b"secret", f"{bot_id}.1")
        values.append(
            {
                "bot_id": bot_id,
                "game": rated_history.GAME,
                "user_id": owners[number // BOTS_OF_A_PERSON],
                "name": name,
                "name_key": name,
                "kind": "url",
                "endpoint": f"{address}/{'fine' if number % HANGING else 'hang'}",
                "status": "ACTIVE",
                "protocol_ok": True,
                "secret": sealed.data,
                "key_id": sealed.key_id,
                "secret_version": 1,
                "created_at": now,
                "check_due_at": now,
            }
        )
    session.execute(insert(Bot), values)


# Several processes


def on_services(bots: str) -> list[Row]:
    """Let workers play over PostgreSQL and Redis, and browsers look on."""
    try:
        with new_postgresql() as database, TemporaryDirectory() as folder:
            Redis.from_url(REDIS).ping()
            environment = {
                "CW_DATABASE_URL": database,
                "CW_BROKER_URL": f"{REDIS}/9",
                "CW_DATA": folder,
                "CW_MASTER_KEYS": MASTER_KEY,
                "CW_SECRET_KEY": "0" * 64,
                "CW_TRUSTED_PROXY": "127.0.0.1",
                "CW_TICK": "1",
                "CW_LOG": "json",
            }
            settings = read_settings(environment)
            with hub(settings) as resources, role(environment, "scheduler"):
                return [
                    *scaling(resources, environment, bots),
                    *watched(resources, environment, bots),
                ]
    except OperationalError:
        return not_measured(NO_POSTGRESQL)
    except RedisAway:
        return not_measured(NO_REDIS)


def not_measured(why: str) -> list[Row]:
    """Return what stands in place of all that needs services."""
    return [Row("operation", "workers", None, "matches/min", "one worker", None, None, why)]


@contextmanager
def role(environment: Mapping[str, str], *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run a process of the hub while the block runs."""
    with subprocess.Popen(
        [sys.executable, "-m", "cw", "hub", *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.terminate()


@contextmanager
def workers(environment: Mapping[str, str], number: int) -> Iterator[None]:
    """Run so many workers, each of which plays a match at a time."""
    with ExitStack() as stack:
        for _ in range(number):
            stack.enter_context(role(environment, "worker", "--slots", "1"))
        yield


def planned(resources: Resources, bots: str, number: int) -> list[int]:
    """Plan so many matches of two bots that take their time; return their ids."""
    seats = tuple(Seat(name, spec=f"{bots}/fine") for name in ("one", "other"))
    ids = []
    with resources.database.writing() as session:
        for _ in range(number):
            wanted = Plan("practice", token_hex(8), "hexagon", seats, {"size": 3})
            ids.append(planning.plan(session, wanted))
    return ids


def done(resources: Resources, wanted: list[int]) -> list[float]:
    """Return when matches ended, in their order, in Unix seconds."""
    ended = select(Match.finished_at).where(Match.id.in_(wanted), Match.state == "done")
    with resources.database.reading() as session:
        return sorted(at.timestamp() for at in session.scalars(ended) if at)


def wait_for(resources: Resources, wanted: list[int]) -> list[float]:
    """Wait until matches have ended; return when."""
    deadline = perf_counter() + PATIENCE
    while len(matches := done(resources, wanted)) < len(wanted):
        if perf_counter() > deadline:
            raise NotMeasured(f"{len(matches)} of {len(wanted)} matches have ended")
        sleep(0.2)
    return matches


def scaling(resources: Resources, environment: Mapping[str, str], bots: str) -> list[Row]:
    """Measure how many matches of slow bots more workers play."""
    rates = []
    for number in WORKERS:
        with workers(environment, number):
            ended = wait_for(resources, planned(resources, bots, FOR_EACH * number))
        counted = ended[LEFT_OUT * number : -LEFT_OUT * number]
        rates.append(60 * (len(counted) - 1) / (counted[-1] - counted[0]))
    goals = {2: Goal(">=", 1.9), 4: Goal(">=", 3.6)}
    return [
        Row(
            "operation",
            f"workers: {number}, bots of 20 ms",
            rate,
            "matches/min",
            "one worker",
            rates[0],
            goals.get(number),
        )
        for number, rate in zip(WORKERS, rates, strict=True)
    ]


def watched(resources: Resources, environment: Mapping[str, str], bots: str) -> list[Row]:
    """Let many browsers poll a match, first alone and then while workers play others."""
    seats = tuple(Seat(name, spec=f"builtin:{name}") for name in ("greedy", "random"))
    # Of this kind nobody sends it by itself: it stays as it is, and all may see it.
    wanted = Plan("ladder", token_hex(8), "hexagon", seats)
    with resources.database.writing() as session:
        row_id = planning.plan(session, wanted)
        name = session.scalars(select(Match.match_id).where(Match.id == row_id)).one()
    # In a log of JSON the address would be in an entry of it.
    text = {**environment, "CW_LOG": "text"}
    with role(text, "serve", "--no-worker", "--port", "0") as server:
        poll = partial(polled, server, f"{address_of(server)}/match/{name}/state")
        idle = poll()
        others = planned(resources, bots, round(FOR_EACH * WORKERS[-1] * WATCHED))
        with workers(environment, WORKERS[-1]):
            busy = poll()
        ended = len(done(resources, others))
    what = f"{BROWSERS} browsers, a poll each {PACE:g} s, while {ended} matches end"
    most, share = Goal("<=", 0.5, "ours"), Goal("<=", 0.25, "ours")
    return [
        Row("operation", f"{what}: p99", busy.p99, "s", "no matches", idle.p99, most),
        Row("operation", f"{what}: server", busy.cores, "cores", "no matches", idle.cores, share),
    ]


class Polled(NamedTuple):
    """What polls took."""

    p99: float
    """Seconds."""
    cores: float
    """Of the server."""


def polled(server: subprocess.Popen[str], url: str) -> Polled:
    """Poll an address of a server as many browsers do."""
    before = processor(server)
    latencies = crowd.watch([crowd.Polled(url, PACE)], WATCHED)
    return Polled(quantiles(latencies, n=100)[-1], (processor(server) - before) / WATCHED)


def address_of(server: subprocess.Popen[str]) -> str:
    """Return where a hub says that it is."""
    for line in server.stdout or ():
        if line.startswith("Hub: "):
            return line.removeprefix("Hub: ").strip().rstrip("/")
    raise NotMeasured("the hub has ended too early")


def processor(process: subprocess.Popen[str]) -> float:
    """Return the seconds of a processor that a process has needed so far."""
    after_name = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / TICKS_PER_SECOND
