"""Settings of a hub: what is said of each, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cw.errors import UsageError
from cw_hub.matches.jobs import RENEWED
from cw_hub.operation.settings import (
    SECRETS,
    HubSettings,
    declared,
    read_settings,
    setting_rows,
    variable,
)

KEY = "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="


def test_without_anything_set_a_hub_needs_no_service() -> None:
    settings = read_settings({"HOME": "/", "CW_PAUSE": "0", "CW_REQUIRE_KITS": "1"})
    assert settings == HubSettings()
    assert settings.is_embedded
    assert settings.database == "sqlite:///hub-data/hub.sqlite"
    assert settings.is_local
    assert settings.bots_may_be == ("any",)
    assert settings.address == "http://127.0.0.1:8000"


def test_beyond_this_machine_bots_must_be_public() -> None:
    for settings in (HubSettings(host="0.0.0.0"), HubSettings(public_url="https://cw.example")):
        assert not settings.is_local
        assert settings.bots_may_be == ("public",)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (f"{'CW_LEASE'}S", "5", "unknown setting CW_LEASES"),
        ("CW_LEASE", "soon", "CW_LEASE must be seconds, 1 to 86400, not 'soon'"),
        ("CW_LEASE", "nan", "CW_LEASE must be seconds"),
        ("CW_TICK", "0", "CW_TICK must be seconds"),
        ("CW_DATABASE_URL", "mysql://x/y", "CW_DATABASE_URL must be postgresql://..."),
        ("CW_DATABASE_URL", "postgresql://u:pw@[x", "CW_DATABASE_URL must be"),
        ("CW_BROKER_URL", "amqp://x", "CW_BROKER_URL must be memory://... or redis://"),
        ("CW_STORE_URL", "s3:/bucket", "CW_STORE_URL must be s3://"),
        ("CW_MASTER_KEYS", "k1:short", "CW_MASTER_KEYS must be id:base64 of 32 bytes"),
        ("CW_MASTER_KEYS", f"{KEY},{KEY}", "CW_MASTER_KEYS must be id:base64 of 32 bytes"),
        ("CW_SECRET_KEY", "short", "CW_SECRET_KEY must be at least 32"),
        ("CW_PUBLIC_URL", "cw.example", "CW_PUBLIC_URL must be http"),
        ("CW_PUBLIC_URL", "https://cw.example/?a", "CW_PUBLIC_URL must be http"),
        ("CW_MAIL", "smtp://mail.example?tls=off", "an address on this machine"),
        ("CW_MAIL", "imap://mail.example", "CW_MAIL must be smtp"),
        ("CW_BOT_NETWORK", "any,10.0.0.0/8", "CW_BOT_NETWORK must be any, public"),
        ("CW_BOT_NETWORK", "public,10.0.0.1/8", "CW_BOT_NETWORK must be any, public"),
        ("CW_ALLOW_HTTP", "yes", "CW_ALLOW_HTTP must be 0 or 1"),
        ("CW_HOME", "//evil.example", "CW_HOME must be a path of this site"),
        ("CW_REPLAY_QUOTA", "10GB", "CW_REPLAY_QUOTA must be a number of bytes"),
        ("CW_METRICS_NETWORK", "here", "CW_METRICS_NETWORK must be addresses or networks"),
        ("CW_LOG", "xml", "CW_LOG must be auto or text or json"),
    ],
)
def test_what_is_no_setting_is_refused_in_a_sentence(name: str, text: str, message: str) -> None:
    with pytest.raises(
        UsageError, match="^" + message.replace("(", "\\(") if message[0] == "C" else message
    ):
        read_settings({name: text})


def test_what_a_setting_that_may_hold_a_password_was_is_never_said() -> None:
    for name in SECRETS:
        with pytest.raises(UsageError) as raised:
            read_settings({name: "x:hunter2"})
        assert "hunter2" not in str(raised.value)


def test_set_goes_before_the_environment() -> None:
    assert read_settings({"CW_LEASE": "5"}, ["CW_LEASE=7", "CW_TICK=1"]).lease == 7
    with pytest.raises(UsageError, match="CW_NAME=VALUE"):
        read_settings({}, ["CW_LEASE"])


def test_keys_must_be_given_for_a_database_that_others_share() -> None:
    with pytest.raises(UsageError, match="CW_MASTER_KEYS must be set"):
        read_settings({"CW_DATABASE_URL": "postgresql://h/d"})
    with pytest.raises(UsageError, match="CW_SECRET_KEY must be set"):
        read_settings({"CW_DATABASE_URL": "postgresql://h/d", "CW_MASTER_KEYS": KEY})


def test_what_is_shown_can_be_set_but_for_secrets() -> None:
    settings = replace(
        HubSettings(),
        data=Path("there"),
        lease=5.5,
        trusted_proxy=("10.0.0.1/32",),
        allow_http=True,
        bot_network=("public", "10.0.0.0/8"),
        master_keys=KEY,
    )
    rows = {row.name: row for row in setting_rows(settings)}
    assert rows["CW_MASTER_KEYS"].value == "(set)"
    lines = [f"{name}={row.value}" for name, row in rows.items() if "(" not in row.value]
    assert replace(read_settings({}, lines), master_keys=KEY) == settings


def test_every_setting_says_what_it_is() -> None:
    for one in declared():
        assert one.metadata["words"].endswith("."), variable(one)
        assert one.metadata["default"] or one.metadata["empty"], variable(one)


def test_a_public_site_has_no_default_sender() -> None:
    mail = {"CW_PUBLIC_URL": "https://cw.example", "CW_MAIL": "smtp://mail.example:587"}
    with pytest.raises(UsageError, match="CW_MAIL_FROM must be set"):
        read_settings(mail)
    settings = read_settings({**mail, "CW_MAIL_FROM": "cw@cw.example"})
    assert settings.sender == settings.contact == "cw@cw.example"
    assert settings.signed_by == "Circuit Wars"
    assert read_settings({}).sender == "team@endofcodes.com"
    assert read_settings({}).signed_by == "End of Codes"
    assert read_settings({}).contact == "the people who run this site"
    documents = read_settings({**mail, "CW_MAIL_FROM": "team@endofcodes.com"})
    assert documents.signed_by == "End of Codes"


def test_the_bots_of_a_dead_worker_are_free_within_a_minute() -> None:
    """Its lease ends, and the next tick takes the match back; a lease is renewed three times."""
    settings = HubSettings()
    assert settings.lease + settings.tick < 60
    assert settings.lease / RENEWED >= 3
