"""Hubs to try: on both databases, by a clock that stands still."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

import pytest

from cw_hub.accounts import avatars
from cw_hub.operation import doctor, shared
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import Resources, opened
from cw_hub.operation.settings import HubSettings
from cw_hub.pages import request as pages_request
from cw_hub.players import players as players_players
from cw_hub.players.players import Players
from cw_hub.site import monitoring
from cw_hub.store import database as store_database
from cw_hub.store import migrations, objects, replica
from cw_hub.store.database import Database
from cw_hub.store.migrations import upgrade
from hub.tests import services, statements
from hub.tests.patience import PLAYER
from hub.tests.services import Swift, empty_postgresql, new_postgresql, new_swift
from hub.tests.sites import Site, site_on

statements.compile_once()

COMMANDS = (players_players.COMMAND, PLAYER)
"""What starts players: by the limits of the rules, and by those of tests."""


class StillClock:
    """A clock that stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 20, 18, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let no test of the fast suite need a service."""
    services.permit(item.get_closest_marker("thorough") is not None)


BOTH_DATABASES = ("sqlite", pytest.param("postgresql", marks=pytest.mark.thorough))

ON_SQLITE = pytest.mark.on_databases("sqlite")
"""For tests of pages: what they ask of the database, other tests ask of PostgreSQL too."""

ON_POSTGRESQL = pytest.mark.on_databases(BOTH_DATABASES[1])

ON_BOTH = pytest.mark.on_databases(*BOTH_DATABASES)
"""For those among them that alone ask something; elsewhere it is the rule."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test on the databases of its mark, on both without one."""
    if "database_kind" in metafunc.fixturenames:
        mark = metafunc.definition.get_closest_marker("on_databases") or ON_BOTH.mark
        metafunc.parametrize("database_kind", mark.args)


@pytest.fixture
def hub_clock() -> StillClock:
    return StillClock()


@pytest.fixture(params=BOTH_DATABASES)
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a database without tables, of either kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'hub.sqlite'}"
    else:
        with new_postgresql() as url:
            yield url


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with all tables and no rows, to copy."""
    file = tmp_path_factory.mktemp("sqlite") / "hub.sqlite"
    with closing(Database(f"sqlite:///{file}")) as database:
        upgrade(database)
    return file


@pytest.fixture(scope="session")
def migrated_postgresql() -> Iterator[str]:
    """The address of a database with all tables, for one test after the other."""
    with new_postgresql() as url:
        with closing(Database(url)) as database:
            upgrade(database)
        yield url


@pytest.fixture
def postgresql_url(migrated_postgresql: str) -> str:
    """The address of a PostgreSQL database with all tables and no rows."""
    empty_postgresql(migrated_postgresql)
    return migrated_postgresql


@pytest.fixture
def database_url(request: pytest.FixtureRequest, tmp_path: Path, database_kind: str) -> str:
    """The address of a database with all tables and no rows, of either kind."""
    if database_kind == "postgresql":
        url: str = request.getfixturevalue("postgresql_url")
        return url
    file = shutil.copy(request.getfixturevalue("migrated_sqlite"), tmp_path / "hub.sqlite")
    return f"sqlite:///{file}"


@pytest.fixture
def database(database_url: str, hub_clock: StillClock) -> Iterator[Database]:
    with closing(Database(database_url, clock=hub_clock)) as database:
        yield database


@pytest.fixture(scope="session")
def swift(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Swift]:
    """An S3 server for all tests that only store in it; each has a bucket of its own."""
    with new_swift(tmp_path_factory.mktemp("swift")) as swift:
        yield swift


@pytest.fixture
def bucket(swift: Swift, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty bucket, which this process can open."""
    for name, value in swift.environment.items():
        monkeypatch.setenv(name, value)
    return swift.new_bucket()


@pytest.fixture(autouse=True)
def patience(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process needs has a minute to answer, as the machine of the tests may be slow.

    It is asked each time, as tests do not wait. A picture may be read for five minutes. Players,
    which are programs of their own, give bots the time that `_patience` gives them here.
    """
    if request.node.get_closest_marker("limits_of_the_rules") is None:
        monkeypatch.setattr(players_players, "COMMAND", PLAYER)
    monkeypatch.setattr(avatars, "LONGEST", 300.0)
    monkeypatch.setattr(monitoring, "PATIENCE", 60.0)
    monkeypatch.setattr(monitoring, "READY_FRESH", 0.0)
    monkeypatch.setattr(pages_request, "FOR_PAGES", 60.0)
    monkeypatch.setattr(store_database, "CONNECTING", 60)
    monkeypatch.setattr(store_database, "BUSY", 60_000)
    monkeypatch.setattr(objects, "PATIENCE", "60s")
    for module in (replica, doctor):
        monkeypatch.setattr(module, "PATIENCE", 60)
    for of_redis in (shared.PATIENCE, shared.PATIENCE):
        for name in of_redis:
            monkeypatch.setitem(of_redis, name, 60)


@pytest.fixture(scope="session")
def all_players() -> Iterator[Mapping[Sequence[str], Players]]:
    """Processes that play, by the command that starts them, for one test after the other.

    Starting one takes most of a second.
    """
    with ExitStack() as stack:
        yield {command: stack.enter_context(closing(Players())) for command in COMMANDS}


@pytest.fixture
def players(all_players: Mapping[Sequence[str], Players]) -> Players:
    """Processes that play by the limits of the test."""
    return all_players[players_players.COMMAND]


@pytest.fixture
def resources(
    database_url: str, tmp_path: Path, hub_clock: StillClock, players: Players
) -> Iterator[Resources]:
    """What a process of a hub holds, on either database."""
    settings = HubSettings(
        data=tmp_path / "data",
        database_url=database_url,
        master_keys="k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
        secret_key="0" * 64,
        # Its pages are the same on a machine without bubblewrap; tests that run programs need that.
        hosting="sandboxed",
    )
    with ExitStack() as stack:
        # That the tables are there need not be asked again for each test.
        with patch.object(migrations, "demand_tables"):
            resources = stack.enter_context(opened(settings, CeleryQueue(settings), hub_clock))
        yield replace(resources, players=players)


@pytest.fixture
def site(resources: Resources, hub_clock: StillClock) -> Iterator[Site]:
    """A hub that people visit."""
    with site_on(resources, hub_clock) as site:
        yield site
