"""The page of a league in a browser: renewed after a match, with a way to each replay."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import expect

from cw.lab.journal import opened, players
from cw.lab.league import Field, League, Planner, play_league
from cw.server.wsgi import listen, serving
from cw.web.league import LeagueDisplay, league_app
from tests.browser.axe import on_each_screen, serious
from tests.browser.conftest import Watcher

PAUSE = 1000
"""Milliseconds between two questions of the page."""


class Site:
    """A league that plays as far as the test says, and its page."""

    def __init__(self, folder: Path) -> None:
        """Begin it, and serve its page."""
        league = League(folder, "paint", 2, {"turns": 6}, builtins=True)
        self.stack = ExitStack()
        journal = self.stack.enter_context(opened(league.file, league.head))
        self.planner = Planner(league, journal, Field(league, print))
        self.display = LeagueDisplay(league, journal, self.planner.standings())
        self.server = ExitStack()
        self.address = self.server.enter_context(
            serving(league_app(self.display), listen("127.0.0.1", 0))
        )

    def play(self, matches: int) -> None:
        """Play until there are so many matches."""

        async def play() -> None:
            async with players(1, lambda *_: None) as playing:
                await play_league(self.planner, playing, matches, self.display.show)

        # The thread of a test that drives a browser has a loop already.
        with ThreadPoolExecutor(1) as pool:
            pool.submit(asyncio.run, play()).result()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    with site.stack, site.server:
        yield site


def test_the_page_follows_a_league_and_leads_to_its_replays(site: Site, watcher: Watcher) -> None:
    page = watcher.page
    page.clock.install()
    with page.expect_response(
        lambda answer: answer.url.endswith("/stand") and answer.status == 304
    ):
        page.goto(f"{site.address}/")
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_contain_text("0 matches")
    page.clock.run_for(PAUSE)
    site.play(4)
    page.clock.run_for(PAUSE)
    expect(heading).to_contain_text("4 matches")
    expect(page.get_by_role("group", name="Ratings").get_by_role("row")).to_have_count(6)
    assert on_each_screen(page, serious) == []
    replay = page.get_by_role("link", name="Replay of match 1-1")
    address = replay.get_attribute("href")
    watcher.server_leaves = True
    site.server.close()
    page.clock.run_for(PAUSE)
    expect(page.get_by_text("cw league")).to_be_visible()
    client = league_app(site.display).test_client()
    assert "players" in client.get(f"{address}/document").text
    assert client.get("/replays/../matches.jsonl").status_code == 404
