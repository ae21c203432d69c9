"""Tables and revisions, on SQLite and on PostgreSQL."""

from __future__ import annotations

import os
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from sqlalchemy import delete, func, inspect, select, text, update
from sqlalchemy.exc import DBAPIError, IntegrityError

from cw.errors import UsageError
from cw_hub.store.database import LOST_SERVER, Database
from cw_hub.store.migrations import current, differences, head, prepare, upgrade
from cw_hub.store.models import Audit, Base, Bot, Friend, Group, Round, Ticket, User
from cw_hub.store.models import Competition as Contest
from hub.tests.services import new_postgresql

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def user(name: str) -> User:
    return User(username=name, username_key=name.casefold(), created_at=NOON)


def test_the_revisions_lead_to_the_tables(empty_url: str) -> None:
    with closing(Database(empty_url)) as database:
        assert current(database) is None
        upgrade(database)
        assert current(database) == head()
        assert differences(database) == []
        assert {*Base.metadata.tables} == {*inspect(database.engine).get_table_names()} - {
            "alembic_version"
        }
        upgrade(database)


def test_a_table_that_no_revision_knows_is_seen(database: Database) -> None:
    with database.writing() as session:
        session.execute(text("ALTER TABLE users ADD COLUMN shoe_size INTEGER"))
    assert differences(database)


def test_two_upgrades_at_once_make_one(empty_url: str) -> None:
    with closing(Database(empty_url)) as one, closing(Database(empty_url)) as other:
        with ThreadPoolExecutor() as threads:
            list(threads.map(upgrade, (one, other)))
        assert differences(one) == []


def test_all_who_open_a_new_file_at_once_get_it(tmp_path: Path) -> None:
    def opened(database: Database) -> str:
        with closing(database), database.reading() as session:
            return str(session.execute(text("PRAGMA journal_mode")).scalar_one())

    with ThreadPoolExecutor(4) as threads:
        for turn in range(100):
            url = f"sqlite:///{tmp_path}/{turn}.sqlite"
            modes = threads.map(opened, [Database(url) for _ in range(4)])
            assert [*modes] == ["wal"] * 4


def test_a_file_is_upgraded_at_start_after_a_copy_of_it(tmp_path: Path) -> None:
    path = tmp_path / "hub.sqlite"
    with closing(Database(f"sqlite:///{path}")) as database:
        prepare(database)
        assert [*tmp_path.glob("*.0*")] == []
        with database.writing() as session:
            session.add(user("ann"))
            session.execute(text("UPDATE alembic_version SET version_num = '0000'"))
        with pytest.raises(Exception, match="0000"):
            prepare(database)
    with closing(Database(f"sqlite:///{path}.0000")) as copy, copy.reading() as session:
        assert session.scalar(select(User.username)) == "ann"


@pytest.mark.thorough
def test_another_database_that_is_not_at_our_revision_is_refused() -> None:
    message = f"at nothing, this program needs {head()}: cw hub db"
    with new_postgresql() as url, closing(Database(url)) as database:
        with pytest.raises(UsageError, match=message):
            prepare(database)
        upgrade(database)
        prepare(database)


def test_what_a_verb_began_and_did_not_end_is_not_there(database: Database) -> None:
    def begin() -> None:
        with database.writing() as session:
            session.add(user("ann"))
            session.flush()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        begin()
    with database.reading() as session:
        assert session.scalars(select(User)).all() == []


def test_ids_of_users_are_never_used_again(database: Database) -> None:
    with database.writing() as session:
        session.add_all([user("ann"), user("bob")])
    with database.writing() as session:
        last = session.scalar(select(func.max(User.id)))
        session.execute(delete(User).where(User.id == last))
    with database.writing() as session:
        session.add(user("bob"))
        session.flush()
        newest = session.scalar(select(func.max(User.id)))
    assert last is not None
    assert newest is not None
    assert newest > last


def test_a_name_is_taken_once(database: Database) -> None:
    with database.writing() as session:
        session.add(user("ann"))
    with pytest.raises(IntegrityError), database.writing() as session:
        session.add(user("ann"))


