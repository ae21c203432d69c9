"""Replays of a server in other forms."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from flask.testing import FlaskClient
from PIL.Image import Image

from cw.drawing import Sheet
from cw.pictures import exports
from cw.pictures.raster import coloured
from cw.server.session import Clock
from cw.web import create_app, replay_pictures
from cw.web.settings import SiteSettings
from tests.web.replays.test_replays import client_of, put

FORMS = {"page.html": ("text/html", b"<!doctype html>"), "animation.gif": ("image/gif", b"GIF89a")}


@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_saved_once(tmp_path: Path, form: str) -> None:
    put(tmp_path, "match.json.gz")
    client = client_of(tmp_path)
    answer = client.get(f"/replays/match/{form}")
    kind, begin = FORMS[form]
    assert answer.mimetype == kind
    assert answer.data.startswith(begin)
    ending = form.rpartition(".")[2]
    assert answer.headers["Content-Disposition"] == f'attachment; filename="match.{ending}"'
    again = client.get(f"/replays/match/{form}", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    put(tmp_path, "match.json.gz", seed=99)
    assert client.get(f"/replays/match/{form}").headers["ETag"] != answer.headers["ETag"]


@pytest.mark.parametrize("form", FORMS)
def test_what_is_no_replay_has_no_form(tmp_path: Path, form: str) -> None:
    (tmp_path / "broken.json").write_text("{}")
    client = client_of(tmp_path)
    assert client.get(f"/replays/broken/{form}").status_code == 400
    assert client.get(f"/replays/absent/{form}").status_code == 404
    assert client.get(f"/replays/..%2Fbroken/{form}").status_code == 404


def client_with(tmp_path: Path, clock: Clock) -> FlaskClient:
    return create_app(SiteSettings(replays=tmp_path), clock).test_client()


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Event]:
    """Let animations wait after their first frame until this is set."""
    going = Event()

    def waiting(sheets: Iterable[Sheet], palette: Image) -> Iterator[Image]:
        images = coloured(sheets, palette)
        yield next(images)
        going.wait()
        yield from images

    monkeypatch.setattr(exports, "coloured", waiting)
    yield going
    going.set()


def begun(client: FlaskClient) -> dict[str, Any]:
    """Ask for the animation of a replay until its first frame is painted."""
    while not (payload := client.post("/replays/match/animation").get_json())["painted"]:
        time.sleep(0.01)
    return dict(payload)


def test_an_animation_tells_how_far_it_is(tmp_path: Path, gate: Event) -> None:
    put(tmp_path, "match.json")
    client = client_of(tmp_path)
    payload = begun(client)
    assert payload == {"painted": 1, "frames": payload["frames"], "ready": False}
    gate.set()
    data = client.get("/replays/match/animation.gif").data
    assert client.post("/replays/match/animation").get_json() == {
        "painted": payload["frames"],
        "frames": payload["frames"],
        "ready": True,
    }
    assert client.get("/replays/match/animation.gif").data == data


@pytest.mark.thorough
def test_one_animation_is_made_at_a_time(tmp_path: Path, gate: Event) -> None:
    put(tmp_path, "match.json")
    put(tmp_path, "other.json")
    client = client_of(tmp_path)
    begun(client)
    for answer in (
        client.post("/replays/other/animation"),
        client.get("/replays/other/animation.gif"),
    ):
        assert answer.status_code == 503
        assert "try again" in answer.get_json()["error"]
    gate.set()
    assert client.get("/replays/match/animation.gif").status_code == 200
    assert client.get("/replays/other/animation.gif").status_code == 200


@pytest.mark.thorough
def test_an_animation_that_nobody_waits_for_is_given_up(tmp_path: Path, gate: Event) -> None:
    put(tmp_path, "match.json")
    now = [0.0]
    client = client_with(tmp_path, lambda: now[0])
    begun(client)
    now[0] += replay_pictures.PATIENCE + 1
    gate.set()
    for thread in threading.enumerate():
        if thread.name == "animation":
            thread.join()
    answer = client.post("/replays/match/animation")
    assert (answer.status_code, answer.get_json()["error"]) == (
        400,
        "nobody waited for the animation",
    )
    assert client.get("/replays/match/animation.gif").status_code == 200


def test_other_sites_cannot_let_animations_be_made(tmp_path: Path) -> None:
    put(tmp_path, "match.json")
    headers = {"Sec-Fetch-Site": "cross-site", "Origin": "https://elsewhere.example"}
    answer = client_of(tmp_path).post("/replays/match/animation", headers=headers)
    assert answer.status_code == 403


def test_a_replay_that_cannot_be_drawn_lets_others_be_drawn(tmp_path: Path) -> None:
    put(tmp_path, "match.json")
    put(tmp_path, "unknown.json", game="chess")
    client = client_of(tmp_path)
    assert client.get("/replays/unknown/animation.gif").status_code == 400
    assert client.get("/replays/match/animation.gif").status_code == 200
