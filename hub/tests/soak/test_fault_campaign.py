"""The fault campaign: rated matches, while all that plays and keeps them falls again and again."""

from __future__ import annotations

import json
import logging
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from functools import partial
from pathlib import Path
from statistics import median
from threading import Timer

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.exc import DBAPIError

from cw_hub.bots import service as bots_service
from cw_hub.bots.service import NewBot
from cw_hub.competitions.rated import service as rated_service
from cw_hub.matches.planning import PLAY
from cw_hub.matches.results import wire_id
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import Resources, opened
from cw_hub.operation.settings import read_settings
from cw_hub.site.processes import begin_site
from cw_hub.store.database import Database
from cw_hub.store.migrations import upgrade
from cw_hub.store.models import Bot, Match, MatchParticipant, Rating, User
from hub.tests.campaign import (
    GAME,
    SHORT,
    Role,
    Stroke,
    attempts,
    check_everything,
    each_in_turn,
    in_turn,
    on_services,
    roles,
    run,
    under_fire,
    wait_until,
)
from hub.tests.services import PostgreSQL, Redis, Swift, new_swift
from hub.tests.sites import Visitor
from hub.tests.soak.counting_bots import CountingBots, counting_bots

pytestmark = pytest.mark.thorough

MATCHES = int(os.environ.get("CW_MATCHES", "1000"))
BOTS = 40
STOPPED = 6.0
"""Seconds for which a worker is stopped: longer than the lease of its match."""

AWAY = {"redis": 5.0, "swift": 10.0}
"""Seconds for which a service is away."""

logger = logging.getLogger(__name__)


@pytest.fixture
def postgresql(tmp_path: Path) -> Iterator[PostgreSQL]:
    server = PostgreSQL(tmp_path / "postgresql.log")
    server.start()
    try:
        with closing(Database(server.url)) as fresh:
            upgrade(fresh)
        yield server
    finally:
        server.remove()


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Redis]:
    server = Redis(tmp_path)
    server.start()
    try:
        yield server
    finally:
        server.kill()


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Swift]:
    (tmp_path / "swift").mkdir()
    with new_swift(tmp_path / "swift") as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        yield server


def spread(times: int, first: float, strike: Callable[[], object]) -> Stroke:
    """Return what strikes so often in a thousand matches, evenly from a part of the first on."""
    apart = 1000 / times
    return Stroke(strike, apart=apart, due=(0, first * apart))


def restarted(service: PostgreSQL) -> Callable[[], None]:
    """Return what shoots a service down, and starts it again."""

    def strike() -> None:
        service.kill()
        service.start()

    return strike


class Later:
    """What is to be done after a time; the end of the block waits for it."""

    def __init__(self) -> None:
        self.waiting: list[Timer] = []

    def do(self, seconds: float, what: Callable[[], object]) -> None:
        timer = Timer(seconds, what)
        timer.start()
        self.waiting.append(timer)

    def wait(self) -> None:
        for timer in self.waiting:
            timer.join()

    def __enter__(self) -> Later:
        return self

    def __exit__(self, *_: object) -> None:
        self.wait()


def away(service: Redis | Swift, seconds: float, later: Later) -> Callable[[], None]:
    """Return what kills a service, which is started again after a time: Redis as an empty one."""

    def strike() -> None:
        service.kill()
        later.do(seconds, service.start)

    return strike


def wake(worker: Role) -> None:
    """Let a stopped process go on; one that is gone by now stays so."""
    with suppress(ProcessLookupError):
        os.killpg(worker.process.pid, signal.SIGCONT)


def stop_past_lease(worker: Role, later: Later) -> None:
    """Stop a worker with all that plays for it, until somebody else has its match."""
    with suppress(ProcessLookupError):
        os.killpg(worker.process.pid, signal.SIGSTOP)
    later.do(STOPPED, partial(wake, worker))


def register(resources: Resources, served: CountingBots) -> None:
    """Register bots of as many people, which have passed their check."""
    with resources.database.writing() as session:
        for name in (f"bot-{number}" for number in range(BOTS)):
            user = User(username=name, username_key=name, created_at=resources.clock())
            session.add(user)
            session.flush()
            new = NewBot(GAME, name, served.endpoint(name))
            bot = bots_service.register(session, resources.sealer, user.id, new)
            rated_service.enter(session, bot.id)
            served.secrets[name] = bot.secret
        healthy = {"status": "ACTIVE", "healthy_at": resources.clock(), "check_due_at": None}
        session.execute(update(Bot).where(Bot.kind == "url").values(healthy))


def is_up(site: Role) -> bool:
    """Return whether a page server has told its address."""
    return "Hub: " in site.log.read_text()


def send_again(resources: Resources) -> None:
    """Send the message of every match that waits once more, unless nobody can be asked."""
    with suppress(DBAPIError):
        with resources.database.reading() as session:
            waiting = session.scalars(select(Match.id).where(Match.state == "queued")).all()
        for match in waiting:
            resources.queue.send(PLAY, match, queue="rated")


def ladder_of_one_order(resources: Resources, number: int) -> None:
    """Hold ratings and results against each other: all rated, once, in one order."""
    with resources.database.reading() as session:
        (competition,) = rated_service.rated_competitions(session)
        in_order = select(Match.seq).order_by(Match.seq)
        assert session.scalars(in_order).all() == list(range(1, number + 1))
        assert competition.last_seq == number
        assert list(rated_service.verify(session, competition.id)) == []
        playing = select(func.count()).select_from(Rating).where(Rating.playing_id.is_not(None))
        assert session.scalar(playing) == 0


