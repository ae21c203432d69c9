"""Pages of visitors are made once for all of them, and are those of nobody else."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from cw_hub.pages.polls import LONGEST, OVERHEAD, size_of
from cw_hub.pages.request import Remembered
from cw_hub.store.models import Competition
from hub.tests.conftest import ON_SQLITE
from hub.tests.pages.test_polls import statements
from hub.tests.sites import Site, words_of

pytestmark = ON_SQLITE

PATHS = ("/", "/matches", "/matches?best=2026-11", "/leaderboard")


@pytest.fixture
def open_site(site: Site) -> Site:
    """A site with a rated competition."""
    site.open_competition("hexagon")
    return site


@pytest.mark.parametrize("path", PATHS)
def test_the_second_visitor_costs_no_statement(open_site: Site, path: str) -> None:
    first = open_site.visitor().open(path)
    with statements(open_site) as queries:
        second = open_site.visitor().open(path)
    assert queries == []
    assert second.content == first.content
    changing = ("Date", "X-Request-Id")
    heads = [
        {name: value for name, value in answer.headers.items() if name not in changing}
        for answer in (first, second)
    ]
    assert heads[0] == heads[1]
    assert heads[1]["Cache-Control"] == "private, no-cache"
    assert heads[1]["Vary"] == "Cookie"
    assert "Set-Cookie" not in heads[1]


def test_a_page_is_made_anew_after_two_seconds_and_after_each_change(open_site: Site) -> None:
    visitor = open_site.visitor()
    visitor.open("/")
    open_site.clock.advance(1)
    with statements(open_site) as queries:
        visitor.open("/")
        assert queries == []
        open_site.clock.advance(1)
        visitor.open("/")
        assert queries != []
    visitor.open("/leaderboard")
    with open_site.resources.database.writing() as session:
        session.execute(update(Competition).values(state="paused"))
    with statements(open_site) as queries:
        visitor.open("/leaderboard")
    assert queries != []


def test_what_another_process_writes_is_shown_after_two_seconds(open_site: Site) -> None:
    visitor = open_site.visitor()
    before = visitor.open("/leaderboard").text
    other = open_site.resources.database.writing_engine
    with other.begin() as connection:
        values = {"title": "Renamed", "revision": Competition.revision + 1}
        connection.execute(update(Competition).values(values))
    assert visitor.open("/leaderboard").text == before
    open_site.clock.advance(2)
    assert visitor.open("/leaderboard").text != before


@pytest.mark.parametrize("path", PATHS)
def test_the_page_of_a_player_is_shown_to_nobody_else(open_site: Site, path: str) -> None:
    ada = open_site.player("ada")
    assert "Log out" in words_of(ada.open(path))
    page = open_site.visitor().open(path)
    assert "ada" not in words_of(page).split()
    assert "csrf_token" not in page.text
    assert "Log out" in words_of(ada.open(path))
    for headers in ({"Cookie": "cw="}, {"Cookie": "x=y"}, {"Authorization": "Bearer cw_x"}):
        with statements(open_site) as queries:
            open_site.visitor().open(path, headers=headers)
        assert queries != [], headers


def test_each_address_and_each_query_has_its_own_page(open_site: Site) -> None:
    visitor = open_site.visitor()
    pages = {path: visitor.open(path).text for path in PATHS}
    assert len(set(pages.values())) == len(PATHS)
    for path in PATHS:
        assert visitor.open(path).text == pages[path]
    visitor.open("/", headers={"Host": "localhost"})
    long = f"/?q={'x' * LONGEST}"
    visitor.open(long)
    with statements(open_site) as queries:
        visitor.open(long)
    assert queries != []


def test_forms_and_errors_are_never_remembered(open_site: Site) -> None:
    one, other = (open_site.visitor() for _ in range(2))
    assert one.token() != other.token()
    assert open_site.visitor().open("/leaderboard?game=none").status_code == 404
    with statements(open_site) as queries:
        assert open_site.visitor().open("/leaderboard?game=none").status_code == 404
    assert queries != []


def test_polls_of_scripts_are_not_the_page(open_site: Site) -> None:
    visitor = open_site.visitor()
    visitor.open("/leaderboard")
    rows = visitor.open("/leaderboard?format=json")
    assert rows.headers["Content-Type"] == "application/json"
    again = visitor.open("/leaderboard?format=json")
    assert again.headers["ETag"] == rows.headers["ETag"]
    assert (
        visitor.open(
            "/leaderboard?format=json", headers={"If-None-Match": rows.headers["ETag"]}
        ).status_code
        == 304
    )


def test_pages_are_bounded_in_bytes() -> None:
    pages = Remembered[bytes](10 * (1000 + LONGEST + OVERHEAD), size_of)
    for number in range(20):
        pages.put(number, b"x" * 1000)
    assert [number for number in range(20) if pages.get(number)] == list(range(10, 20))
    pages.put("large", b"x" * 100_000)
    assert pages.get("large") is None
    assert pages.get(19) is not None


def test_one_revision_is_remembered_of_each_value() -> None:
    values = Remembered[str](2)
    assert values.find("a", lambda: "first", 1) == values.find("a", lambda: "unused", 1) == "first"
    assert values.get("a", 2) is None
    assert values.find("a", lambda: "second", 2) == "second"
    values.put("b", "of b")
    assert (values.get("a", 1), values.get("a", 2), values.get("b")) == (None, "second", "of b")
