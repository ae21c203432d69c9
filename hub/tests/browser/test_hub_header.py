"""The header on screens of all widths: nothing covers anything else, or is cut off."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Final

from playwright.sync_api import Page

from cw.web import championship
from cw.web.settings import SiteSettings
from hub.tests.browser.test_hub_people import hub  # noqa: F401 - a fixture
from hub.tests.sites import Site
from tests.browser.axe import Scheme, show_on
from tests.browser.conftest import Host, Watcher

SCHEMES: Final[tuple[Scheme, ...]] = ("light", "dark")
WIDTHS: Final = (360, 390, 481, 640, 700, 760, 761, 899, 900, 1024, 1180, 1181, 1280, 1440)

LONG: Final = "W" * 32
"""The longest name, of the widest letter."""

WRONG: Final = """() => {
    const header = document.querySelector("header.top");
    const edge = header.getBoundingClientRect();
    const parts = [...header.querySelectorAll(".brand, nav a, #theme, .user-button, .enter")];
    const named = parts.map((part) => [part.innerText.trim(), part.getBoundingClientRect()]);
    const wrong = [];
    named.forEach(([name, box], at) => {
        if (box.left < edge.left || box.right > edge.right) wrong.push(`${name} is outside`);
        for (const [other, { left, right, top, bottom }] of named.slice(at + 1)) {
            const isBeside = box.right <= left || right <= box.left;
            const isAboveOrBelow = box.bottom <= top || bottom <= box.top;
            if (!isBeside && !isAboveOrBelow) wrong.push(`${name} covers ${other}`);
        }
    });
    for (const link of header.querySelectorAll("nav a")) {
        if (link.scrollWidth > link.clientWidth) wrong.push(`${link.innerText} is cut off`);
    }
    return wrong;
}"""
"""What is wrong with the header that a page has."""


def wrong_on(page: Page) -> list[str]:
    """Return what is wrong with the header on any screen."""
    wrong = []
    for scheme, width in product(SCHEMES, WIDTHS):
        show_on(page, scheme, width)
        wrong += [f"{scheme}, {width}: {one}" for one in page.evaluate(WRONG)]
    return wrong


def test_nothing_in_the_header_of_a_hub_covers_anything_else(
    hub: Site,  # noqa: F811 - the fixture
    watcher: Watcher,
) -> None:
    page = watcher.page
    for name in ("", "ada", LONG):
        if name:
            cookie = hub.player(name).cookies["cw"]
            page.context.add_cookies([{"name": "cw", "value": cookie, "url": hub.address}])
        page.goto(f"{hub.address}/ranking")
        assert wrong_on(page) == []


def test_nothing_in_the_header_of_a_local_site_covers_anything_else(
    host: Host, watcher: Watcher, tmp_path: Path
) -> None:
    game = host(SiteSettings(replays=tmp_path))
    championship.add_championship(game.app, tmp_path)
    watcher.page.goto(f"{game.address}/games/")
    assert wrong_on(watcher.page) == []
