"""A PostgreSQL that hangs: who asks it gives up in time, and most are told so at once."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, OperationalError

from cw.hub.operation.resources import opened
from cw.hub.operation.settings import HubSettings
from cw.hub.store import patience
from cw.hub.store.database import Database, is_away
from cw.hub.store.migrations import upgrade
from cw.hub.store.patience import Outage, waiting
from tests.conftest import FakeClock
from tests.hub.conftest import StillClock
from tests.hub.services import PostgreSQL
from tests.hub.sites import HeldQueue, Site, Visitor, site_on, words_of


def test_of_all_who_ask_what_hangs_one_tries_after_each_pause() -> None:
    clock = FakeClock()
    outage = Outage(clock)
    outage.refuse()
    outage.begin()
    for _ in range(2):
        with pytest.raises(psycopg.OperationalError):
            outage.refuse()
        clock.advance(patience.PAUSE)
        outage.refuse()
    with pytest.raises(psycopg.OperationalError):
        outage.refuse()
    outage.end()
    outage.refuse()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgreSQL]:
    """A PostgreSQL of our own, with the tables of a hub."""
    server = PostgreSQL(tmp_path_factory.mktemp("postgresql") / "log")
    server.start()
    with closing(Database(server.url)) as database:
        upgrade(database)
    yield server
    server.remove()


@contextmanager
def hanging(server: PostgreSQL) -> Iterator[None]:
    """Stop all processes of a server while the block runs."""
    send(server, signal.SIGSTOP)
    try:
        yield
    finally:
        send(server, signal.SIGCONT)


def send(server: PostgreSQL, number: int) -> None:
    first = int((server.folder / "postmaster.pid").read_text().splitlines()[0])
    children = subprocess.run(
        ["ps", "--ppid", str(first), "-o", "pid="], capture_output=True, text=True, check=True
    )
    for pid in (first, *map(int, children.stdout.split())):
        subprocess.run(["kill", f"-{number}", str(pid)], check=False)


@pytest.mark.thorough
def test_a_statement_is_given_up_after_the_time_of_who_asks(server: PostgreSQL) -> None:
    with closing(Database(server.url)) as database:
        database.now()
        with hanging(server), waiting(0.5):
            began = time.monotonic()
            with pytest.raises(OperationalError) as refusal:
                database.now()
            assert is_away(refusal.value)
            # Who comes now waits for nothing.
            first = time.monotonic() - began
            with pytest.raises(OperationalError, match="just now"):
                database.now()
            assert time.monotonic() - began < 2 * first + 1
        with waiting(None):
            wait_for(database)
            assert database.now() is not None


def wait_for(database: Database) -> None:
    """Ask a database until it answers again."""
    until = time.monotonic() + 600
    while time.monotonic() < until:
        try:
            database.now()
        except DBAPIError:
            time.sleep(0.05)
        else:
            return
    pytest.fail("the database does not answer again")


@pytest.mark.thorough
def test_a_server_that_works_gives_up_by_itself_and_counts_as_well(server: PostgreSQL) -> None:
    with closing(Database(server.url)) as database, waiting(1.0):
        with database.reading() as session, pytest.raises(OperationalError, match="timeout"):
            session.execute(text("SELECT pg_sleep(60)"))
        with database.writing() as one:
            one.execute(text("LOCK TABLE users"))
            with database.writing() as two, pytest.raises(OperationalError, match="lock timeout"):
                two.execute(text("LOCK TABLE users"))
        assert database.now() is not None
        # The next transaction of the connection has the time of its own.
        with waiting(None), database.reading() as session:
            assert session.scalar(text("SHOW statement_timeout")) == "0"


@pytest.fixture
def site_of_server(server: PostgreSQL, tmp_path: Path, hub_clock: StillClock) -> Iterator[Site]:
    settings = HubSettings(
        data=tmp_path,
        database_url=server.url,
        master_keys="k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
        secret_key="0" * 64,
    )
    with (
        opened(settings, HeldQueue(), hub_clock) as resources,
        site_on(resources, hub_clock) as one,
    ):
        yield one


@pytest.mark.thorough
def test_pages_say_so_in_words_and_files_are_given_out_while_it_hangs(
    server: PostgreSQL, site_of_server: Site
) -> None:
    site = site_of_server
    player = site.player("Ada")
    paths = ["/", "/matches", "/ranking", "/settings", "/t/", "/leaderboard"] * 5

    def ask(path: str) -> tuple[int, float, str]:
        visitor = Visitor(site.address)
        visitor.cookies.update(player.cookies)
        began = time.monotonic()
        answer = visitor.open(path)
        return answer.status_code, time.monotonic() - began, words_of(answer)

    with hanging(server), ThreadPoolExecutor(len(paths)) as many:
        futures = [many.submit(ask, path) for path in paths]
        quick = [ask(path) for path in ("/health", "/static/hub/lists.css") * 10]
        answers = [one.result() for one in futures]
    assert {status for status, _, _ in quick} == {200}
    assert max(seconds for _, seconds, _ in quick) < 2
    assert {status for status, _, _ in answers} == {503}
    assert all("cannot reach its store" in words for _, _, words in answers)
    assert max(seconds for _, seconds, _ in answers) < 8
    with waiting(None):
        wait_for(site.resources.database)
    assert {ask(path)[0] for path in paths} == {200}