def test_what_belongs_to_a_user_goes_with_it(database: Database) -> None:
    with database.writing() as session:
        ann, bob = user("ann"), user("bob")
        session.add_all([ann, bob])
        session.flush()
        session.add(Friend(user_id=bob.id, friend_id=ann.id, created_at=NOON))
        session.add(
            Ticket(
                digest="a" * 64, kind="session", user_id=ann.id, created_at=NOON, expires_at=NOON
            )
        )
    with database.writing() as session:
        session.execute(delete(User).where(User.username == "ann"))
    with database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Friend)) == 0
        assert session.scalar(select(func.count()).select_from(Ticket)) == 0


def test_moments_come_back_as_they_went_in_utc(database: Database) -> None:
    east = datetime(2026, 11, 20, 13, 0, 0, 123456, tzinfo=timezone(timedelta(hours=1)))
    with database.writing() as session:
        session.add(User(created_at=east))
    with database.reading() as session:
        moment = session.scalar(select(User.created_at))
        assert moment == east
        assert moment is not None
        assert moment.utcoffset() == timedelta(0)
        assert session.scalar(select(User.id).where(User.created_at <= east)) is not None
        assert session.scalar(select(User.id).where(User.created_at < east)) is None


def test_a_moment_without_a_zone_is_refused(database: Database) -> None:
    with pytest.raises(Exception, match="has no time zone"), database.writing() as session:
        session.add(User(created_at=datetime(2026, 11, 20)))


def test_a_bot_has_exactly_one_owner(database: Database) -> None:
    bot = {"bot_id": "b_00000001", "game": "hexagon", "name": "x", "name_key": "x"}
    with pytest.raises(IntegrityError), database.writing() as session:
        session.add(Bot(**bot, kind="url", endpoint="", created_at=NOON))


def test_a_group_has_one_open_round(database: Database) -> None:
    with database.writing() as session:
        contest = Contest(
            slug="x", game="hexagon", format="tournament", title="X", seed=2**62, created_at=NOON
        )
        session.add(contest)
        session.flush()
        group = Group(competition_id=contest.id, slug="a", name="A", kind="public")
        session.add(group)
        session.flush()
        about = {"group_id": group.id, "board": {}, "seed": 1, "positions": [], "opened_at": NOON}
        session.add(Round(number=1, closed_at=NOON, **about))
        session.add(Round(number=2, **about))
    with pytest.raises(IntegrityError), database.writing() as session:
        session.add(Round(number=3, **about))


def test_the_audit_is_never_changed(database: Database) -> None:
    with database.writing() as session:
        session.add(Audit(at=NOON, actor="ann", net="", verb="lock", object="user:2"))
    for change in (update(Audit).values(actor="bob"), delete(Audit)):
        with pytest.raises(DBAPIError, match="never changed"), database.writing() as session:
            session.execute(change)


@pytest.mark.thorough
@pytest.mark.parametrize(("patience", "seconds"), [(None, LOST_SERVER), (2, 2)])
def test_a_server_whose_machine_vanishes_is_given_up(
    postgresql_url: str, patience: int | None, seconds: int
) -> None:
    options = {
        "TCP_USER_TIMEOUT": seconds * 1000,
        "TCP_KEEPIDLE": seconds,
        "TCP_KEEPINTVL": max(1, seconds // 3),
        "TCP_KEEPCNT": 3,
    }
    with closing(Database(postgresql_url, patience)) as database, database.reading() as session:
        driver = session.connection().connection.driver_connection
        assert driver is not None
        with socket.socket(fileno=os.dup(driver.fileno())) as wire:
            assert wire.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
            for name, value in options.items():
                assert wire.getsockopt(socket.IPPROTO_TCP, getattr(socket, name)) == value, name


def test_writers_wait_for_each_other(database: Database) -> None:
    """Each reads before it writes: what would be a deadlock if the lock were taken late."""
    with database.writing() as session:
        session.add(user("ann"))
        session.flush()
        session.execute(update(User).values(github_id=0))

    def count_up(_: int) -> None:
        with database.writing() as session:
            ann = session.scalars(select(User).with_for_update()).one()
            ann.github_id = (ann.github_id or 0) + 1

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(count_up, range(40)))
    with database.reading() as session:
        assert session.scalar(select(User.github_id)) == 40
