"""Backups: files that fill an empty database of either kind, or leave it empty."""

from __future__ import annotations

import gc
import gzip
import io
import json
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import IO, Any, Final

import pytest
from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Date,
    Float,
    Integer,
    LargeBinary,
    Table,
    func,
    inspect,
    select,
)

from cw.cli import main
from cw.errors import Failure, UsageError
from cw_hub.matches.results import queue_all
from cw_hub.operation import backups, heartbeats
from cw_hub.operation.resources import Resources
from cw_hub.store.database import Database
from cw_hub.store.migrations import current, head, upgrade
from cw_hub.store.models import Base, Match, Moment, User
from cw_hub.store.objects import ObjectStore
from hub.tests.conftest import ON_SQLITE, StillClock
from hub.tests.services import new_postgresql

NOW = datetime(2026, 11, 20, 18, 0, 0, 123456, tzinfo=UTC)
TABLES = Base.metadata.sorted_tables

WORDS: Final[dict[str, str]] = {
    "users.role": "admin",
    "mails.state": "waiting",
    "bots.kind": "url",
    "bots.status": "ACTIVE",
    "matches.kind": "rated",
    "matches.state": "done",
    "comparisons.state": "decided",
    "comparisons.decision": "stronger",
    "workshop_tasks.kind": "run",
    "workshop_tasks.state": "done",
}
"""What columns hold that do not take every word."""

NOTHING: Final = {"bots.team_id", "tickets.parent", "matches.sent_at", "rounds.closed_at"}
"""Columns that are null in the first row."""


def rows_of(table: Table) -> list[dict[str, Any]]:
    """Return two rows of a table; the second one has nothing where nothing may be."""
    first = {column.name: value_of(column, 1) for column in table.columns}
    second = {
        column.name: None if column.nullable else value_of(column, 2) for column in table.columns
    }
    if table.name == "bots":
        second["team_id"] = 1
    if table.name == "tickets":
        # In the order of their digests this one would come before what it refers to.
        second |= {"digest": "a", "parent": first["digest"]}
    return [first, second]


def value_of(column: Column[Any], number: int) -> Any:
    """Return a value that is easily spoilt on its way."""
    name = f"{column.table.name}.{column.name}"
    if name in NOTHING:
        return None
    if name in WORDS:
        return WORDS[name]
    if column.foreign_keys:
        target = next(iter(column.foreign_keys)).column
        return number if isinstance(target.type, Integer) else value_of(target, number)
    if column.primary_key and isinstance(column.type, Integer):
        return number
    values: dict[type, Any] = {
        Integer: 2**31 - number,
        Float: 1 / 3 + number,
        Boolean: number == 1,
        Moment: NOW + timedelta(microseconds=number),
        Date: date(1, 1, number),
        LargeBinary: bytes(range(256)),
        JSON: {"é\0'": [None, 1.0, 2**63, "\x7f"], "n": number},
    }
    values_of_kind = (value for kind, value in values.items() if isinstance(column.type, kind))
    return next(values_of_kind, f"é{number}")


def fill(database: Database) -> None:
    """Put two rows into each table."""
    with database.writing() as session:
        for table in TABLES:
            session.execute(table.insert(), rows_of(table))


