"""A worker under a role of its own: it plays, and reads of people nothing but their names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from secrets import token_hex

import pytest
from click.testing import CliRunner
from sqlalchemy import create_engine, select, text
from sqlalchemy.exc import ProgrammingError

from cw.cli import main
from cw_hub.matches.jobs import Worker
from cw_hub.matches.planning import send_own
from cw_hub.operation.resources import Resources
from cw_hub.site import processes
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.store.database import Database
from cw_hub.store.models import Base, Match
from cw_hub.store.worker_role import HIDDEN, RIGHTS, statements
from hub.tests.competitions.rated.test_rated import Arena
from hub.tests.conftest import ON_POSTGRESQL, StillClock
from hub.tests.daily_hub import Hub
from hub.tests.ladder_hub import Tournament
from hub.tests.served_bots import serving_bots

WORKER = Worker("me", 1, MATCH_TYPES)


@pytest.fixture
def worker_url(postgresql_url: str) -> Iterator[str]:
    """The address of the database for a role that may be a worker."""
    role = f"cw_worker_{token_hex(4)}"
    engine = create_engine(postgresql_url.replace("postgresql:", "postgresql+psycopg:", 1))
    with engine.begin() as connection:
        connection.execute(text(f"CREATE ROLE {role} LOGIN"))
        for _ in range(2):
            for statement in statements(role):
                connection.execute(text(statement))
    yield postgresql_url.replace("postgres@", f"{role}@")
    with engine.begin() as connection:
        connection.execute(text(f"DROP OWNED BY {role}"))
        connection.execute(text(f"DROP ROLE {role}"))
    engine.dispose()


@pytest.fixture
def worker(resources: Resources, worker_url: str) -> Iterator[Resources]:
    """What a worker holds on the same site."""
    with closing(Database(worker_url, clock=resources.clock)) as database:
        yield replace(resources, database=database)


def states(resources: Resources) -> set[str]:
    with resources.database.reading() as session:
        return set(session.scalars(select(Match.state)))


@pytest.mark.thorough
@ON_POSTGRESQL
def test_rated_matches_are_played_and_rated(
    resources: Resources, worker: Resources, hub_clock: StillClock
) -> None:
    arena = Arena(resources, hub_clock, options={"max_turns": 5})
    arena.plan()
    for match in arena.queued():
        WORKER.play(worker, match)
    assert states(resources) == {"done"}
    assert arena.differences() == []


@pytest.mark.thorough
@ON_POSTGRESQL
def test_daily_games_are_played(resources: Resources, worker: Resources) -> None:
    hub = Hub(resources)
    with serving_bots() as bots:
        for name in ("ann", "bob"):
            hub.player(name, bots.at(name))
        hub.begin()
        WORKER.play(worker, hub.games()[-1].id)
    (game,) = hub.games()
    assert game.state == "done"
    assert sorted(seat.rank or 0 for seat in hub.seats()) in ([1, 1], [1, 2])


@pytest.mark.thorough
@ON_POSTGRESQL
def test_rounds_of_a_tournament_are_played_and_closed(
    resources: Resources, worker: Resources
) -> None:
    teams = dict.fromkeys(("ann", "bob", "cid"), "random")
    tournament = Tournament(resources, {"all": teams}, {"round_every": 60})
    tournament.happens("start")
    working = replace(worker, queue=tournament.queue)
    for _ in range(3):
        send_own(working, MATCH_TYPES.sendings)
        WORKER.play(working, tournament.queue.matches.pop(0))
    assert {match.state for match in tournament.matches(1)} == {"done"}
    assert [row.closed_at is not None for row in tournament.rounds("all")] == [True]


@pytest.mark.thorough
@ON_POSTGRESQL
def test_a_worker_says_that_it_lives_and_leaves(resources: Resources, worker: Resources) -> None:
    processes.see(worker, WORKER)
    WORKER.leave(worker)


@pytest.mark.thorough
@ON_POSTGRESQL
@pytest.mark.parametrize(
    "query",
    [
        "SELECT email FROM users",
        "SELECT password_hash FROM users",
        "SELECT * FROM users",
        "SELECT digest FROM tickets",
        "SELECT 1 FROM friends",
        "SELECT 1 FROM audit",
        "UPDATE users SET role = 'admin'",
        "UPDATE bots SET endpoint = ''",
        "DELETE FROM matches",
        "INSERT INTO tickets (digest) VALUES ('x')",
        "CREATE TABLE mine (id int)",
    ],
)
def test_a_worker_reads_no_mail_and_no_session(worker: Resources, query: str) -> None:
    with worker.database.engine.connect() as connection, pytest.raises(ProgrammingError) as refused:
        connection.execute(text(query))
    assert "permission denied" in str(refused.value)


def test_each_table_is_one_that_workers_need_or_see_nothing_of() -> None:
    tables = {*Base.metadata.tables, "alembic_version"}
    assert set(RIGHTS) | HIDDEN == tables, "say in worker_role.py what a worker may do there"
    assert not set(RIGHTS) & HIDDEN


def test_the_command_prints_what_psql_takes() -> None:
    printed = CliRunner().invoke(main, ["hub", "db", "worker-role", "cw_worker"])
    lines = printed.output.splitlines()
    assert (lines[0], lines[-1]) == ("BEGIN;", "COMMIT;")
    assert lines[1:-1] == [f"{statement};" for statement in statements("cw_worker")]
    assert "GRANT SELECT (id, username, locked_at, deleted_at) ON users TO cw_worker;" in lines
    refused = CliRunner().invoke(main, ["hub", "db", "worker-role", "x; DROP TABLE users"])
    assert refused.exit_code != 0
    assert "lower-case letters" in refused.output
