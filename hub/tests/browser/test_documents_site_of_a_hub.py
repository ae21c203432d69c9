"""The documents of the hub as a part of the site that is opened from disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.test_documents_site import search_for, see, site  # noqa: F401 - a fixture

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize("name", ["hub/operators", "hub/costs"])
def test_a_page_of_the_hub_is_fit_for_all(
    site: Path,  # noqa: F811
    browser: Browser,
    name: str,
) -> None:
    see(site, browser, name)


def test_the_search_finds_pages_of_the_hub(
    site: Path,  # noqa: F811
    browser: Browser,
) -> None:
    search_for(site, browser, "tournament ladder")
