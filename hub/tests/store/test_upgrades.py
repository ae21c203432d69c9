"""Databases of earlier revisions become those of this one, and lose nothing."""

from __future__ import annotations

import gzip
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
from sqlalchemy import text

from cw.errors import UsageError
from cw_hub.operation import backups
from cw_hub.operation.doctor import look_at_database
from cw_hub.operation.settings import HubSettings
from cw_hub.store.database import Database
from cw_hub.store.migrations import FOLDER, differences, in_words, prepare, upgrade, upgrade_to
from cw_hub.store.models import Competition
from cw_hub.store.sealing import new_master_key, new_secret_key
from tests.effort import first_is_fast

RELEASES = Path(__file__).parent / "releases"
"""Hubs with people, bots and matches, as earlier revisions have left them."""

RELEASED = {
    "0001": "70502bb8770085bf",
    "0002": "d85cbee15cb662a8",
    "0003": "049caa0bc3b80913",
    "0004": "1ce9e3464693d301",
    "0005": "0622ad8a06a32405",
    "0006": "e651f8729137ba69",
    "0007": "de8fb910fee3b138",
    "0008": "ca02f3b4ec66547f",
    "0009": "a7fdbd669cd72e65",
    "0010": "b6adf155abdff1fb",
    "0011": "88c8b8c3a102840a",
    "0012": "3091beefac346ddd",
    "0013": "fe1797e3a9baf46b",
    "0014": "8e649d122f849ea2",
    "0015": "75d8a86ecda38fce",
    "0016": "13a69aa0ff34f1dd",
    "0017": "cc20bd93456b56af",
}
"""The SHA-256 of revisions that hubs are at: they stay as they are for ever."""

PASSED = ("0008", "0009", "0010", "0011", "0012", "0016")
"""Those that came out together with the next one, so that no hub has stayed at them."""

DUMPED = sorted(path.name[:4] for path in RELEASES.glob("*.sql.gz"))

COMPETITION = """
INSERT INTO competitions
  (id, slug, game, format, title, settings, seed, state, last_seq, revision, created_at)
VALUES (:id, :slug, 'hexagon', :format, 'X', '{}', 1, 'running', 0, 0, '2026-11-20 12:00:00')
"""
MATCH = """
INSERT INTO matches
  (match_id, kind, key, game, players, options, seed, state, attempt, troubles, turn, at)
VALUES (:name, :kind, '1', 'hexagon', 2, '{}', 1, 'done', 1, 0, 9, '2026-11-20 12:00:00')
"""


def test_formats_and_kinds_take_their_new_names(empty_url: str) -> None:
    kinds = ("daily", "ladder", "rated", "practice", "championship")
    with closing(Database(empty_url)) as database:
        with database.writing_engine.begin() as connection:
            upgrade_to(connection, "0001")
            for number, name in enumerate(("daily", "ladder", "rated")):
                row = {"id": number + 1, "slug": "x", "format": name}
                connection.execute(text(COMPETITION), row)
            for number, kind in enumerate(kinds):
                connection.execute(text(MATCH), {"name": f"m_{number:08x}", "kind": kind})
        upgrade(database)
        assert differences(database) == []
        with database.reading() as session:
            formats = session.scalars(text("SELECT format FROM competitions ORDER BY id"))
            assert [*formats] == ["daily", "tournament", "rated"]
            after = session.scalars(text("SELECT kind FROM matches ORDER BY match_id"))
            assert [*after] == ["daily", "tournament", "rated", "practice", "cup"]