def back_up(environment: Mapping[str, str], keys: list[str]) -> None:
    """Type the command until database and store are there; note the key of the file."""
    while not keys:
        done = run("backup", "--json", **environment)
        if done.returncode == 0:
            keys.append(json.loads(done.stdout)["key"])
        else:
            time.sleep(1)


def rated_seats(database: Database) -> list[tuple[object, ...]]:
    """Return what each rated match has made of each bot, in the order of their seq."""
    seat = MatchParticipant
    columns = Match.seq, Match.match_id, seat.slot, seat.rank, seat.mu, seat.phi, seat.sigma
    query = select(*columns).join(seat, seat.match_id == Match.id).where(Match.seq.is_not(None))
    with database.reading() as session:
        return [tuple(row) for row in session.execute(query.order_by(Match.seq, seat.slot))]


def check_restored(resources: Resources, key: str, folder: Path) -> int:
    """Restore a back-up that was made under fire into SQLite; return how many matches it holds.

    They must be the first ones, each with the ratings that it has here.
    """
    folder.mkdir()
    data = resources.objects.get(key)
    assert data is not None
    file = folder / "back-up.jsonl.gz"
    file.write_bytes(data)
    done = run("restore", str(file), "--json", CW_DATA=str(folder / "data"))
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["differences"] == []
    with closing(Database(f"sqlite:///{folder}/data/hub.sqlite")) as restored:
        then, now = rated_seats(restored), rated_seats(resources.database)
    assert then == now[: len(then)]
    return len({seat[0] for seat in then})


def finished_attempts(resources: Resources) -> set[str]:
    """Return the names under which bots knew the attempts that count."""
    with resources.database.reading() as session:
        return {wire_id(*row) for row in session.execute(select(Match.match_id, Match.attempt))}


def test_everything_falls_again_and_again(
    tmp_path: Path, postgresql: PostgreSQL, broker: Redis, store: Swift
) -> None:
    environment = on_services(tmp_path / "data", postgresql.url, broker.url)
    environment |= {"CW_STORE_URL": store.new_bucket(), "CW_TICK": "1"}
    environment |= {"CW_BOT_HTTP": "1", "CW_BOT_NETWORK": "any"}
    settings = read_settings(environment)
    with ExitStack() as stack:
        later = stack.enter_context(Later())
        served = stack.enter_context(counting_bots())
        resources = stack.enter_context(opened(settings, CeleryQueue(settings)))
        begin_site(resources, options=SHORT, formats=[2, 3], rest=0, matches=MATCHES)
        register(resources, served)

        def role(name: str, *arguments: str) -> Role:
            return Role(arguments, environment, tmp_path / f"{name}.log")

        workers = [role(f"worker-{one}", "worker") for one in "abcd"]
        schedulers = [role(f"scheduler-{one}", "scheduler") for one in "ab"]
        sites = [role(f"site-{one}", "serve", "--no-worker", "--port", "0") for one in "ab"]
        leaving: list[float] = []
        keys: list[str] = []

        def leave(worker: Role) -> None:
            wake(worker)
            leaving.append(worker.stop())

        in_order, backwards = workers, workers[::-1]
        stop = partial(stop_past_lease, later=later)
        strokes = {
            "worker kill -9": Stroke(in_turn(Role.kill, in_order), 5),
            "worker SIGTERM": Stroke(in_turn(leave, backwards), 7),
            "messages sent twice": Stroke(partial(send_again, resources), 2),
            "worker stopped past its lease": spread(20, 0.5, each_in_turn(stop, in_order)),
            "scheduler kill -9": spread(10, 0.7, in_turn(Role.kill, schedulers)),
            "Redis away": spread(5, 0.2, away(broker, AWAY["redis"], later)),
            "PostgreSQL immediate restart": spread(5, 0.5, restarted(postgresql)),
            "Swift away": spread(5, 0.8, away(store, AWAY["swift"], later)),
            "back-up": Stroke(
                lambda: later.do(0, partial(back_up, environment, keys)),
                apart=MATCHES,
                due=(0, MATCHES / 2),
            ),
        }
        with roles(*workers, *schedulers, *sites):
            watched_roles = [*workers, *schedulers, *sites]
            took = under_fire(resources, MATCHES, watched_roles, [*strokes.values()])
            for site in sites:
                wait_until(partial(is_up, site), "a page server")
                address = site.log.read_text().rpartition("Hub: ")[2].partition('/"')[0]
                assert Visitor(address).open("/leaderboard").status_code == 200
        logger.info("%s matches in %.0f s; by attempts: %s", MATCHES, took, attempts(resources))
        logger.info("%s", {name: stroke.times for name, stroke in strokes.items()})
        middle, longest = median(leaving), max(leaving)
        logger.info("SIGTERM until gone: %.2f s in the middle, %.2f s at most", middle, longest)
        later.wait()
        (key,) = keys
        count = check_restored(resources, key, tmp_path / "restored")
        logger.info("the back-up holds %s matches", count)
        assert count >= MATCHES / 2
        ladder_of_one_order(resources, MATCHES)
        assert served.doubled(finished_attempts(resources)) == {}
        check_everything(resources, MATCHES)
