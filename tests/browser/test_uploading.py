"""The button that leaves a replay on the server, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from cw.replays import document as replay
from cw.web import create_app, replay_folder
from cw.web.settings import LARGEST_UPLOAD, SiteSettings
from tests.browser.conftest import Watcher, each_screen
from tests.browser.recorded import recorded
from tests.browser.test_monitor import AXE, serious
from tests.conftest import Serve

READY = "#viewer[data-surveyed=true]"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "shelf"
    place.mkdir()
    return place


@pytest.fixture
def site(serve: Serve, folder: Path) -> str:
    return serve(create_app(SiteSettings(replays=folder, uploads=True)))


def file_of(folder: Path, game: str, spaces: int = 0) -> Path:
    file = folder.parent / f"{game}.json"
    file.write_bytes(replay.encode(recorded(game), packed=False) + b" " * spaces)
    return file


def choose(page: Page, site: str, file: Path) -> None:
    """Choose a file on the page of all replays, and wait until it is shown."""
    page.goto(f"{site}/replays/")
    page.get_by_label("Watch a file").set_input_files(file)
    page.wait_for_selector(READY)


def test_a_file_is_kept_when_one_says_so(site: str, folder: Path, watcher: Watcher) -> None:
    page = watcher.page
    choose(page, site, file_of(folder, "hexagon"))
    kept = page.get_by_role("region", name="Upload the replay")
    expect(kept).to_contain_text("Only this browser has it so far.")
    assert list(folder.iterdir()) == []
    kept.get_by_role("button", name="Upload it to this server").click()
    expect(kept.get_by_role("status")).to_contain_text("It is uploaded:")
    expect(kept.get_by_role("button")).to_be_disabled()
    (file,) = folder.iterdir()
    kept.get_by_role("link", name=file.name.removesuffix(".json.gz")).click()
    page.wait_for_selector(READY)
    expect(page.locator("#subtitle")).to_contain_text("Hexagon")
    assert page.url.startswith(f"{site}/replays/{file.name.removesuffix('.json.gz')}")
    choose(page, site, file_of(folder, "hexagon"))
    page.get_by_role("button", name="Upload it to this server").click()
    panel = page.get_by_role("region", name="Upload the replay")
    expect(panel).to_contain_text("It was here before")
    assert list(folder.iterdir()) == [file]


def test_a_refusal_is_shown_and_can_be_tried_again(
    site: str, folder: Path, watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    watcher.server_leaves = True  # The browser complains of the refusal by itself.
    page = watcher.page
    choose(page, site, file_of(folder, "hexagon"))
    kept = page.get_by_role("region", name="Upload the replay")
    button = kept.get_by_role("button")
    monkeypatch.setattr(replay_folder, "MOST_FILES", 0)
    button.click()
    expect(kept.get_by_role("status")).to_contain_text("The server refuses it: the folder")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    assert serious(page) == []
    monkeypatch.undo()
    button.click()
    expect(kept.get_by_role("status")).to_contain_text("It is uploaded:")


def test_a_large_file_is_not_sent(site: str, folder: Path, watcher: Watcher) -> None:
    page = watcher.page
    choose(page, site, file_of(folder, "hexagon", LARGEST_UPLOAD))
    page.get_by_role("button", name="Upload it to this server").click()
    expect(page.get_by_role("region", name="Upload the replay")).to_contain_text("up to 8 MiB")
    assert all(request.method == "GET" for request in watcher.requests)


def test_another_file_is_another_choice(site: str, folder: Path, watcher: Watcher) -> None:
    page = watcher.page
    choose(page, site, file_of(folder, "hexagon"))
    page.get_by_role("button", name="Upload it to this server").click()
    kept = page.get_by_role("region", name="Upload the replay")
    expect(kept.get_by_role("status")).to_contain_text("It is uploaded:")
    # The field is hidden with the list, but what is dropped takes the same way.
    page.locator("#file").set_input_files(file_of(folder, "paint"))
    expect(page.locator("#subtitle")).to_contain_text("Paint")
    expect(kept).to_contain_text("Only this browser has it so far.")
    kept.get_by_role("button").click()
    expect(kept.get_by_role("link", name="paint-")).to_be_visible()
    assert len(list(folder.iterdir())) == 2


def test_without_uploads_there_is_no_button(serve: Serve, folder: Path, watcher: Watcher) -> None:
    site = serve(create_app(SiteSettings(replays=folder)))
    choose(watcher.page, site, file_of(folder, "hexagon"))
    expect(watcher.page.get_by_role("button", name="Upload it")).to_have_count(0)


@each_screen
def test_axe_finds_nothing_serious(
    site: str, folder: Path, watcher: Watcher, scheme: Any, width: int
) -> None:
    page = watcher.page
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    choose(page, site, file_of(folder, "hexagon"))
    page.evaluate(AXE.read_text(encoding="utf-8"))
    assert serious(page) == []
    page.get_by_role("button", name="Upload it to this server").click()
    expect(page.get_by_role("region", name="Upload the replay")).to_contain_text("It is uploaded:")
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