def test_no_tournament_keeps_a_sandbox_that_its_host_has_lifted(empty_url: str) -> None:
    with closing(Database(empty_url)) as database:
        with database.writing_engine.begin() as connection:
            upgrade_to(connection, "0002")
            for number, hosting in enumerate(("trusted", "off", "")):
                row = {"id": number + 1, "slug": f"t{number}", "format": "tournament"}
                connection.execute(text(COMPETITION), row)
                settings = f'{{"battles": 1, "hosting": "{hosting}"}}' if hosting else "{}"
                change = text("UPDATE competitions SET settings = :settings WHERE id = :id")
                connection.execute(change, {"id": number + 1, "settings": settings})
        upgrade(database)
        assert differences(database) == []
        with database.reading() as session:
            rows = session.query(Competition.settings).order_by(Competition.id)
            assert [settings.get("hosting") for (settings,) in rows] == ["sandboxed", "off", None]
            assert rows[0].settings["battles"] == 1


def test_a_revision_that_was_released_is_changed_no_more() -> None:
    digests = {
        path.name[:4]: sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()[:16]
        for path in (FOLDER / "versions").glob("0*.py")
    }
    changed = {name for name, digest in RELEASED.items() if digests[name] != digest}
    assert not changed, "add a revision instead: python -m cw_hub.store.migrations WORDS"


@pytest.mark.parametrize("revision", first_is_fast(DUMPED))
def test_a_file_of_an_earlier_revision_is_upgraded_and_loses_nothing(
    revision: str, tmp_path: Path
) -> None:
    file = tmp_path / "hub.sqlite"
    with closing(sqlite3.connect(file)) as connection:
        dump = (RELEASES / f"{revision}.sql.gz").read_bytes()
        connection.executescript(gzip.decompress(dump).decode())
        counted = dict(rows_of(connection))
    with closing(Database(f"sqlite:///{file}")) as database:
        upgrade(database)
        assert differences(database) == []
    with closing(sqlite3.connect(file)) as connection:
        assert counted.items() <= dict(rows_of(connection)).items()


def rows_of(connection: sqlite3.Connection) -> Iterator[tuple[str, int]]:
    """Give each table with the number of its rows."""
    names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    for (name,) in connection.execute(names).fetchall():
        yield name, connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]


@pytest.mark.parametrize("revision", first_is_fast(DUMPED))
def test_a_back_up_of_an_earlier_revision_fills_either_database(
    revision: str, empty_url: str
) -> None:
    dump = RELEASES / f"{revision}.jsonl.gz"
    with closing(Database(empty_url)) as database, dump.open("rb") as file:
        header = backups.restore(database, file, lambda _: None)
        assert header.revision == revision
        assert header.rows > 300
        assert differences(database) == []


def test_each_release_since_the_first_dump_has_one() -> None:
    """python -m hub.tests.store.dump_release writes it, before the next revision is made."""
    assert [name for name in RELEASED if name >= "0005" and name not in PASSED] == DUMPED


CHANGES = {
    "DROP TABLE marks": "marks",
    "ALTER TABLE users DROP COLUMN display_name": "users.display_name",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_database_that_lacks_something_is_refused_and_told(change: str, empty_url: str) -> None:
    with closing(upgraded(empty_url)) as database:
        prepare(database)
        with database.writing_engine.begin() as connection:
            connection.execute(text(change))
        with pytest.raises(UsageError, match=f"and lacks {CHANGES[change]}: "):
            prepare(database)
        settings = HubSettings(
            database_url=empty_url, master_keys=new_master_key(), secret_key=new_secret_key()
        )
        finding = look_at_database(settings, database)
    assert not finding.ok
    assert CHANGES[change] in finding.found
    assert "is missing" in finding.found


def upgraded(url: str) -> Database:
    database = Database(url)
    upgrade(database)
    return database


def test_every_difference_is_named(empty_url: str) -> None:
    with closing(upgraded(empty_url)) as database:
        with database.writing_engine.begin() as connection:
            connection.execute(text("ALTER TABLE marks ADD COLUMN note TEXT"))
            connection.execute(text("CREATE TABLE notes (id INTEGER)"))
            connection.execute(text("DROP INDEX ix_heartbeats_seen_at"))
        findings = in_words(differences(database))
    assert sorted(findings) == [
        "the column marks.note is not of this program",
        "the index heartbeats.ix_heartbeats_seen_at is missing",
        "the table notes is not of this program",
    ]
