"""The documents as a site, opened from disk: fit for everybody, and searched without a server."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.axe import on_each_screen
from tests.browser.conftest import SLOW
from tests.documents_site import documents_site

pytestmark = pytest.mark.thorough

EACH_KIND = (
    "index",
    "first-bot",
    "championship",
    "games/code_battle",
    "reference/command-line",
    "reference/python",
    "performance",
    "decisions/0010-the-lab",
)
"""A page of every kind: the first, a tutorial, a guide, rules, references, tables, a decision."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the site."""
    return documents_site(tmp_path_factory)


@pytest.mark.parametrize("name", EACH_KIND)
def test_a_page_of_each_kind_is_fit_for_all(site: Path, browser: Browser, name: str) -> None:
    see(site, browser, name)


def see(site: Path, browser: Browser, name: str) -> None:
    """Open a page on each screen; fail if it is not fit for all."""
    page = browser.new_page()
    errors: list[str] = []
    hosts: set[str] = set()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: hosts.add(urlsplit(request.url).scheme))
    page.goto((site / f"{name}.html").as_uri())
    assert on_each_screen(page) == []
    assert errors == []
    assert hosts == {"file"}
    page.close()


def test_the_search_works_from_disk(site: Path, browser: Browser) -> None:
    search_for(site, browser, "championship format")


def search_for(site: Path, browser: Browser, words: str) -> None:
    """Search for words, and open the first page with them."""
    page = browser.new_page()
    page.goto((site / "index.html").as_uri())
    search = page.get_by_role("textbox", name="Search")
    search.fill(words)
    search.press("Enter")
    results = page.locator("#search-results li a")
    expect(results.first).to_be_visible(timeout=SLOW)
    results.first.click()
    expect(page.locator("article h1")).to_be_visible(timeout=SLOW)
    assert page.url.startswith("file:")
    page.close()
