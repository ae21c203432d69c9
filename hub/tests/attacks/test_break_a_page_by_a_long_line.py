"""A list of addresses with a field of 140,000 characters, which Python's CSV reader refuses."""

from __future__ import annotations

import json

import pytest

from hub.tests.attacks.hubs import Hub
from hub.tests.sites import words_of

pytestmark = pytest.mark.thorough

FIELD = "a" * 140_000

LISTS = {
    "plain": f"ann@example.org,{FIELD}",
    "quoted": f'ann@example.org,"{FIELD}"',
    "an address": f"{FIELD}@example.org",
    "many quotes": f"ann@example.org,{FIELD.replace('a', chr(34))}",
}


def test_a_host_reads_which_line_is_too_long(hub: Hub) -> None:
    made = ("competition", "new", "lines", "--game", "paint", "--format", "tournament", "--json")
    token = json.loads(hub.operate(*made))["host_token"]
    host = hub.visitor()
    host.send_form("/t/lines/join", {"csrf_token": host.token("/login"), "token": token})
    for text in LISTS.values():
        form = {"csrf_token": host.token("/t/lines/host/people"), "lines": ""}
        file = {"file": ("list.csv", f"bob@example.org\n{text}\n".encode())}
        answer = host.send_form("/t/lines/host/import", form, files=file)
        assert answer.status_code == 422, words_of(answer)
        assert "a line may have at most 1,000" in words_of(answer)
