"""The button that leaves a replay on the server, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from cw.replays import document
from cw.web import create_app, replay_store
from cw.web.settings import LARGEST_UPLOAD, SiteSettings
from tests.browser.axe import on_each_screen, serious
from tests.browser.conftest import Watcher
from tests.browser.recorded import recorded
from tests.fixtures import Serve

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
    file.write_bytes(document.encode(recorded(game), packed=False) + b" " * spaces)
    return file


def choose(page: Page, site: str, file: Path) -> None:
    """Choose a file on the page of all replays, and wait until it is shown."""
    page.goto(f"{site}/replays/")
    page.get_by_label("Watch a file").set_input_files(file)
    page.wait_for_selector(READY)


def test_a_file_is_kept_when_one_says_so(site: str, folder: Path, watcher: Watcher) -> None:
    page = watcher.page
    choose(page, site, file_of(folder, "hexagon"))
    region = page.get_by_role("region", name="Upload the replay")
    expect(region).to_contain_text("Only this browser has it so far.")
    assert list(folder.iterdir()) == []
    region.get_by_role("button", name="Upload it to this server").click()
    expect(region.get_by_role("status")).to_contain_text("Uploaded:")
    expect(region.get_by_role("button")).to_be_disabled()
    (file,) = folder.iterdir()
    region.get_by_role("link", name=file.name.removesuffix(".json.gz")).click()
    page.wait_for_selector(READY)
    expect(page.locator("#subtitle")).to_contain_text("Hexagon")
    assert page.url.startswith(f"{site}/replays/{file.name.removesuffix('.json.gz')}")
    choose(page, site, file_of(folder, "hexagon"))
    page.get_by_role("button", name="Upload it to this server").click()
    panel = page.get_by_role("region", name="Upload the replay")
    expect(panel).to_contain_text("Already on this server")
    assert list(folder.iterdir()) == [file]


@pytest.mark.thorough
def test_a_refusal_is_shown_and_can_be_tried_again(
    site: str, folder: Path, watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    watcher.server_leaves = True  # The browser complains of the refusal by itself.
    page = watcher.page
    choose(page, site, file_of(folder, "hexagon"))
    region = page.get_by_role("region", name="Upload the replay")
    button = region.get_by_role("button")
    monkeypatch.setattr(replay_store, "MOST_FILES", 0)
    button.click()
    expect(region.get_by_role("status")).to_contain_text(
        "The server rejected it: this server's replay folder is full"
    )
    assert serious(page) == []
    monkeypatch.undo()
    button.click()
    expect(region.get_by_role("status")).to_contain_text("Uploaded:")


@pytest.mark.thorough
def test_a_large_file_is_not_sent(site: str, folder: Path, watcher: Watcher) -> None:
    page = watcher.page
    choose(page, site, file_of(folder, "hexagon", LARGEST_UPLOAD))
    page.get_by_role("button", name="Upload it to this server").click()
    expect(page.get_by_role("region", name="Upload the replay")).to_contain_text("up to 8 MiB")
    assert all(request.method == "GET" for request in watcher.requests)


@pytest.mark.thorough
def test_another_file_is_another_choice(site: str, folder: Path, watcher: Watcher) -> None:
    page = watcher.page
    choose(page, site, file_of(folder, "hexagon"))
    page.get_by_role("button", name="Upload it to this server").click()
    region = page.get_by_role("region", name="Upload the replay")
    expect(region.get_by_role("status")).to_contain_text("Uploaded:")
    # The field is hidden with the list, but what is dropped takes the same way.
    page.locator("#file").set_input_files(file_of(folder, "paint"))
    expect(page.locator("#subtitle")).to_contain_text("Paint")
    expect(region).to_contain_text("Only this browser has it so far.")
    region.get_by_role("button").click()
    expect(region.get_by_role("link", name="paint-")).to_be_visible()
    assert len(list(folder.iterdir())) == 2


@pytest.mark.thorough
def test_without_uploads_there_is_no_button(serve: Serve, folder: Path, watcher: Watcher) -> None:
    site = serve(create_app(SiteSettings(replays=folder)))
    choose(watcher.page, site, file_of(folder, "hexagon"))
    expect(watcher.page.get_by_role("button", name="Upload it")).to_have_count(0)


@pytest.mark.thorough
def test_axe_finds_nothing_serious(site: str, folder: Path, watcher: Watcher) -> None:
    page = watcher.page
    page.emulate_media(reduced_motion="reduce")
    choose(page, site, file_of(folder, "hexagon"))
    assert on_each_screen(page, serious) == []
    page.get_by_role("button", name="Upload it to this server").click()
    expect(page.get_by_role("region", name="Upload the replay")).to_contain_text("Uploaded:")
    assert on_each_screen(page, serious) == []