def everything(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    """Return all rows of all tables."""
    with database.reading() as session:
        return {
            table.name: sorted(map(tuple, session.execute(select(table))), key=repr)
            for table in TABLES
        }


def backup_of(database: Database) -> bytes:
    """Return the file of a backup."""
    file = io.BytesIO()
    database.clock = lambda: NOW
    backups.write(database, file)
    return file.getvalue()


def lines_of(file: bytes) -> list[Any]:
    return [json.loads(line) for line in gzip.decompress(file).splitlines()]


def packed(lines: list[Any]) -> bytes:
    return gzip.compress(b"".join(json.dumps(line).encode() + b"\n" for line in lines))


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """A file of SQLite with rows in all tables."""
    path = tmp_path_factory.mktemp("full") / "hub.sqlite"
    with closing(Database(f"sqlite:///{path}")) as database:
        upgrade(database)
        fill(database)
        yield database


@pytest.fixture(scope="module")
def good(full: Database) -> bytes:
    return backup_of(full)


@pytest.mark.thorough
def test_rows_are_the_same_after_the_way_to_the_other_database_and_back(
    full: Database, good: bytes, tmp_path: Path
) -> None:
    assert all(len(rows) == 2 for rows in everything(full).values())
    back = Database(f"sqlite:///{tmp_path / 'back.sqlite'}")
    with new_postgresql() as url, closing(Database(url)) as there, closing(back):
        header = backups.restore(there, io.BytesIO(good), queue_all)
        assert header.rows == 2 * len(TABLES)
        assert current(there) == head()
        assert everything(there) == everything(full)
        on_postgresql = backup_of(there)
        assert gzip.decompress(on_postgresql) == gzip.decompress(good)
        backups.restore(back, io.BytesIO(on_postgresql), queue_all)
        assert everything(back) == everything(full)
        for database in (there, back):
            with database.writing() as session:
                session.add(User(created_at=NOW))
            with database.reading() as session:
                assert session.scalar(select(func.max(User.id))) == 3
        with pytest.raises(UsageError, match="into an empty database; in this one,"):
            backups.restore(there, io.BytesIO(good), queue_all)


def test_open_matches_are_queued(migrated_sqlite: Path, tmp_path: Path) -> None:
    file = tmp_path / "from.sqlite"
    file.write_bytes(migrated_sqlite.read_bytes())
    states = ("queued", "in_progress", "interrupted", "done", "void", "failed")
    with closing(Database(f"sqlite:///{file}")) as database:
        with database.writing() as session:
            for number, state in enumerate(states):
                about = {"match_id": f"m_{number}", "key": f"{number}", "kind": "practice"}
                more = {"game": "hexagon", "players": 2, "seed": 1, "at": NOW, "sent_at": NOW}
                session.add(Match(**about, **more, state=state, attempt=1, lease_until=NOW))
        data = backup_of(database)
    with closing(Database(f"sqlite:///{tmp_path / 'to.sqlite'}")) as database:
        backups.restore(database, io.BytesIO(data), queue_all)
        with database.reading() as session:
            matches = session.scalars(select(Match).order_by(Match.id)).all()
    assert [one.state for one in matches] == ["queued"] * 3 + ["done", "void", "failed"]
    assert [one.sent_at for one in matches[:3]] == [None] * 3
    assert [(one.lease_until, one.attempt, one.troubles) for one in matches[1:3]] == [
        (None, 1, 0)
    ] * 2


def at_table(name: str, lines: list[Any]) -> int:
    """Return the line of the first row of a table."""
    return 1 + sum(2 for one in list(lines[0]["tables"])[: list(lines[0]["tables"]).index(name)])


def with_line(number: int, change: Callable[[Any], Any]) -> Callable[[bytes], bytes]:
    def spoil(file: bytes) -> bytes:
        lines = lines_of(file)
        lines[number] = change(lines[number])
        return packed(lines)

    return spoil


def header_with(**more: Any) -> Callable[[bytes], bytes]:
    return with_line(0, lambda header: header | more)


def other_tables(change: Callable[[dict[str, Any]], object]) -> Callable[[bytes], bytes]:
    def spoil(file: bytes) -> bytes:
        lines = lines_of(file)
        change(lines[0]["tables"])
        return packed(lines)

    return spoil


def two_alike(file: bytes) -> bytes:
    lines = lines_of(file)
    at = at_table("users", lines)
    lines[at + 1] = lines[at]
    return packed(lines)


SPOILT: Final[dict[str, tuple[str, Callable[[bytes], bytes]]]] = {
    "empty": ("not a backup of a hub", lambda _: b""),
    "not packed": ("gzip cannot decompress it", lambda _: b"{}\n"),
    "cut": ("cut short", lambda file: file[:-9]),
    "cut at its half": ("cut short", lambda file: file[: len(file) // 2]),
    "a byte changed": (
        "damaged|cut short",
        lambda file: file[:-20] + bytes([file[-20] ^ 1]) + file[-19:],
    ),
    "no header": ("not a backup of a hub", with_line(0, lambda _: [1])),
    "deep": ("not a backup of a hub", lambda _: gzip.compress(b"[" * 1_000_000)),
    "one endless line": (
        "a line of",
        lambda _: gzip.compress(b" " * (backups.LONGEST + 5)),
    ),
    "a later version": ("not a backup of a hub", header_with(version=2)),
    "a later revision": ("it was made by a newer one", header_with(revision="9999")),
    "a revision that is an option": ("it was made by a newer one", header_with(revision="--sql")),
    "a row is missing": ("is missing", lambda file: packed(lines_of(file)[:-1])),
    "a row too many": ("continues", lambda file: packed([*lines_of(file), [1]])),
    "a row is none": ("is invalid", with_line(-1, lambda _: {"id": 1})),
    "a number too large": ("is invalid", with_line(1, lambda row: [2**70, *row[1:]])),
    "two rows alike": ("does not accept the backup", two_alike),
    "rows of nobody": ("does not accept", with_line(-1, lambda row: [99, *row[1:]])),
    "a table that is not ours": (
        "the tables of revision",
        other_tables(lambda tables: tables.update({'x"; DROP TABLE users; --': tables["users"]})),
    ),
    "a column of no kind": (
        "an unknown kind",
        other_tables(lambda tables: tables["maps"]["columns"].update(game="str")),
    ),
    "rows before what they name": (
        "is invalid|does not take",
        other_tables(lambda tables: tables.update(users=tables.pop("users"))),
    ),
}


@pytest.mark.parametrize("how", SPOILT)
def test_what_is_no_good_back_up_leaves_the_database_empty(
    how: str, good: bytes, tmp_path: Path
) -> None:
    message, spoil = SPOILT[how]
    with closing(Database(f"sqlite:///{tmp_path / 'hub.sqlite'}")) as database:
        with pytest.raises(UsageError, match=message) as refused:
            backups.restore(database, io.BytesIO(spoil(good)), queue_all)
        assert "\n" not in str(refused.value)
        assert inspect(database.engine).get_table_names() == []


@pytest.mark.thorough
def test_postgresql_is_left_empty_too(good: bytes) -> None:
    lines = lines_of(good)
    at = at_table("users", lines)
    name = list(lines[0]["tables"]["users"]["columns"]).index("display_name")
    lines[at][name] = "a longer name than anybody may have" * 2
    with new_postgresql() as url, closing(Database(url)) as database:
        with pytest.raises(UsageError, match="too long"):
            backups.restore(database, io.BytesIO(packed(lines)), queue_all)
        assert inspect(database.engine).get_table_names() == []


def test_a_back_up_of_a_moment_holds_no_later_row(database: Database, tmp_path: Path) -> None:
    """While it is written others write: each table says as many rows as its header."""
    with database.writing() as session:
        session.add(User(username="ann", username_key="ann", created_at=NOW))

    def later() -> datetime:
        with database.writing() as session:
            session.add(User(username="bob", username_key="bob", created_at=NOW))
        return NOW

    file = io.BytesIO()
    database.clock = later
    assert backups.write(database, file).rows == 1
    with closing(Database(f"sqlite:///{tmp_path / 'to.sqlite'}")) as to:
        backups.restore(to, io.BytesIO(file.getvalue()), queue_all)
        with to.reading() as session:
            assert session.scalars(select(User.username)).all() == ["ann"]


def test_fourteen_days_and_eight_weeks_are_kept(
    resources: Resources, hub_clock: StillClock
) -> None:
    days = [datetime(2026, 1, 1, 3, 30, tzinfo=UTC) + timedelta(days=n) for n in range(100)]
    remainder: set[str] = set()
    for day in days:
        remainder.add(backups.key_of(day))
        remainder -= set(backups.superseded(remainder))
    last = {days[-1] - timedelta(days=ago) for ago in range(14)}
    sundays = {datetime(2026, 4, 5, 3, 30, tzinfo=UTC) - timedelta(weeks=n) for n in range(7)}
    assert remainder == {backups.key_of(day) for day in last | sundays}
    for day in days[:-1]:
        resources.objects.put_new(backups.key_of(day), b"")
    resources.objects.put_new(f"{backups.PREFIX}/of_another", b"")
    hub_clock.now = days[-1]
    backups.do_daily(resources)
    assert {*resources.objects.keys(backups.PREFIX)} == {*remainder, f"{backups.PREFIX}/of_another"}


def backup_times(resources: Resources) -> list[datetime]:
    moments = map(backups.time_of, resources.objects.keys(backups.PREFIX))
    return [moment for moment in moments if moment is not None]


def test_it_is_made_once_a_day_and_at_the_start_if_it_was_missed(
    resources: Resources, hub_clock: StillClock
) -> None:
    hub_clock.now = datetime(2026, 11, 20, 3, 29, tzinfo=UTC)
    for seconds in (0, 30, 30, 3600, 86_400 - 3600, 60, 3 * 86_400):
        hub_clock.advance(seconds)
        backups.do_daily(resources)
    times = [f"{at:%d %H:%M}" for at in sorted(backup_times(resources))]
    assert times == ["20 03:30", "21 03:30", "24 03:31"]


@ON_SQLITE
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no file is always full here")
def test_a_full_disk_is_said_in_words_and_leaves_no_half_of_a_back_up(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(**_: object) -> IO[bytes]:
        return Path("/dev/full").open("r+b", buffering=0)

    monkeypatch.setattr(backups, "TemporaryFile", full)
    with pytest.raises(Failure, match=r"no room for a backup in .*: No space left on device; make"):
        backups.make(resources)
    # What is dropped does not try to write again.
    gc.collect()
    assert not [*resources.objects.keys(backups.PREFIX)]


def test_objects_are_copied_where_they_are_missing(resources: Resources, tmp_path: Path) -> None:
    keys = {"replays/2026/11/m_1.json.gz", "maps/a.json", "bots/b_1/aa", "avatars/cc"}
    for key in keys:
        resources.objects.put_new(key, key.encode())
    settings = replace(resources.settings, backup_objects=str(tmp_path / "copies"))
    backups.do_daily(replace(resources, settings=settings))
    with resources.database.reading() as session:
        assert {*heartbeats.moments(session)} == {heartbeats.BACKUP, heartbeats.COPY}
    copies = ObjectStore(settings.backup_objects)
    (sealed,) = copies.keys(backups.PREFIX)
    assert sealed == f"{backups.key_of(resources.clock())}.sealed"
    objects = {key: copies.get(key) for key in copies.keys("") if key != sealed}
    assert objects == {key: key.encode() for key in keys}
    resources.objects.put_new("replays/2026/12/m_2.json.gz", b"")
    assert backups.copy(resources, settings.backup_objects) == 1
    assert backups.copy(resources, settings.backup_objects) == 0


@pytest.mark.thorough
def test_a_bucket_takes_back_ups_and_copies(
    resources: Resources, bucket: str, tmp_path: Path
) -> None:
    in_bucket = replace(resources, objects=ObjectStore(f"{bucket}/site"))
    in_bucket.objects.put_new("maps/a.json", b"{}")
    key, _, copied = backups.make(in_bucket, f"{bucket}/copies")
    assert copied == 1
    assert ObjectStore(f"{bucket}/copies").get("maps/a.json") == b"{}"
    file = in_bucket.objects.get(key)
    assert file is not None
    with closing(Database(f"sqlite:///{tmp_path / 'to.sqlite'}")) as to:
        backups.restore(to, io.BytesIO(file), queue_all)


def test_the_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def cw(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["hub", *arguments])
        output = capsys.readouterr()
        return int(ended.value.code or 0), output.out, output.err

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CW_DATA", "one")
    code, out, _ = cw("backup", "--objects", "copies")
    assert code == 0
    (file,) = Path("one/objects/backups").iterdir()
    assert out.startswith(f"{file}: 0 rows\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [*Path("one").glob("tmp*")] == []
    monkeypatch.setenv("CW_DATA", "two")
    code, out, _ = cw("restore", "--json", str(file))
    assert (code, json.loads(out)["differences"]) == (0, [])
    assert cw("competition", "new", "daily", "paint")[0] == 0
    for bad, message in ((str(file), "into an empty database"), ("nowhere", "cannot be read")):
        code, out, err = cw("restore", bad)
        assert (code, out) == (2, "")
        assert message in err
        assert "Traceback" not in err
