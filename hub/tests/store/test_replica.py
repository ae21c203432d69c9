"""A read replica: who is shown what it has, and who what the database has; both PostgreSQL."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp

import pytest
from sqlalchemy import create_engine, select, text, update
from sqlalchemy.exc import DBAPIError

from cw.errors import UsageError
from cw_hub.competitions.rated import service as rated_service
from cw_hub.matches import planning
from cw_hub.matches.planning import Plan, Seat
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import Resources, opened
from cw_hub.operation.settings import HubSettings, read_settings
from cw_hub.store.database import Database
from cw_hub.store.migrations import upgrade
from cw_hub.store.models import Competition, User
from cw_hub.store.replica import PAUSE, Replica
from hub.tests.campaign import wait_until
from hub.tests.conftest import StillClock
from hub.tests.program import program_of
from hub.tests.services import (
    END_CONNECTIONS,
    SERVER,
    PostgreSQL,
    is_open,
    new_postgresql,
)
from hub.tests.sites import Site, Visitor, site_on
from hub.tests.test_deploy import DEPLOY
from tests.fixtures import FakeClock
from tests.ports import free_port

pytestmark = pytest.mark.thorough

KEY = "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="


@pytest.fixture(scope="module")
def copy_url() -> Iterator[str]:
    """A second database, which knows a user and a game that the first one does not."""
    with new_postgresql() as url:
        with closing(Database(url)) as copy:
            upgrade(copy)
            fill(copy, "Copied", "hexagon")
        yield url


def fill(database: Database, name: str, game: str) -> None:
    clock = StillClock()
    seats = (Seat("a", spec="builtin:random"), Seat("b", spec="builtin:greedy"))
    with database.writing() as session:
        session.add(User(username=name, username_key=name.lower(), created_at=clock()))
        rated_service.begin(session, game, game)
        session.execute(update(Competition).values(revision=len(game)))
        planning.plan(session, Plan("rated", f"of {name}", game, seats))


@contextmanager
def following(primary: PostgreSQL, log: Path) -> Iterator[str]:
    """Run a replica as hub/deploy/ starts it; gives its address."""
    port, folder = free_port(), Path(mkdtemp(prefix="cw-replica-"))
    if primary.user:
        shutil.chown(folder, "postgres")
    environment = os.environ | {
        "PATH": f"{primary.bin}:{os.environ['PATH']}",
        "PGDATA": str(folder),
        "PGHOST": "127.0.0.1",
        "PGPORT": str(primary.port),
        "PGUSER": "postgres",
        "PGPASSWORD": "of-the-replica",
    }
    options = ["-p", str(port), "-c", "listen_addresses=127.0.0.1"]
    options += ["-c", "unix_socket_directories="]
    command = [*primary.user, "sh", "-s", "--", *options]
    script = (DEPLOY / "replica.sh").open("rb")
    with script, log.open("wb") as output:
        process = subprocess.Popen(
            command, stdin=script, stdout=output, stderr=output, cwd=folder, env=environment
        )
    try:
        while not is_open(port):
            assert process.poll() is None, log.read_text()
            time.sleep(0.1)
        yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
    finally:
        # What runs it as another user would kill the first of its processes alone, after seconds.
        with suppress(subprocess.CalledProcessError):
            primary.run("pg_ctl", "-D", str(folder), "-m", "immediate", "stop")
        process.terminate()
        process.wait()
        shutil.rmtree(folder)


def test_the_replica_of_the_containers_follows_the_database(tmp_path: Path) -> None:
    primary = PostgreSQL(tmp_path / "primary.log")
    rules = primary.folder / "pg_hba.conf"
    # As the image has it, which knows nothing of replicas elsewhere.
    rules.write_text("host all all all trust\n")
    allowing = ["sh", str(DEPLOY / "replication.sh")]
    subprocess.run(allowing, check=True, env=os.environ | {"PGDATA": str(primary.folder)})
    primary.start()
    try:
        with closing(Database(primary.url)) as database:
            with database.engine.begin() as connection:
                connection.execute(text("ALTER ROLE postgres PASSWORD 'of-the-replica'"))
            upgrade(database)
            with following(primary, tmp_path / "replica.log") as url:
                fill(database, "Late", "hexagon")
                with closing(Database(url)) as copy:
                    wait_until(lambda: "Late" in names_in(copy), "the user")
                    with pytest.raises(DBAPIError), copy.writing() as session:
                        session.execute(update(User).values(username="x"))
    finally:
        primary.remove()


def names_in(database: Database) -> list[str | None]:
    """Return the users of a database, none while it starts."""
    try:
        with database.reading() as session:
            return list(session.scalars(select(User.username)))
    except DBAPIError:
        return []


@pytest.fixture
def both(
    tmp_path: Path, postgresql_url: str, copy_url: str, hub_clock: StillClock
) -> Iterator[Resources]:
    settings = HubSettings(
        data=tmp_path / "data",
        database_url=postgresql_url,
        database_read_url=copy_url,
        master_keys=KEY,
        secret_key="0" * 64,
    )
    with opened(settings, CeleryQueue(settings), hub_clock) as resources:
        fill(resources.database, "Written", "paint")
        yield resources


@pytest.fixture
def site(both: Resources, hub_clock: StillClock) -> Iterator[Site]:
    with site_on(both, hub_clock) as site:
        yield site


def source(visitor: Visitor, path: str) -> str:
    """Return which database a page was read from, by the game that stands on it."""
    # With a cookie, no page is shown that was made for another visitor.
    answer = visitor.open(path, cookies={"theme": "dark"})
    assert answer.status_code == 200, (path, answer.text)
    games = [game for game in ("hexagon", "paint") if f'value="{game}" selected' in answer.text]
    return {"hexagon": "copy", "paint": "database"}["".join(games)]


def knows(visitor: Visitor, name: str) -> bool:
    return visitor.open(f"/user/{name}").status_code == 200


def listed(visitor: Visitor, game: str) -> bool:
    """Return whether a match of a game stands in the list of matches."""
    return 'href="/match/m_' in visitor.open(f"/matches?game={game}").text


def test_visitors_read_the_copy_and_who_has_a_session_the_database(site: Site) -> None:
    visitor, ada = site.visitor(), site.player("Ada")
    assert source(visitor, "/leaderboard") == "copy"
    assert source(ada, "/leaderboard") == "database"
    assert listed(visitor, "hexagon")
    assert not listed(visitor, "paint")
    assert listed(ada, "paint")
    assert not listed(ada, "hexagon")
    assert knows(visitor, "Copied")
    assert not knows(visitor, "Written")
    assert not knows(ada, "Copied")
    assert knows(ada, "Ada")
    # A visitor who was given a form has a cookie, and may have written something with it.
    visitor.open("/login")
    assert source(visitor, "/leaderboard") == "database"


def test_who_shows_the_cookie_of_a_team_or_a_token_reads_the_database(site: Site) -> None:
    card = site.visitor()
    card.cookies.set("cw-team-cup", "anything")
    assert source(card, "/leaderboard") == "database"
    assert site.visitor().open("/api/v1/users/Copied").status_code == 200
    program = program_of(site, "Written", "read")
    assert program.read("/users/Written")["username"] == "Written"


def test_a_link_from_a_mail_is_looked_for_in_the_database(site: Site) -> None:
    site.player("Ada")
    site.visitor().fill("/forgot", username="Ada")
    site.do_jobs()
    assert site.visitor().open(site.link()).status_code == 200


def test_a_form_of_a_visitor_is_checked_against_the_database(site: Site) -> None:
    visitor = site.visitor()
    assert visitor.register("Written").status_code == 422
    assert visitor.register("Copied").status_code == 303


def test_what_the_copy_says_to_polls_is_not_told_to_others(site: Site) -> None:
    polled = "/leaderboard?format=json"
    tag = site.visitor().open(polled).headers["ETag"]
    again = {"If-None-Match": tag}
    assert site.visitor().open(polled, headers=again).status_code == 304
    assert site.player("Ada").open(polled, headers=again).status_code == 200


@contextmanager
def closed(url: str) -> Iterator[None]:
    """Let a server end the connections to a database, and take no others."""
    name = url.rpartition("/")[2]
    server = create_engine(f"{SERVER}/postgres", isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.execute(text(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false"))
        connection.execute(text(END_CONNECTIONS.replace("current_database()", f"'{name}'")))
        try:
            yield
        finally:
            connection.execute(text(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true"))
    server.dispose()


def test_while_the_copy_is_away_the_database_is_read(
    both: Resources, hub_clock: StillClock, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    copy = Replica(both.settings.database_read_url, both.database, clock)
    with closing(copy), site_on(replace(both, replica=copy), hub_clock) as site:
        visitor = site.visitor()
        assert source(visitor, "/leaderboard") == "copy"
        with closed(both.settings.database_read_url):
            assert source(visitor, "/leaderboard") == "database"
            assert visitor.open("/ready").text == "ready\n"
            clock.advance(PAUSE)
            assert source(visitor, "/leaderboard") == "database"
        assert caplog.text.count("the read replica cannot be reached") == 2
        clock.advance(PAUSE - 1)
        assert source(visitor, "/leaderboard") == "database"
        clock.advance(1)
        assert source(visitor, "/leaderboard") == "copy"


def test_a_copy_without_the_tables_of_this_program_is_not_read(
    both: Resources, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    with new_postgresql() as empty, closing(Replica(empty, both.database, clock)) as copy:
        for _ in range(2):
            with copy.reading() as session:
                assert session.get(User, 1) is not None
    assert caplog.text.count("it is at nothing, this program needs") == 1


def test_a_file_has_no_copy() -> None:
    with pytest.raises(UsageError, match="CW_DATABASE_READ_URL requires"):
        read_settings({"CW_DATABASE_READ_URL": "postgresql://h/d"})
