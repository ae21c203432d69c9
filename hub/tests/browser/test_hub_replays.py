"""A match of a hub whose replay lies on an S3 server, watched in a real Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import opened
from cw_hub.operation.settings import HubSettings
from hub.tests.conftest import StillClock
from hub.tests.matches.test_object_links import HEXAGON, play
from hub.tests.services import Swift, new_swift
from hub.tests.sites import Site, site_on
from tests.browser.conftest import watch

pytestmark = pytest.mark.thorough


@pytest.fixture
def swift(tmp_path: Path) -> Iterator[Swift]:
    with new_swift(tmp_path) as swift:
        yield swift


@pytest.fixture
def remote(swift: Swift, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A hub whose objects lie on an S3 server."""
    for name, value in swift.environment.items():
        monkeypatch.setenv(name, value)
    clock = StillClock()
    settings = HubSettings(
        data=tmp_path / "data", store_url=swift.new_bucket(), store_public_url=swift.address
    )
    with (
        opened(settings, CeleryQueue(settings), clock) as resources,
        site_on(resources, clock) as site,
    ):
        yield site


def test_a_replay_is_watched_from_where_it_lies(
    browser: Browser, remote: Site, swift: Swift
) -> None:
    # Not in this thread, in which the browser has its loop.
    with ThreadPoolExecutor(1) as thread:
        path = thread.submit(play, remote.resources, HEXAGON).result()
    alone = path.replace("match", "replay")
    for target in (path, alone, f"{alone}?embed=1"):
        with browser.new_context() as context:
            watcher = watch(context)
            watcher.page.goto(f"{remote.address}{target}")
            expect(watcher.page.locator("#reason")).to_contain_text("greedy")
            assert watcher.origins() == {remote.address, swift.address}
            assert watcher.complaints == []
