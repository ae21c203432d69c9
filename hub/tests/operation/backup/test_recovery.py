"""A site that comes back from what was taken elsewhere, and the drill that proves it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import select, text

from cw.cli import main
from cw.errors import Failure
from cw_hub.accounts import administration
from cw_hub.accounts.administration import Deletion, deletion_of
from cw_hub.bots import service as bots_service
from cw_hub.bots.service import NewBot
from cw_hub.operation import backups, heartbeats, keys
from cw_hub.operation.doctor import Finding
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import Resources, opened
from cw_hub.operation.settings import HubSettings
from cw_hub.site import recovery
from cw_hub.store.database import Database
from cw_hub.store.models import Battle, Bot, Match, User
from cw_hub.store.objects import ObjectStore, StoreAway
from cw_hub.store.sealing import Sealer, new_master_key
from hub.tests.conftest import ON_SQLITE, StillClock
from hub.tests.services import new_postgresql

pytestmark = ON_SQLITE

REPLAY = "replays/2026/11/m_1.json.gz"


def hub(*words: str) -> Result:
    return CliRunner().invoke(main, ["hub", *words])


def add_rows(resources: Resources) -> None:
    """Put in a user with a bot that has a secret, and a match with a replay."""
    now = resources.clock()
    with resources.database.writing() as session:
        user = User(username="ann", username_key="ann", email="ann@example.org", created_at=now)
        session.add(user)
        session.flush()
        new = NewBot("code-battle", "Rusher", "http://127.0.0.1:9")
        bots_service.register(session, resources.sealer, user.id, new)
        about = {"match_id": "m_1", "key": "1", "kind": "practice", "game": "hexagon"}
        match = Match(**about, players=2, seed=1, at=now, state="done", attempt=1)
        session.add(match)
        session.flush()
        fields = {"reason": "", "ranks": [], "scores": [], "turns": 1, "first_slot": 0}
        moments = {"started_at": now, "ended_at": now}
        session.add(Battle(match_id=match.id, number=0, replay_key=REPLAY, **fields, **moments))
    resources.objects.put_new(REPLAY, b"{}")


@pytest.fixture
def copies(tmp_path: Path) -> str:
    return str(tmp_path / "copies")


@pytest.fixture
def guarded(resources: Resources, copies: str) -> Resources:
    """A site with rows that takes its back-ups elsewhere."""
    settings = replace(resources.settings, backup_objects=copies)
    guarded = replace(resources, settings=settings)
    add_rows(guarded)
    return guarded


@pytest.fixture
def new_settings(guarded: Resources, tmp_path: Path) -> HubSettings:
    """Another machine, with the same master keys."""
    return HubSettings(data=tmp_path / "new", master_keys=guarded.settings.master_keys)


def test_a_site_comes_back_on_another_machine(
    guarded: Resources, new_settings: HubSettings, copies: str
) -> None:
    backups.do_daily(guarded)
    sealed = ObjectStore(copies).get(f"{backups.key_of(guarded.clock())}.sealed")
    assert sealed is not None
    assert b"circuit-wars-backup" not in sealed
    new_settings.data.mkdir()
    with closing(Database(new_settings.database)) as database:
        result = recovery.restore(new_settings, database, copies, objects=True)
    assert (result.objects, result.differences) == (1, [])
    with opened(new_settings, CeleryQueue(new_settings), guarded.clock) as there:
        assert there.objects.get(REPLAY) == b"{}"
        with there.database.reading() as session:
            assert session.scalars(select(User.email)).all() == ["ann@example.org"]


def test_what_cannot_be_taken_elsewhere_now_is_taken_later(
    guarded: Resources, hub_clock: StillClock, copies: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise StoreAway("gone")

    with monkeypatch.context() as away:
        away.setattr(ObjectStore, "copy_missing", refuse)
        with pytest.raises(StoreAway):
            backups.do_daily(guarded)
    with guarded.database.reading() as session:
        assert {*heartbeats.moments(session)} == {heartbeats.BACKUP}
    hub_clock.advance(60)
    backups.do_daily(guarded)
    with guarded.database.reading() as session:
        assert {*heartbeats.moments(session)} == {heartbeats.BACKUP, heartbeats.COPY}
    assert len(backups.stored_in(guarded.settings.store)) == 1
    assert len(backups.stored_in(copies)) == 1
    for _ in range(20):
        hub_clock.advance(timedelta(days=1).total_seconds())
        backups.do_daily(guarded)
    assert [one.at for one in backups.stored_in(copies)] == [
        one.at for one in backups.stored_in(guarded.settings.store)
    ]


def test_who_was_deleted_after_a_back_up_stays_deleted(
    guarded: Resources, hub_clock: StillClock, new_settings: HubSettings, copies: str
) -> None:
    with guarded.database.writing() as session:
        session.add(User(username="bob", username_key="bob", created_at=hub_clock()))
    backups.do_daily(guarded)
    administration.note_new(guarded)
    hub_clock.advance(3600)
    with guarded.database.writing() as session:
        administration.delete(session, "ann")
    administration.note_new(guarded)
    administration.note_new(guarded)
    new_settings.data.mkdir()
    with closing(Database(new_settings.database)) as database:
        result = recovery.restore(new_settings, database, copies, objects=True)
        assert result.deleted == 1
        with database.reading() as session:
            rows = session.execute(select(User.username, User.email, User.deleted_at)).all()
            bot = session.scalars(select(Bot)).one()
        assert rows == [(None, None, hub_clock()), ("bob", None, None)]
        assert (bot.status, bot.secret) == ("RETIRED", None)


def test_another_account_of_the_same_id_is_not_deleted(guarded: Resources) -> None:
    with guarded.database.reading() as session:
        ann = session.scalars(select(User)).one()
    other = Deletion(ann.id, ann.created_at + timedelta(microseconds=1), ann.created_at)
    same = other._replace(created_at=ann.created_at)
    assert deletion_of(same.key) == same
    for key in ("deletions/x", same.key + "x", "replays/x"):
        assert deletion_of(key) is None
    with guarded.database.writing() as session:
        assert administration.repeat(session, [other]) == 0
        assert administration.repeat(session, [same]) == 1
        assert administration.repeat(session, [same]) == 0


def ok(findings: Iterator[Finding]) -> dict[str, bool]:
    return {one.name: one.ok for one in findings}


def test_a_drill_finds_what_a_new_site_would_lack(
    guarded: Resources, new_settings: HubSettings, copies: str
) -> None:
    backups.do_daily(guarded)
    well = dict.fromkeys(("back-up", "rows", "secrets", "objects", "ratings"), True)
    assert ok(recovery.drill(guarded.settings, clock=guarded.clock)) == well
    assert ok(recovery.drill(new_settings, copies)) == well
    ObjectStore(copies).delete(REPLAY)
    assert ok(recovery.drill(new_settings, copies)) == well | {"objects": False}
    assert not new_settings.data.exists()
    other = replace(new_settings, master_keys=new_master_key("k9"))
    with pytest.raises(Failure, match="the master key k1 is missing"):
        ok(recovery.drill(other, copies))


def test_a_drill_finds_secrets_that_no_key_opens(guarded: Resources) -> None:
    with guarded.database.writing() as session:
        session.execute(text("UPDATE bots SET key_id = 'k0'"))
    backups.do_daily(guarded)
    checks = {one.name: one for one in recovery.drill(guarded.settings)}
    assert not checks["secrets"].ok
    assert "0 of 1 can be decrypted" in checks["secrets"].found


def test_the_commands_of_recovery(
    guarded: Resources, copies: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = guarded.settings
    backups.do_daily(guarded)
    monkeypatch.setenv("CW_DATA", str(settings.data))
    monkeypatch.setenv("CW_DATABASE_URL", settings.database_url)
    monkeypatch.setenv("CW_MASTER_KEYS", settings.master_keys)
    monkeypatch.setenv("CW_BACKUP_OBJECTS", copies)
    lines = hub("backup", "list").output.splitlines()
    name = backups.key_of(guarded.clock())
    assert [line.split()[-1] for line in lines] == [
        f"{settings.store}/{name}",
        f"{copies}/{name}.sealed",
    ]
    assert len(json.loads(hub("backup", "list", "--json").output)) == 2
    drill = hub("backup", "drill")
    assert drill.exit_code == 0, drill.output
    assert drill.output.splitlines()[-1] == "ok     ratings       they match the results"
    monkeypatch.setenv("CW_DATA", str(tmp_path / "new"))
    monkeypatch.delenv("CW_DATABASE_URL")
    back = hub("restore", f"{copies}/{name}.sealed", "--objects")
    assert back.exit_code == 0, back.output
    assert "1 objects copied\nThe ratings match the results." in back.output
    for bad, words in (
        (str(tmp_path / "nowhere/backups/20261120T033000Z.jsonl.gz"), "there is no such folder"),
        (f"{copies}/backups/20251120T033000Z.jsonl.gz", "there is no backup"),
        (f"{tmp_path}", "there is no backup in"),
    ):
        monkeypatch.setenv("CW_DATA", str(tmp_path / f"empty-{len(words)}"))
        refused = hub("restore", bad)
        assert (refused.exit_code, words in refused.output) == (2, True), refused.output


@pytest.mark.thorough
def test_a_bucket_brings_a_site_back_into_postgresql(
    resources: Resources, bucket: str, tmp_path: Path
) -> None:
    settings = replace(resources.settings, backup_objects=f"{bucket}/copies")
    here = replace(resources, settings=settings, objects=ObjectStore(f"{bucket}/site"))
    add_rows(here)
    backups.do_daily(here)
    data = tmp_path / "new"
    data.mkdir()
    with new_postgresql() as url, closing(Database(url)) as database:
        new = replace(settings, data=data, database_url=url, store_url=f"{bucket}/new")
        assert all(one.ok for one in recovery.drill(new, f"{bucket}/copies"))
        result = recovery.restore(new, database, f"{bucket}/copies", objects=True)
        assert (result.objects, result.differences) == (1, [])
        with database.reading() as session:
            assert keys.try_all(session, Sealer(new.master_keys)) == keys.Tried(1)
    assert ObjectStore(new.store_url).get(REPLAY) == b"{}"
