"""Workshops behind their gates, over a real loop of matches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from cw.web.workshop import OwnDesk
from cw.web.workshop_routes import Gate, create_workshop
from cw.workshop.project import open_project

HOST = "127.0.0.1:4321"
PATIENCE = 600.0
"""Seconds until a condition holds on the slowest machine."""

Json = Any


@dataclass
class Workshop:
    """A workshop that is asked without a network."""

    app: Flask
    desk: OwnDesk
    gate: Gate
    game: str
    client: FlaskClient
    place: Path

    def ask(self, method: str, path: str, document: Json = None, code: int = 200) -> Json:
        """Ask for something below the page as the page does."""
        answer = self.client.open(
            f"http://{HOST}/workshop/{self.game}/{path}",
            method=method,
            json=document,
            headers={"Origin": f"http://{HOST}", "Sec-Fetch-Site": "same-origin"},
        )
        assert answer.status_code == code, answer.get_data(as_text=True)
        return answer.get_json()

    def wait(self, path: str, until: Callable[[Json], bool]) -> Json:
        """Ask until an answer is what is waited for."""
        end = time.monotonic() + PATIENCE
        while not until(answer := self.ask("GET", path)):
            assert time.monotonic() < end, answer
            time.sleep(0.05)
        return answer

    def run(self, **wanted: Json) -> Json:
        """Run the bot to the end of its match; return what is told of it."""
        self.ask("POST", "run", {"opponent": "random", "seed": 1, **wanted}, 201)
        return self.wait("run", lambda answer: not answer["goes_on"])

    def write(self, name: str, text: str) -> None:
        """Write a file as another editor does."""
        (self.place / name).write_text(text)


Make = Callable[..., Workshop]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Make workshops that end with the test."""
    with ExitStack() as stack:

        def make_one(game: str, language: str = "python", replays: Path | None = None) -> Workshop:
            place = tmp_path / f"{game}-{language}"
            gate = Gate(HOST)
            app, desk = create_workshop(open_project(game, place, language), gate, replays)
            stack.callback(desk.close)
            client = app.test_client()
            client.get(gate.address(f"/workshop/{game}/"), headers={"Host": HOST})
            return Workshop(app, desk, gate, game, client, place)

        yield make_one
