"""The browser of the arena's tests, for pages of the site."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.conftest import browser, host, leave, watcher

__all__ = ["browser", "host", "watcher"]

FOLDER = Path(__file__).parent


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    leave(FOLDER, item, nextitem)
