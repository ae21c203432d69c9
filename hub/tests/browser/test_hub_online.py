"""A team that plays by hand against its own bot, in a real Chromium."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from hub.tests.browser.test_hub_ladder import off_the_loop
from hub.tests.browser.test_hub_people import (
    Walk,
    hub,  # noqa: F401 - a fixture
    walk,  # noqa: F401 - a fixture
)
from hub.tests.competitions.tournament.test_my_team_page import tournament
from hub.tests.competitions.tournament.test_play_online import overheard, set_url
from hub.tests.ladder_rows import Rows
from tests.browser.axe import complaints

pytestmark = pytest.mark.thorough

SLOW = 60_000.0
"""Milliseconds that are enough for a match to go on."""


def test_a_team_joins_and_plays_against_its_own_bot(walk: Walk) -> None:  # noqa: F811
    rows = off_the_loop(tournament, walk.site)
    assert isinstance(rows, Rows)
    page = walk.open("/t/t1/grodno/")
    page.get_by_role("link", name="PLAY ONLINE").click()
    expect(page.get_by_label("The bot").locator("option")).to_have_text(["the training bot"])
    page.get_by_role("link", name="Enter your login token to play with your own bot.").click()
    page.get_by_label("Login token").fill("abcd-efgh-jkmn-pqrs")
    page.get_by_role("button", name="Join the team").click()
    page.get_by_role("link", name="MY TEAM").click()
    expect(page.get_by_role("button", name="Play with your bot")).to_be_disabled()
    with overheard() as record:
        off_the_loop(set_url, rows, record.address)
        page.reload()
        page.get_by_role("link", name="Play with your bot").click()
        assert page.get_by_label("The bot").input_value() == "own:t1"
        page.get_by_label("Cells on each side").select_option("3")
        page.get_by_role("button", name="Play", exact=True).click()
        expect(page.locator("#title")).to_have_text("You against Alpha", timeout=SLOW)
        page.get_by_role("button", name="Play move").click(timeout=SLOW)
        page.wait_for_function(
            "() => Number(document.getElementById('turns').textContent) > 1", timeout=SLOW
        )
        assert json.loads(record.requests[0][2])["training"] is True
        assert complaints(page) == []
        assert "127.0.0.1" not in page.content().replace(walk.site.address, "")
        page.get_by_role("button", name="Resign").click(timeout=SLOW)
        page.get_by_role("dialog").get_by_role("button", name="Resign").click()
        expect(page.locator("#lead")).to_have_text("Alpha won", timeout=SLOW)
        page.get_by_role("button", name="Swap sides").click()
        expect(page.locator("#title")).to_have_text("Alpha against you", timeout=SLOW)
        page.get_by_role("link", name="Hexagon").click()
        expect(page.get_by_role("link", name="Duel <1>").first).to_be_visible()
    off_the_loop(walk.site.app.extensions["matches"].close)
