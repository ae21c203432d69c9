"""Errors of every route: a page with a way back for browsers, JSON for programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from cw.server.settings import LARGEST_REQUEST
from cw.web import create_app
from cw.web.settings import LARGEST_UPLOAD, SiteSettings
from tests.web.replays.test_replays import put

BROWSER = {
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8",
    "Accept-Encoding": "gzip, deflate, br, zstd",
}
PROGRAMS: tuple[dict[str, str], ...] = ({"Accept": "application/json"}, {"Accept": "*/*"}, {})
PLACES = {
    "room": "red",
    "team_id": "a",
    "move": "1",
    "game": "paint",
    "name": "match",
    "filename": "base.css",
}


@pytest.fixture
def app(tmp_path: Path) -> Flask:
    put(tmp_path, "match.json.gz")
    (tmp_path / "broken.json").write_text("{}", encoding="utf-8")
    app = create_app(SiteSettings(timeout=3, replays=tmp_path, uploads=True))

    def fail() -> str:
        raise ZeroDivisionError("a secret")

    app.add_url_rule("/failing", view_func=fail)
    app.config["PROPAGATE_EXCEPTIONS"] = False
    return app


def is_page_with_a_way_back(answer: TestResponse) -> bool:
    assert answer.mimetype == "text/html"
    assert answer.headers["Vary"] == "Accept"
    assert "<h1>" in answer.text
    return all(f'href="{path}"' in answer.text for path in ("/", "/games/", "/replays/"))


def is_told_to_programs(answer: TestResponse) -> bool:
    assert answer.mimetype == "application/json"
    payload = answer.get_json()
    return list(payload) == ["error"] and len(payload["error"]) > 10


def explained(client: FlaskClient, method: str, path: str, status: int, body: bytes = b"") -> bool:
    """Ask as a browser and as programs do; return whether all get their answer."""
    answer = client.open(path, method=method, data=body, headers=BROWSER)
    assert answer.status_code == status, answer.text
    fine = [is_page_with_a_way_back(answer)]
    for headers in PROGRAMS:
        answer = client.open(path, method=method, data=body, headers=headers)
        assert answer.status_code == status
        fine.append(is_told_to_programs(answer))
    return all(fine)


def test_every_route_refuses_other_methods(app: Flask) -> None:
    client = app.test_client()
    for rule in app.url_map.iter_rules():
        path = rule.build({name: PLACES[name] for name in rule.arguments})
        assert path is not None
        assert explained(client, "DELETE", path[1], 405), path


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/nothing", 404),
        ("/static/nothing.css", 404),
        ("/rooms/UPPER/", 404),
        ("/games/chess/", 404),
        ("/games/chess/rules", 404),
        ("/matches/nothing", 404),
        ("/matches/nothing/document", 404),
        ("/replays/nothing", 404),
        ("/replays/nothing/document", 404),
        ("/replays/..%2Fsecret", 404),
        ("/replays/nothing/picture.png", 404),
        ("/replays/broken/picture.png", 400),
        ("/failing", 500),
    ],
)
def test_what_is_wrong_is_explained(app: Flask, path: str, status: int) -> None:
    assert explained(app.test_client(), "GET", path, status)


@pytest.mark.parametrize(
    ("path", "size", "status"),
    [
        ("/replays/", 10, 400),
        ("/replays/", LARGEST_UPLOAD + 1, 413),
        ("/games/paint/matches", LARGEST_REQUEST + 1, 413),
        ("/games/chess/matches", 0, 400),
    ],
)
def test_what_cannot_be_taken_in_is_explained(
    app: Flask, path: str, size: int, status: int
) -> None:
    assert explained(app.test_client(), "POST", path, status, b"x" * size)


def test_a_failure_tells_nothing_of_its_inside(app: Flask) -> None:
    for headers in ({}, BROWSER):
        answer = app.test_client().get("/failing", headers=headers)
        assert "secret" not in answer.text
        assert "Traceback" not in answer.text


@pytest.mark.parametrize("path", ["/", "/games/", "/games/paint/", "/replays/", "/replays/match"])
def test_browsers_that_ask_for_gzip_get_pages(app: Flask, path: str) -> None:
    answer = app.test_client().get(path, headers=BROWSER)
    assert (answer.status_code, answer.mimetype) == (200, "text/html")
    assert "<h1" in answer.text
