"""Whoever has learned what a hub signs its links with wants its back-ups, uploads and pictures."""

from __future__ import annotations

import time
from hashlib import sha384
from itertools import product
from typing import Final

import pytest
from itsdangerous import TimestampSigner

from cw_hub.matches.object_links import KINDS
from hub.tests.attacks.hubs import Hub
from hub.tests.attacks.raw import Answer, ask

pytestmark = pytest.mark.thorough

SALTS: Final = (
    "cw.hub.objects",
    "cw.hub.objects.backups",
    *(f"cw.hub.objects.{one}" for one in KINDS),
)

FORMS: Final = (
    "/objects/{key}",
    "/objects//{key}",
    "/objects/./{key}",
    "/objects/replays/../{key}",
    "/objects/replays/%2e%2e/{key}",
    "/objects/replays/..%2f{key}",
    "/objects/replays/%252e%252e/{key}",
    "/objects/maps/..\\{key}",
    "/objects/replays/{key}",
    "/objects/x.archive.gz/../{key}",
)


def secret_of(hub: Hub) -> str:
    """Return the key that signs cookies and links, which an attacker is assumed to have."""
    return hub.environment.get("CW_SECRET_KEY") or (hub.data / "secret.key").read_text().strip()


def signed_names(key: str) -> tuple[str, ...]:
    """Return what might be signed for an object, by this or another way of naming it."""
    rest = key.partition("/")[2]
    return key, rest, f"../{key}", f"replays/../{key}", f"./{key}", f"..\\{key}"


def fetch(hub: Hub, path: str) -> Answer:
    """Ask for a path as it is written."""
    return ask(hub.address, path, "Host: 127.0.0.1")


def test_no_signature_leads_to_a_backup_or_an_upload(hub: Hub) -> None:
    hub.operate("backup")
    stored = hub.data / "objects"
    keys = [str(one.relative_to(stored)) for one in stored.rglob("backups/*") if one.is_file()]
    assert keys
    (stored / "bots" / "b_1").mkdir(parents=True, exist_ok=True)
    (stored / "bots" / "b_1" / "x.zip").write_bytes(b"source of a bot")
    tries = 0
    for key in (*keys, "bots/b_1/x.zip"):
        secret = (stored / key).read_bytes()
        for salt, name in product(SALTS, signed_names(key)):
            signer = TimestampSigner(secret_of(hub), salt=salt, digest_method=sha384)
            signature = signer.sign(name).decode()[len(name) + 1 :]
            for form in FORMS:
                answer = fetch(hub, f"{form.format(key=key)}?sig={signature}")
                assert answer.status in (400, 403, 404), (form, salt, name)
                assert secret[:64] not in answer.body
                tries += 1
    assert tries == len(SALTS) * 6 * len(FORMS) * (len(keys) + 1)
    assert hub.is_running()


def test_a_link_does_not_outlive_its_hour(hub: Hub) -> None:
    place = hub.data / "objects" / "maps" / "m.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("{}")

    class Late(TimestampSigner):
        def get_timestamp(self) -> int:
            return int(time.time()) - 3700

    for signer, code in ((TimestampSigner, 200), (Late, 403)):
        made = signer(secret_of(hub), salt="cw.hub.objects.maps", digest_method=sha384)
        signature = made.sign("m.json").decode().partition(".json.")[2]
        assert fetch(hub, f"/objects/maps/m.json?sig={signature}").status == code
