"""Hubs to try: on both databases, by a clock that stands still."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cw.hub.jobs.app import CeleryQueue
from cw.hub.resources import Resources, opened
from cw.hub.settings import HubSettings
from cw.hub.store.database import Database
from cw.hub.store.migrations import upgrade
from tests.hub.services import new_postgresql
from tests.hub.site import Site, site_on


class StillClock:
    """A clock that stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 20, 18, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def hub_clock() -> StillClock:
    return StillClock()


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a database without tables, of either kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'hub.sqlite'}"
    else:
        with new_postgresql() as url:
            yield url


@pytest.fixture(scope="session")
def migrated_postgresql() -> Iterator[str]:
    """The name of a database with all tables, to make others from."""
    with new_postgresql() as url:
        with closing(Database(url)) as database:
            upgrade(database)
        yield url.rpartition("/")[2]


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a database with all tables and no rows, of either kind."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'hub.sqlite'}"
        with closing(Database(url)) as database:
            upgrade(database)
        yield url
    else:
        with new_postgresql(request.getfixturevalue("migrated_postgresql")) as url:
            yield url


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with closing(Database(database_url)) as database:
        yield database


@pytest.fixture
def resources(database_url: str, tmp_path: Path, hub_clock: StillClock) -> Iterator[Resources]:
    """What a process of a hub holds, on either database."""
    settings = HubSettings(
        data=tmp_path / "data",
        database_url=database_url,
        master_keys="k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
        secret_key="0" * 64,
    )
    with opened(settings, CeleryQueue(settings), hub_clock) as resources:
        yield resources


@pytest.fixture
def site(resources: Resources, hub_clock: StillClock) -> Iterator[Site]:
    """A hub that people visit."""
    with site_on(resources, hub_clock) as site:
        yield site
