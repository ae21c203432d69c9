"""Players that are pages: of the server itself, and of other sites."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Browser, Page

from cw.server.session import ABSENCE
from cw.web.settings import SiteSettings
from tests.browser.conftest import SLOW, Host
from tests.browser.test_monitor import SMALLEST_GAME
from tests.fixtures import Serve

ASK = "async ([server, path]) => { const a = await fetch(server + path); return await a.json(); }"

PREFLIGHTED = """async ([server, path]) => {
  const answer = await fetch(server + path, { headers: { "X-Mine": "1" } });
  return [answer.status, answer.headers.get("ETag"), await answer.json()];
}"""
"""A request for which the browser asks permission first."""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(SLOW)
    yield page
    context.close()


@pytest.fixture
def site(serve: Serve) -> str:
    """Return the address of another site, which has one page."""
    app = Flask("other")
    app.add_url_rule("/", view_func=lambda: "<!doctype html><title>My bot</title>")
    return serve(app)


def ask(page: Page, server: str, path: str) -> Any:
    """Let the script of a page ask a server."""
    return page.evaluate(ASK, [server, path])


def test_a_page_of_another_site_reads_why_it_may_not_play(
    host: Host, page: Page, site: str
) -> None:
    game = host()
    page.goto(site)
    assert ask(page, game.address, "/status")["status_code"] == 100
    for path in ("/reg/alpha", "/move/alpha/0,0,top", "/restart", "/rooms/x/reg/alpha"):
        assert "--allow-origin" in ask(page, game.address, path)["error"]
    status, _, refusal = page.evaluate(PREFLIGHTED, [game.address, "/reg/alpha"])
    assert (status, list(refusal)) == (403, ["error"])
    assert ask(page, game.address, "/status")["status_code"] == 100


@pytest.mark.parametrize("prefix", ["", "/rooms/table-4"])
def test_a_page_of_a_site_that_is_let_in_plays(
    host: Host, page: Page, site: str, prefix: str
) -> None:
    game = host(SiteSettings(timeout=3, size=1, origins=frozenset({site})))
    page.goto(site)
    server = f"{game.address}{prefix}"
    assert ask(page, server, "/reg/alpha") == {"response": "OK", "player": 1}
    status, tag, document = page.evaluate(PREFLIGHTED, [server, "/status"])
    assert (status, document["status_code"]) == (200, 101)
    assert tag
    assert ask(page, server, "/reg/beta")["player"] == 2
    for turn, move in enumerate(SMALLEST_GAME):
        last = ask(page, server, f"/move/{('alpha', 'beta')[turn % 2]}/{move}")
    assert last["status_code"] == 302
    assert ask(page, server, "/history")["teams"] == ["alpha", "beta"]


def test_a_page_of_the_server_keeps_its_seat_as_any_program_does(host: Host, page: Page) -> None:
    game = host()
    page.goto(f"{game.address}/docs/")
    assert ask(page, game.address, "/reg/alpha")["player"] == 1
    for _ in range(3):
        game.clock.advance(ABSENCE)
        assert ask(page, game.address, "/status")["status_code"] == 101
    game.clock.advance(ABSENCE + 1)
    assert ask(page, game.address, "/status")["status_code"] == 100
