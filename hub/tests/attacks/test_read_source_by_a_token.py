"""Whoever has a token that manages bots does not read their programs."""

from __future__ import annotations

from base64 import b64encode

import pytest
import requests

from cw import kits
from hub.tests.attacks.hubs import RATED, Hub, zipped
from hub.tests.sites import PASSWORD

pytestmark = pytest.mark.thorough

SECRET = b"# nobody else knows this\n"
KIT = {name: file.read_bytes() for name, file in kits.files(RATED, "python").items()}


def test_a_token_that_manages_bots_reads_no_source(hub: Hub) -> None:
    author = hub.player("author")
    program = KIT | {"bot.py": SECRET + KIT["bot.py"]}
    assert author.send_program("Secret", program).status_code == 303
    about = {"token_name": "ci", "days": "30", "bots": "y", "token_password": PASSWORD}
    made = author.fill("/settings/tokens", on="/settings", **about)
    token = made.text.partition("<textarea")[2].partition(">")[2].partition("<")[0]

    headers = {"Authorization": f"Bearer {token}"}

    def ask(path: str) -> requests.Response:
        return requests.get(f"{hub.address}/api/v1{path}", headers=headers, timeout=60)

    (bot,) = ask("/bots?owner=author").json()["items"]
    for path in ("versions", "versions/1", "checks"):
        refused = ask(f"/bots/{bot['bot_id']}/{path}")
        assert refused.status_code == 403, path
        assert refused.json()["message"] == "The access token lacks the scope read."
    author.checked("Secret")
    changed = {"file": "bot.zip", "data": b64encode(zipped(program | {"x": b"x"})).decode()}
    for path, body in (("versions/1/use", None), ("versions", changed)):
        address = f"{hub.address}/api/v1/bots/{bot['bot_id']}/{path}"
        answer = requests.post(address, json=body, headers=headers, timeout=60)
        assert answer.ok, answer.text
        shown = {name for name, value in answer.json().items() if value is not None}
        assert shown == {"number", "is_active", "state"}
