"""The disk of PostgreSQL is full while a hub plays: nothing is lost, and it goes on by itself."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from tempfile import mkdtemp

import pytest
import requests
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

from cw_hub.operation.doctor import examine
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import Resources, opened
from cw_hub.operation.settings import HubSettings, read_settings
from cw_hub.store.database import Database
from cw_hub.store.migrations import upgrade
from hub.tests.campaign import (
    Role,
    check_everything,
    is_done,
    on_services,
    plan_matches,
    roles,
    wait_until,
)
from hub.tests.disks import filled, mounted
from hub.tests.services import PostgreSQL, is_open, new_redis

MATCHES = 40

FULL = "No space left on device"


@pytest.fixture
def disk() -> Iterator[Path]:
    """Mount a small disk."""
    folder = Path(mkdtemp(prefix="cw-disk-"))
    with ExitStack() as stack:
        stack.callback(folder.rmdir)
        try:
            stack.enter_context(mounted(folder, "256m"))
        except subprocess.CalledProcessError:
            pytest.skip("no disk can be mounted here")
        yield folder


@pytest.fixture
def postgresql(tmp_path: Path, disk: Path) -> Iterator[PostgreSQL]:
    """Start a server on a disk of its own."""
    server = PostgreSQL(tmp_path / "postgresql.log", folder=disk)
    with (disk / "postgresql.conf").open("a") as settings:
        settings.write("max_wal_size = 64MB\nmin_wal_size = 32MB\n")
    server.start()
    try:
        with closing(Database(server.url)) as fresh:
            upgrade(fresh)
        yield server
    finally:
        with suppress(subprocess.CalledProcessError):
            server.kill()


def use_up_the_log(server: PostgreSQL) -> None:
    """Let the server begin new files of its log until it cannot, which ends it."""
    engine = create_engine(server.url.replace("postgresql:", "postgresql+psycopg:", 1))
    with suppress(DBAPIError), engine.connect() as connection:
        while True:
            connection.execute(text("SELECT txid_current()"))
            connection.execute(text("SELECT pg_switch_wal()"))
            connection.commit()
    engine.dispose()


def suffer(settings: HubSettings, resources: Resources, log: Path, server: PostgreSQL) -> None:
    """Fill the disk while matches are played, until the server ends; then make room again."""
    wait_until(lambda: "Hub: " in log.read_text(), "a page server")
    address = log.read_text().rpartition("Hub: ")[2].partition('/"')[0]
    with filled(server.folder):
        # Pages of tables may have room for some more.
        wait_until(
            lambda: FULL in log.read_text() or is_done(resources, MATCHES), "a row without room"
        )
        (finding,) = (one for one in examine(settings) if one.name == "writing")
        assert str(finding).startswith("to do  writing")
        assert FULL in finding.found
        assert "make room on the disk of the database" in finding.advice
        assert requests.get(f"{address}/matches", timeout=60).status_code == 200
        use_up_the_log(server)
        wait_until(lambda: not is_open(server.port), "the end of the server")
        assert requests.get(f"{address}/health", timeout=60).status_code == 200
        # With a cookie, no page is shown that was made for another visitor.
        away = requests.get(f"{address}/matches", cookies={"theme": "dark"}, timeout=60)
        assert away.status_code == 503
        assert "The site cannot reach its storage." in away.text
    # As what watches over the server does.
    server.start()


@pytest.mark.thorough
def test_a_full_disk_of_postgresql_loses_and_doubles_nothing(
    tmp_path: Path, postgresql: PostgreSQL
) -> None:
    with new_redis(tmp_path) as broker:
        environment = on_services(tmp_path / "data", postgresql.url, broker)
        settings, log = read_settings(environment), tmp_path / "log"
        with opened(settings, CeleryQueue(settings)) as resources:
            plan_matches(resources, MATCHES)
            with roles(Role(["serve", "--port", "0"], environment, log)):
                wait_until(lambda: is_done(resources, 3), "the first matches")
                suffer(settings, resources, log, postgresql)
                wait_until(lambda: is_done(resources, MATCHES), "the end")
            (finding,) = (one for one in examine(settings) if one.name == "writing")
            assert finding.ok
            check_everything(resources, MATCHES)
