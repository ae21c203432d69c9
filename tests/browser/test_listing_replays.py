"""The list of replays in a real browser: pictures, filters, pages, keyboard, without scripts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, expect

from cw.web import create_app
from cw.web.settings import SiteSettings
from tests.browser import recorded
from tests.browser.axe import serious
from tests.browser.conftest import Watcher, each_screen
from tests.fixtures import Serve

READY = "#viewer[data-surveyed=true]"

LOADED = """() => [...document.querySelectorAll(".replay-card img")]
  .filter((image) => image.checkVisibility())
  .every((image) => image.complete && image.naturalWidth > 100)"""


@pytest.fixture
def site(serve: Serve, tmp_path: Path) -> str:
    recorded.fill(tmp_path)
    (tmp_path / "broken.json").write_text("{}", encoding="utf-8")
    return serve(create_app(SiteSettings(replays=tmp_path)))


def test_a_match_is_found_and_watched_with_the_keyboard(site: str, watcher: Watcher) -> None:
    page = watcher.page
    page.goto(f"{site}/replays/")
    expect(page.get_by_role("listitem").filter(has_text="Unreadable:")).to_have_count(1)
    page.get_by_label("Game").select_option("Hexagon")
    page.get_by_role("searchbox", name="Player").fill("BOT1")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{site}/replays/?game=hexagon&player=BOT1")
    card = page.locator(".replay-card")
    expect(card).to_have_count(1)
    link = card.get_by_role("link")
    expect(link).to_contain_text("won by score")
    link.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(READY)
    assert re.split("[?#]", page.url)[0] == f"{site}/replays/hexagon"


@pytest.mark.thorough
@each_screen
def test_every_card_has_its_picture_and_nothing_bars_the_way(
    site: str, browser: Browser, scheme: Literal["light", "dark"], width: int
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, bypass_csp=True
    )
    page = context.new_page()
    page.goto(f"{site}/replays/")
    for image in page.locator(f".on-{scheme}").all():
        image.scroll_into_view_if_needed()
    page.wait_for_function(LOADED)
    assert page.locator(f".on-{'dark' if scheme == 'light' else 'light'}:visible").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert serious(page) == []
    context.close()


@pytest.mark.thorough
def test_the_list_works_without_scripts(site: str, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site}/replays/")
    page.get_by_label("Game").select_option("Paint")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.locator(".replay-card")).to_have_count(1)
    page.get_by_role("link", name="Show all").click()
    expect(page.locator(".replay-card")).to_have_count(6)
    context.close()
