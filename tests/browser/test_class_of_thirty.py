"""A class of 30 on the real server: clients in four languages, written from the rules alone."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import combinations_with_replacement, count
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import pytest
import requests
from flask import Flask, send_from_directory
from playwright.sync_api import Browser, expect

from tests.browser.conftest import SLOW
from tests.fixtures import Serve
from tests.server.served import serving_process
from tests.tools import BASH, CURL, require

FOLDER: Final = Path(__file__).parent / "class_of_thirty"
PAUSE: Final = "0.05"
"""Seconds between the requests of a client: a class that keeps to the rules takes 0.2."""

PATIENCE: Final = 600.0
"""Seconds in which thirty clients have played on the slowest machine."""

PROGRAMS: Final = {
    "python": [sys.executable, "client.py"],
    "bash": ["bash", "client.sh"],
    "node": ["node", "client.mjs"],
}
KINDS: Final = (*PROGRAMS, "page")
PAIRS: Final = [*combinations_with_replacement(KINDS, 2), *zip(KINDS[1:], KINDS, strict=False)]
ROOMS: Final = [*PAIRS, ("page", "python"), ("bash", "page")]


@pytest.mark.thorough
def test_thirty_clients_of_four_kinds_play_in_fifteen_rooms(
    browser: Browser, serve: Serve, tmp_path: Path
) -> None:
    BASH.program("bash")
    CURL.program("curl")
    require("javascript")
    site = Flask("class")
    site.add_url_rule("/", view_func=lambda: send_from_directory(FOLDER, "client.html"))
    origin, numbers = serve(site), count(1)
    context = browser.new_context()
    context.set_default_timeout(SLOW)
    options = ("--timeout", "60", "--allow-origin", origin)
    with serving_process(tmp_path, *options) as server:
        programs, pages = list[tuple[str, subprocess.Popen[str]]](), []
        rooms = {f"{server.address}/rooms/table-{n}": pair for n, pair in enumerate(ROOMS, 1)}
        assert len(rooms) == 15
        try:
            for room, pair in rooms.items():
                for kind in pair:
                    team = f"{kind}{next(numbers)}"
                    if kind == "page":
                        page = context.new_page()
                        query = urlencode({"server": room, "team": team, "pause": PAUSE})
                        page.goto(f"{origin}/?{query}")
                        pages.append((room, page))
                    else:
                        programs.append((room, client(kind, room, team)))
            results: dict[str, list[str]] = {room: [] for room in rooms}
            for room, program in programs:
                out, err = program.communicate(timeout=PATIENCE)
                assert (program.returncode, err) == (0, ""), (room, rooms[room])
                results[room].append(out.strip())
            for room, page in pages:
                result = page.locator("#result")
                expect(result).not_to_be_empty(timeout=1000 * PATIENCE)
                results[room].append(result.inner_text())
        finally:
            for _, program in programs:
                program.kill()
                program.communicate()
            context.close()
        for room, pair in rooms.items():
            status = requests.get(f"{room}/status", timeout=60).json()
            assert status["status_code"] in (301, 302), (pair, status)
            assert results[room] == [str(status["status_code"])] * 2, pair
            assert status["score_1"] + status["score_2"] == 49
        assert server.lines() == []


def client(kind: str, room: str, team: str) -> subprocess.Popen[str]:
    """Start a client that plays one match in a room."""
    return subprocess.Popen(
        [*PROGRAMS[kind], room, team],
        cwd=FOLDER,
        env=os.environ | {"PAUSE": PAUSE},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
