"""The pages of the games in a real browser: for every eye, on every screen, from one server."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from cw.games.registry import GAMES
from cw.web import championship
from cw.web.settings import SiteSettings
from tests.browser.axe import on_each_screen, serious
from tests.browser.conftest import Host, Watcher

PAGES = ["games/", *(f"games/{game}/{page}" for game in GAMES for page in ("", "rules"))]


def test_every_page_is_fit_for_all(host: Host, watcher: Watcher) -> None:
    page = watcher.page
    page.emulate_media(reduced_motion="reduce")
    address = host().address
    for path in PAGES:
        page.goto(f"{address}/{path}")
        broken = "[...document.images].filter((image) => !image.naturalWidth).length"
        assert page.evaluate(broken) == 0, path
        assert on_each_screen(page, serious) == [], path


@pytest.mark.thorough
def test_a_newcomer_finds_the_rules_from_the_live_game(host: Host, watcher: Watcher) -> None:
    page = watcher.open(host().address)
    page.get_by_role("region", name="Join this match").get_by_role("link", name="all games").click()
    page.get_by_role("link", name="Hexagon", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Hexagon")
    expect(page.get_by_text("cw new-bot hexagon python mybot")).to_be_visible()
    page.get_by_role("link", name="All rules").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Hexagon: the rules")
    page.get_by_role("navigation", name="Contents").get_by_role("link", name="On the wire").click()
    expect(page.get_by_role("heading", name="On the wire")).to_be_in_viewport()
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Live match").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Waiting for players")


@pytest.mark.thorough
def test_a_card_is_opened_with_the_keyboard_and_anywhere_on_it(
    host: Host, watcher: Watcher
) -> None:
    address = host().address
    page = watcher.page
    page.goto(f"{address}/games/")
    page.get_by_role("link", name="Paint", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{address}/games/paint/")
    page.go_back()
    expect(page).to_have_url(f"{address}/games/")
    page.get_by_alt_text("A match of Code Battle").click(force=True)
    expect(page).to_have_url(f"{address}/games/code-battle/")


@pytest.mark.thorough
def test_the_navigation_of_all_pages_fits_a_phone(
    host: Host, watcher: Watcher, tmp_path: Path
) -> None:
    game = host(SiteSettings(replays=tmp_path))
    championship.add_championship(game.app, tmp_path)
    page = watcher.page
    for width in (390, 360):
        page.set_viewport_size({"width": width, "height": 844})
        for path in ("", "games/", "games/paint/rules", "replays/"):
            page.goto(f"{game.address}/{path}")
            nav = page.get_by_role("navigation", name="Pages")
            expect(nav.get_by_role("link")).to_have_count(6)
            for link in nav.get_by_role("link").all():
                box = link.bounding_box()
                assert box is not None
                assert box["x"] >= 0
                assert box["x"] + box["width"] <= width
                assert link.evaluate("link => link.scrollWidth <= link.clientWidth")
            button = page.get_by_role("button", name="Theme: auto").bounding_box()
            assert button is not None
            last = nav.get_by_role("link").last.bounding_box()
            assert last is not None
            assert last["x"] + last["width"] <= button["x"] or last["y"] >= button["y"] + 20
            assert button["x"] + button["width"] <= width
