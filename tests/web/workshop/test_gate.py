"""Whoever has no token, or comes from another site, reaches nothing of a workshop."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from tests.web.workshop.conftest import HOST, Make, Workshop

PAGE = f"http://{HOST}/workshop/paint/"


@pytest.fixture
def workshop(make: Make) -> Workshop:
    return make("paint")


@pytest.fixture
def stranger(workshop: Workshop) -> FlaskClient:
    return workshop.app.test_client()


def test_the_token_becomes_a_cookie_and_leaves_the_address(
    workshop: Workshop, stranger: FlaskClient
) -> None:
    assert len(workshop.gate.token) >= 43  # 256 bits in base64
    answer = stranger.get(workshop.gate.address("/workshop/paint/"), headers={"Host": HOST})
    assert answer.status_code == 303
    assert answer.headers["Location"] == "/workshop/paint/"
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert workshop.gate.token not in cookie
    assert stranger.get(PAGE).status_code == 200


@pytest.mark.parametrize(
    "path",
    ["", "files", "run", "series", "../../static/base.css", "../../games/", "../../matches/x"],
)
def test_nothing_is_served_without_the_cookie(stranger: FlaskClient, path: str) -> None:
    assert stranger.get(PAGE + path).status_code == 403
    assert stranger.get(f"{PAGE}{path}?token=wrong").status_code == 403
    stranger.set_cookie("workshop-4321", "wrong", domain="127.0.0.1")
    assert stranger.get(PAGE + path).status_code == 403


def test_a_token_runs_nothing_by_itself(workshop: Workshop, stranger: FlaskClient) -> None:
    answer = stranger.post(f"{PAGE}run?token={workshop.gate.token}", json={"opponent": "random"})
    assert answer.status_code == 403
    assert stranger.get(f"{PAGE}?token={'x' * 10_000}").status_code == 403
    assert workshop.desk.run() is None


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": f"https://{HOST}"},
        {"Host": "evil.example"},
        {"Host": "localhost:4321"},
        {"Host": "[::1]:4321"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_other_origins_and_names_are_refused_with_the_cookie_too(
    workshop: Workshop, headers: dict[str, str]
) -> None:
    for method, path in (("GET", ""), ("GET", "files"), ("POST", "run"), ("PUT", "files/bot.py")):
        answer = workshop.client.open(PAGE + path, method=method, headers=headers)
        assert answer.status_code == 403, (method, path)
        assert "Access-Control-Allow-Origin" not in answer.headers
    if "Host" not in headers:
        address = workshop.gate.address("/workshop/paint/")
        assert workshop.client.get(address, headers=headers).status_code == 403


def test_no_other_site_shows_or_reads_a_page(workshop: Workshop) -> None:
    answer = workshop.client.get(PAGE)
    policy = answer.headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert policy != workshop.client.get(PAGE).headers["Content-Security-Policy"]


def test_a_workshop_is_for_its_game(workshop: Workshop) -> None:
    assert workshop.client.get(f"http://{HOST}/workshop/hexagon/").status_code == 404
    assert workshop.client.get(f"http://{HOST}/").headers["Location"] == "/workshop/paint/"
