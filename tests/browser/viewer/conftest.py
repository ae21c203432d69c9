"""The viewer of a replay, opened in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

from cw.replays import document as replays_document
from cw.web import create_app
from cw.web.settings import SiteSettings
from tests.browser.conftest import Watcher
from tests.browser.recorded import fill
from tests.browser.viewer.viewing import (
    DRAWN,
    READY,
    Altered,
    Open,
)
from tests.fixtures import Serve


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a replay of each game."""
    place = tmp_path_factory.mktemp("replays")
    fill(place)
    return place


@pytest.fixture
def site(serve: Serve, folder: Path) -> str:
    return serve(create_app(SiteSettings(timeout=3, replays=folder)))


@pytest.fixture
def opened(site: str, watcher: Watcher) -> Open:
    """Open the viewer of a game's replay; motion is stopped, so that pictures can be compared."""
    watcher.page.emulate_media(reduced_motion="reduce")

    def go(game: str, after: str = "") -> Page:
        watcher.page.goto(f"{site}/replays/{game}{after}")
        watcher.page.wait_for_selector(READY)
        watcher.page.evaluate(DRAWN)
        return watcher.page

    return go


@pytest.fixture
def stopped(opened: Open, watcher: Watcher) -> Open:
    """Open the viewer as `opened` does; then its clock stands still until it is told to go on."""
    watcher.page.clock.install()

    def go(game: str, after: str = "") -> Page:
        page = opened(game, after)
        page.clock.pause_at(page.evaluate("Date.now() / 1000") + 60)
        return page

    return go


@pytest.fixture
def altered(serve: Serve, watcher: Watcher, tmp_path: Path) -> Altered:
    """Open a replay that is not as it was played."""

    def go(document: replays_document.Document, after: str = "") -> Page:
        (tmp_path / "made.json").write_bytes(replays_document.encode(document, packed=False))
        site = serve(create_app(SiteSettings(timeout=3, replays=tmp_path)))
        watcher.page.goto(f"{site}/replays/made{after}")
        watcher.page.wait_for_selector(READY)
        return watcher.page

    return go
