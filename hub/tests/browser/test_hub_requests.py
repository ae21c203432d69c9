"""How often a browser asks for the page of a match: the first time, and when it comes again."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import opened
from cw_hub.operation.settings import HubSettings
from hub.tests.conftest import StillClock
from hub.tests.matches.test_object_links import play
from hub.tests.sites import Site, site_on
from tests.browser.conftest import watch

COLD, WARM = 25, 12


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Site]:
    clock, settings = StillClock(), HubSettings(data=tmp_path / "data")
    with (
        opened(settings, CeleryQueue(settings), clock) as resources,
        site_on(resources, clock) as site,
    ):
        yield site


def test_the_page_of_a_match_asks_little(browser: Browser, local: Site) -> None:
    # Not in this thread, in which the browser has its loop.
    with ThreadPoolExecutor(1) as thread:
        path = thread.submit(play, local.resources).result()
    asked, serve = list[str](), local.app.wsgi_app

    def counted(environ: dict[str, Any], start: Any) -> Any:
        asked.append(environ["PATH_INFO"])
        return serve(environ, start)

    local.app.wsgi_app = counted  # type: ignore[method-assign, assignment]
    with browser.new_context() as context:
        watcher = watch(context)
        for most in (COLD, WARM):
            asked.clear()
            watcher.page.goto(f"{local.address}{path}")
            expect(watcher.page.get_by_role("list", name="Players")).to_contain_text("rusher")
            watcher.page.wait_for_load_state("networkidle")
            assert 0 < len(asked) <= most, asked
        assert watcher.complaints == []
