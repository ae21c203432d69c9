"""A PostgreSQL that hangs: who asks it gives up in time, and most are told so at once."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from unittest.mock import patch

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, OperationalError

from cw_hub.operation.resources import opened
from cw_hub.operation.settings import HubSettings
from cw_hub.pages import request
from cw_hub.store import database as store_database
from cw_hub.store.database import Database, Outage, is_away, waiting
from cw_hub.store.migrations import upgrade
from hub.tests.conftest import StillClock
from hub.tests.services import PostgreSQL
from hub.tests.sites import HeldQueue, Site, Visitor, site_on, words_of
from tests.fixtures import FakeClock


def test_of_all_who_ask_what_hangs_one_tries_after_each_pause() -> None:
    clock = FakeClock()
    outage = Outage(clock)
    outage.refuse()
    outage.begin()
    for _ in range(2):
        with pytest.raises(psycopg.OperationalError):
            outage.refuse()
        clock.advance(store_database.PAUSE)
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
def test_a_statement_is_given_up_after_the_time_of_who_asks(
    server: PostgreSQL, monkeypatch: pytest.MonkeyPatch, clock: FakeClock
) -> None:
    monkeypatch.setattr(store_database, "Outage", lambda: Outage(clock))
    with closing(Database(server.url)) as database:
        with database.reading() as session:
            session.execute(text("SELECT 1"))
            with hanging(server):
                with (
                    waiting(0.5),
                    pytest.raises(OperationalError, match=r"within 0\.5 s") as refusal,
                ):
                    session.execute(text("SELECT 1"))
                assert is_away(refusal.value)
                # Who comes now is not let through to it, and waits for nothing.
                with waiting(None), pytest.raises(OperationalError, match="just now"):
                    database.now()
        with waiting(None):
            wait_for(database, lambda: clock.advance(store_database.PAUSE))
            assert database.now() is not None


def wait_for(database: Database, pause: Callable[[], object] = lambda: time.sleep(0.05)) -> None:
    """Ask a database until it answers again, with a pause before each question."""
    until = time.monotonic() + 600
    while time.monotonic() < until:
        pause()
        try:
            database.now()
        except DBAPIError:
            continue
        return
    pytest.fail("the database does not answer again")


@contextmanager
def soon(part: str) -> Iterator[None]:
    """Let a server that still works give up at once, long before those who wait for it."""
    assert getattr(store_database, part) < 1
    with patch.object(store_database, part, 0.01), waiting(60.0):
        yield


@pytest.mark.thorough
def test_a_server_that_works_gives_up_by_itself_and_counts_as_well(server: PostgreSQL) -> None:
    with closing(Database(server.url)) as database:
        with (
            soon("STATEMENT"),
            database.reading() as session,
            pytest.raises(OperationalError, match="statement timeout"),
        ):
            session.execute(text("SELECT pg_sleep(600)"))
        with database.writing() as one:
            one.execute(text("LOCK TABLE users"))
            with (
                soon("LOCK"),
                database.writing() as two,
                pytest.raises(OperationalError, match="lock timeout"),
            ):
                two.execute(text("LOCK TABLE users"))
        assert database.now() is not None
        # The next transaction of the connection has the time of its own.
        with waiting(None), database.reading() as session:
            assert session.scalar(text("SHOW statement_timeout")) == "0"


SECONDS = 15
"""For which pages wait here: within them, a busy machine answers what asks no database."""


@pytest.fixture
def site_of_server(
    server: PostgreSQL, tmp_path: Path, hub_clock: StillClock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Site]:
    monkeypatch.setattr(request, "FOR_PAGES", float(SECONDS))
    monkeypatch.setattr(store_database, "CONNECTING", SECONDS)
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
        assert not any(one.done() for one in futures)
        answers = [one.result() for one in futures]
    assert {status for status, _, _ in quick} == {200}
    assert {status for status, _, _ in answers} == {503}
    assert all("cannot reach its storage" in words for _, _, words in answers)
    # None of them waits a second time.
    assert max(seconds for _, seconds, _ in answers) < 2 * SECONDS
    with waiting(None):
        wait_for(site.resources.database)
    assert {ask(path)[0] for path in paths} == {200}
