"""`cw hub doctor`: what it finds in a hub that is well, and in one that lacks this and that."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from aiosmtpd.controller import Controller
from click.testing import CliRunner, Result
from sqlalchemy import text

from cw import kits
from cw.arena.sandbox import bubblewrap
from cw.cli import main
from cw_hub.bots import service as bots_service
from cw_hub.bots.service import NewBot
from cw_hub.context import utc_now
from cw_hub.operation.doctor import Finding, examine
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import opened
from cw_hub.operation.settings import HubSettings
from cw_hub.store.database import Database
from cw_hub.store.models import User
from hub.tests.services import new_redis
from tests.ports import free_port
from tests.tools import NEEDS_BUBBLEWRAP

KEY = "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
OTHER = "BBECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, in which nothing is set."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("CW_")]:
        monkeypatch.delenv(name)
    return tmp_path


@pytest.fixture
def laptop() -> HubSettings:
    """A hub as `cw hub serve` makes it."""
    settings = HubSettings()
    with opened(settings, CeleryQueue(settings)):
        return settings


@pytest.fixture
def mail_server() -> Iterator[str]:
    controller = Controller(object(), hostname="127.0.0.1", port=free_port(), ready_timeout=60)
    controller.start()
    yield f"smtp://127.0.0.1:{controller.port}?tls=off"
    controller.stop()


LIMITS = ["memory", "processor", "subprocesses", "namespaces", "system calls", "network"]
LIMITS += ["files", "/proc"]


def doctor(*words: str) -> Result:
    return CliRunner().invoke(main, ["hub", "doctor", *words])


def about_programs(result: Result) -> str:
    """Return the line about the program that has played a match."""
    return next(line for line in result.output.splitlines() if line[7:].startswith("programs"))


def findings(settings: HubSettings) -> dict[str, Finding]:
    return {one.name: one for one in examine(settings)}


def to_do(settings: HubSettings) -> dict[str, str]:
    """Return what is to be done, by what for."""
    all_findings = findings(settings).values()
    return {
        one.name: f"{one.found}; {one.advice}" for one in all_findings if one.needed and not one.ok
    }


def test_in_an_empty_folder_it_says_what_makes_a_hub_and_makes_nothing(folder: Path) -> None:
    result = doctor()
    assert result.exit_code == 1
    assert (
        "to do  database      there is no file hub-data/hub.sqlite; cw hub serve" in result.output
    )
    assert list(folder.iterdir()) == []


def test_a_hub_on_a_laptop_has_all_it_needs(laptop: HubSettings) -> None:
    result = doctor("--json")
    assert result.exit_code == 0, result.output
    by_name = {one["name"]: one for one in json.loads(result.output)}
    assert [*by_name] == [
        *("settings", "data folder", "database", "clock", "processes", "broker"),
        *("store", "mail", "keys", "secrets", "games", "programs"),
        *(LIMITS if bubblewrap.problem() is None else []),
    ]
    assert all(one["ok"] for one in by_name.values() if one["needed"])
    assert list((laptop.data / "objects").iterdir()) == []
    lines = doctor().output.splitlines()
    assert len(lines) == len(by_name)
    assert all(line.startswith(("ok  ", "no  ")) for line in lines)


@NEEDS_BUBBLEWRAP
def test_a_program_that_cannot_be_run_as_uploads_are_is_named(
    laptop: HubSettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    line = about_programs(doctor())
    assert line == "ok     programs      bubblewrap works, and a Python program has played"
    off = about_programs(doctor("--set", "CW_HOSTING=off"))
    assert off == f"{line}; players cannot upload any (CW_HOSTING=off)"
    (tmp_path / "bot.py").write_text("raise SystemExit(1)")
    monkeypatch.setattr(kits, "files", lambda *_: {"bot.py": tmp_path / "bot.py"})
    result = doctor()
    assert result.exit_code == 1
    line = about_programs(result)
    assert line.startswith("to do  programs      a Python program failed: ")
    assert line.endswith("cw check paint BOT.py")


def test_wrong_settings_are_wrong_usage() -> None:
    result = doctor("--set", "CW_LEASE=soon")
    assert result.exit_code == 2
    assert "CW_LEASE must be seconds" in result.output


def test_what_a_site_for_others_lacks_is_named(laptop: HubSettings) -> None:
    assert (
        "set CW_PUBLIC_URL" in to_do(replace(laptop, public_url="http://hub.example"))["settings"]
    )
    site = replace(laptop, public_url="https://hub.example")
    assert "set CW_TRUSTED_PROXY" in to_do(site)["settings"]
    assert "set CW_MAIL=" in to_do(site)["mail"]
    assert to_do(site)["mail"].endswith("CW_MAIL_FROM, or mails come from team@endofcodes.com")
    with_sender = to_do(replace(site, mail_from="hub@hub.example"))["mail"]
    assert ("set CW_MAIL=" in with_sender, "CW_MAIL_FROM" in with_sender) == (True, False)
    away = f"smtp://u:hunter2@127.0.0.1:{free_port()}?tls=off"
    sender = "hub@hub.example"
    advice = to_do(replace(site, mail=away, mail_from=sender, trusted_proxy=("127.0.0.1/32",)))
    assert "correct CW_MAIL" in advice.pop("mail")
    assert "hunter2" not in str(advice)
    assert not advice


def test_a_mail_server_that_answers_is_spoken_to(laptop: HubSettings, mail_server: str) -> None:
    assert findings(replace(laptop, mail=mail_server))["mail"].ok
    in_a_network = replace(laptop, mail=mail_server, host="0.0.0.0")
    advice = "set CW_MAIL_FROM, or mails come from team@endofcodes.com"
    assert to_do(in_a_network)["mail"] == f"127.0.0.1 accepts mail; {advice}"
    own = replace(in_a_network, mail_from="hub@hub.example")
    assert findings(own)["mail"].ok


def test_a_public_site_that_sends_mail_without_a_sender_is_told_to_set_one(
    laptop: HubSettings,
) -> None:
    mail = ("--set", "CW_MAIL=smtp://mail.example:587")
    result = doctor("--set", "CW_PUBLIC_URL=https://hub.example", *mail)
    assert result.exit_code == 2
    assert "CW_MAIL_FROM must be set with CW_MAIL on a public site" in result.output


def test_a_database_of_another_revision_and_a_file_that_is_none(laptop: HubSettings) -> None:
    with closing(Database(laptop.database)) as database, database.writing() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '0000'"))
    assert "cw hub db upgrade" in to_do(laptop)["database"]
    (laptop.data / "hub.sqlite").write_bytes(b"no database" * 1000)
    assert "file is not a database" in to_do(laptop)["database"]


@pytest.mark.skipif(os.name == "nt", reason="there are no such rights on Windows")
def test_keys_that_others_may_read_and_that_are_none(laptop: HubSettings) -> None:
    path = laptop.data / "master.key"
    path.chmod(0o644)
    assert to_do(laptop) == {"keys": f"others may read {path}; chmod 600 {path}"}
    path.chmod(0o600)
    path.write_text("k1:none")
    assert set(to_do(laptop)) == {"keys", "secrets"}


@pytest.mark.thorough
def test_services_and_sealed_secrets(postgresql_url: str, bucket: str, tmp_path: Path) -> None:
    settings = HubSettings(
        data=tmp_path / "data",
        database_url=postgresql_url,
        database_read_url=postgresql_url,
        store_url=bucket,
        master_keys=KEY,
        secret_key="0" * 64,
    )
    with opened(settings, CeleryQueue(settings)) as resources:
        with resources.database.writing() as session:
            session.add(User(id=1, username="ann", username_key="ann", created_at=utc_now()))
            session.flush()
            for name in ("One", "Two"):
                new = NewBot("hexagon", name, "http://127.0.0.1:9")
                bots_service.register(session, resources.sealer, 1, new)
        with new_redis(tmp_path) as broker:
            settings = replace(settings, broker_url=broker)
            assert to_do(settings) == {}
        assert "correct CW_BROKER_URL" in to_do(settings)["broker"]
        assert (
            "correct CW_DATABASE_READ_URL"
            in to_do(replace(settings, database_read_url="postgresql://postgres@127.0.0.1:9/x"))[
                "read replica"
            ]
        )
        changed = to_do(replace(settings, broker_url="memory://", master_keys=f"k2:{OTHER}"))
        assert changed == {
            "secrets": "2 of 2 need missing keys: k1; add those keys to CW_MASTER_KEYS"
        }
        changed = to_do(replace(settings, broker_url="memory://", master_keys=f"k1:{OTHER}"))
        assert changed["secrets"].startswith("2 of 2 cannot be decrypted")
        late = examine(settings, lambda: utc_now() - timedelta(seconds=30))
        assert [one.name for one in late if not one.ok and one.name == "clock"] == ["clock"]


@pytest.mark.thorough
def test_an_address_of_the_store_that_no_browser_follows_is_named(laptop: HubSettings) -> None:
    site = replace(laptop, public_url="https://hub.example", trusted_proxy=("10.0.0.7/32",))
    for url in ("http://store:9000", "http://files.example", "https://10.0.0.9", "https://store"):
        advice = to_do(replace(site, store_public_url=url))["settings"]
        assert "CW_STORE_PUBLIC_URL" in advice, url
    assert "settings" not in to_do(replace(site, store_public_url="https://files.example"))
    assert "settings" not in to_do(site)


@pytest.mark.thorough
def test_networks_that_are_open_to_bots_of_all_players_are_named(laptop: HubSettings) -> None:
    site = replace(laptop, public_url="https://hub.example", trusted_proxy=("10.0.0.7/32",))
    for networks in (("any",), ("public", "10.0.0.0/8")):
        advice = to_do(replace(site, bot_network=networks))["settings"]
        assert "CW_HOUSE_NETWORK" in advice
    for fine in (("public",), ("public", "93.184.216.0/24"), ()):
        assert "settings" not in to_do(
            replace(site, bot_network=fine, house_network=("10.0.0.0/8",))
        )


def test_a_proxy_that_may_be_anybody_is_warned_of(laptop: HubSettings) -> None:
    site = replace(laptop, public_url="https://hub.example", trusted_proxy=("10.0.0.0/8",))
    finding = findings(site)["settings"]
    assert (finding.ok, finding.needed) == (False, False)
    assert "10.0.0.0/8 can forge" in finding.advice


@pytest.mark.thorough
def test_a_bucket_that_is_missing_is_named_and_made(
    laptop: HubSettings, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CW_STORE_URL", bucket.replace("s3://", "s3://new-"))
    site = replace(laptop, store_url=os.environ["CW_STORE_URL"])
    assert to_do(site)["store"].endswith("cw hub store create")
    name = os.environ["CW_STORE_URL"].removeprefix("s3://").partition("/")[0]
    for words in (f"created bucket {name}", f"bucket {name} already exists"):
        result = CliRunner().invoke(main, ["hub", "store", "create", "--wait", "5"])
        assert result.output == f"{words}\n"
    assert "store" not in to_do(site)
