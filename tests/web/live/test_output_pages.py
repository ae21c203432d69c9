"""Who may read what bots wrote to their standard error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cw.arena.bots import read_bots
from cw.replays.outputs import Output, write_outputs
from cw.web import create_app
from cw.web.settings import SiteSettings
from tests.matches.bots_of_games import PAINT, write
from tests.web.live.live_pages import Served, begin, ended, part
from tests.web.replays.test_replays import put


def test_the_owner_reads_it_and_no_page_obeys_it(tmp_path: Path) -> None:
    write_outputs(
        put(tmp_path, "match.json.gz"), [Output(), Output("one\n\x1b[31mtwo <b>", [(0, 0), (3, 4)])]
    )
    client = create_app(SiteSettings(replays=tmp_path, owner=True)).test_client()
    answer = client.get("/replays/match/output")
    assert answer.get_json() == {
        "output": ["", "one\n\\x1b[31mtwo <b>"],
        "turns": [[], [[0, "one\n"], [3, "\\x1b[31mtwo <b>"]]],
    }
    assert answer.headers["Cache-Control"] == "no-store"
    assert "data-output" in client.get("/replays/match").text
    assert "data-output" not in client.get("/replays/match?embed=1").text
    assert client.get("/replays/absent/output").status_code == 404
    assert client.get("/matches/absent/output").status_code == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "elsewhere.example"},
        {"Origin": "http://a.example"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_no_page_of_another_site_reads_it(tmp_path: Path, headers: dict[str, str]) -> None:
    write_outputs(put(tmp_path, "match.json"), [Output("secret"), Output()])
    client = create_app(SiteSettings(replays=tmp_path, owner=True)).test_client()
    answer = client.get("/replays/match/output", headers=headers)
    assert answer.status_code == 403
    assert "secret" not in answer.text


def test_strangers_do_not_read_it(tmp_path: Path) -> None:
    write_outputs(put(tmp_path, "match.json"), [Output("secret"), Output()])
    client = create_app(SiteSettings(replays=tmp_path)).test_client()
    assert client.get("/replays/match/output").status_code == 404
    assert "data-output" not in client.get("/replays/match").text
    listed = client.get("/replays/").text
    assert "stderr" not in listed
    assert "cannot be read" not in listed


def test_a_match_of_the_server_tells_it_at_its_end(served: Served, tmp_path: Path) -> None:
    noisy = PAINT.replace("for line", "print('hello', file=sys.stderr, flush=True)\nfor line")
    bots: Any = read_bots([f"noisy={write(tmp_path, noisy)}"], []).bots
    client = served(opponents={"paint": bots}, owner=True)
    form = {"seat-1": "builtin:still", "seat-2": "bot:noisy", "pace": "all", "turns": "50"}
    address = begin(client, "paint", form)
    ended(client, address)
    payload = client.get(part(address, "output")).get_json()
    assert payload == {"output": ["", "hello\n"], "turns": [[], [[0, "hello\n"]]]}
    assert "data-output" in client.get(address).text
