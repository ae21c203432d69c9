"""Matches that pages begin, as their scripts see them."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, sleep
from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

PATIENCE = 600.0
"""Seconds that are enough on the slowest machine."""

AGAINST_RANDOM = {"bot": "builtin:random", "hand": "1"}
TWO = {"seat-1": "builtin:greedy", "seat-2": "builtin:random", "pace": "all"}

Served = Callable[..., FlaskClient]


def begin(client: FlaskClient, game: str, form: dict[str, str]) -> str:
    answer = client.post(f"/games/{game}/matches", data=form)
    assert answer.status_code == 303, answer.text
    return answer.headers["Location"]


def part(address: str, name: str) -> str:
    """Return the address of a part of a match from that of its page."""
    path, mark, key = address.partition("?")
    return f"{path}/{name}{mark}{key}"


def wait(look: Callable[[], Any]) -> Any:
    """Look again and again until there is something."""
    until = monotonic() + PATIENCE
    while not (value := look()):
        assert monotonic() < until
        sleep(0.01)
    return value


def document_of(client: FlaskClient, address: str) -> Any:
    answer = wait(lambda: _begun(client.get(part(address, "document"))))
    return answer.json


def _begun(answer: TestResponse) -> TestResponse | None:
    assert answer.status_code == 200 or not answer.get_json()["over"], answer.text
    return answer if answer.status_code == 200 else None


def ended(client: FlaskClient, address: str) -> Any:
    def look() -> Any:
        document = document_of(client, address)
        return document if document["live"]["over"] else None

    return wait(look)


def wait_for_turn(client: FlaskClient, address: str) -> Any:
    def look() -> Any:
        document = document_of(client, address)
        assert not document["live"]["over"], document["live"]
        return document["yours"]

    return wait(look)
