"""A rated match on its page, in a real Chromium: it plays by itself, and is told turn by turn."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import expect

from cw_hub.matches import listings
from cw_hub.matches.jobs import Worker
from cw_hub.matches.listings import MatchFilter
from cw_hub.site.formats import MATCH_TYPES
from hub.tests.browser.test_hub_bots import check_page
from hub.tests.browser.test_hub_people import (
    Walk,
    hub,  # noqa: F401 - a fixture
    walk,  # noqa: F401 - a fixture
)
from hub.tests.competitions.rated.test_rated import Arena
from hub.tests.sites import Site


def play_rated(site: Site) -> str:
    """Let two house bots play a rated match; return its name."""
    arena = Arena(site.resources, site.clock, options={"max_turns": 40})
    arena.plan()
    Worker("me", 1, MATCH_TYPES).play(site.resources, arena.queued()[0])
    with site.resources.database.reading() as session:
        return listings.listing(session, MATCH_TYPES, MatchFilter(state="done")).matches[0].match_id


@pytest.mark.thorough
def test_a_rated_match_plays_by_itself_and_is_told_turn_by_turn(walk: Walk) -> None:  # noqa: F811
    with ThreadPoolExecutor(1) as thread:
        match_id = thread.submit(play_rated, walk.site).result()
    walk.page.emulate_media(reduced_motion="no-preference")
    page = walk.open(f"/match/{match_id}")
    expect(page.locator("#turn")).not_to_have_text("0")
    page.get_by_text("Event log", exact=True).click()
    entries = page.locator("#turn-log > ol > li")
    expect(entries).to_have_count(40)
    expect(entries.first).to_contain_text("Turn 1")
    expect(entries.first).to_contain_text("moved")
    check_page(page)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == f"{walk.site.address}/replay/{match_id}"
    page.goto(link)
    expect(page.locator("#subtitle")).to_contain_text("Code Battle")
    name = page.locator("#players .name").first.text_content()
    walk.open(f"/bot/{name}")
    expect(page.locator(".chart canvas")).to_be_visible()
    page.get_by_text("Show as table").click()
    expect(page.locator("#ratings tr")).to_have_count(1)
    page.get_by_label("Period").select_option("10")
    check_page(page)
    walk.open(f"/replays/?url=/match/{match_id}/download")
    expect(page.locator("#subtitle")).to_contain_text("Code Battle")
    expect(page.locator("#turns")).to_have_text("40")
