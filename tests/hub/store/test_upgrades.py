"""Databases of earlier revisions become those of this one, and lose nothing."""

from __future__ import annotations

import gzip
import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path

from sqlalchemy import func, select, text

from cw.hub.operation.backup import backups
from cw.hub.store.database import Database
from cw.hub.store.migrations import FOLDER, differences, upgrade, upgrade_to
from cw.hub.store.tables import Competition, Match

RELEASES = Path(__file__).parent / "releases"
"""Hubs with people, bots and matches, as earlier revisions have left them."""

RELEASED = {
    "0001": "70502bb8770085bf",
    "0002": "d85cbee15cb662a8",
    "0003": "049caa0bc3b80913",
    "0004": "1ce9e3464693d301",
    "0005": "0622ad8a06a32405",
}
"""The SHA-256 of revisions that hubs are at: they stay as they are for ever."""

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
    found = {
        path.name[:4]: sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()[:16]
        for path in (FOLDER / "versions").glob("0*.py")
    }
    changed = {name for name, digest in RELEASED.items() if found[name] != digest}
    assert not changed, "add a revision instead: python -m cw.hub.store.migrations WORDS"


def test_a_file_of_an_earlier_revision_is_upgraded_and_loses_nothing(tmp_path: Path) -> None:
    file = tmp_path / "hub.sqlite"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(gzip.decompress((RELEASES / "0005.sql.gz").read_bytes()).decode())
    with closing(Database(f"sqlite:///{file}")) as database:
        upgrade(database)
        assert differences(database) == []
        with database.reading() as session:
            assert session.scalar(select(func.count()).select_from(Match)) == 35


def test_a_back_up_of_an_earlier_revision_fills_either_database(empty_url: str) -> None:
    with closing(Database(empty_url)) as database, (RELEASES / "0005.jsonl.gz").open("rb") as file:
        header = backups.restore(database, file, lambda _: None)
        assert header.revision == "0005"
        assert differences(database) == []
