"""What people take out of the viewer: links, files, and positions to play on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, expect

from tests.browser.axe import complaints, serious
from tests.browser.conftest import Watcher
from tests.browser.recorded import frames, recorded
from tests.browser.viewer.viewing import (
    HOSTILE,
    READY,
    Altered,
    Open,
    last_turn,
)

# Sharing


@pytest.mark.thorough
def test_a_link_leads_to_the_turn(opened: Open, watcher: Watcher) -> None:
    watcher.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = opened("code-battle", "#turn=42&view=1")
    page.get_by_role("button", name="Share").click()
    dialog = page.get_by_role("dialog", name="Share")
    dialog.get_by_role("button", name="Copy the link").click()
    expect(dialog.get_by_role("status")).to_have_text("Copied.")
    address = page.evaluate("navigator.clipboard.readText()")
    assert address.endswith("/replays/code-battle?turn=42&view=1")
    page.goto(address)
    page.wait_for_selector(READY)
    expect(page.locator("#turn")).to_have_text("42")
    expect(page.locator("#perspective")).to_have_value("1")
    page.keyboard.press("ArrowRight")
    page.wait_for_url(re.compile("#turn=43"))
    page.reload()
    page.wait_for_selector(READY)
    expect(page.locator("#turn")).to_have_text("43")


@pytest.mark.thorough
def test_where_nothing_can_be_copied_the_text_is_selected(opened: Open) -> None:
    page = opened("hexagon")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Copy the link").click()
    expect(page.get_by_role("status")).to_contain_text("The text is selected")
    selected = "(one) => one.value.slice(one.selectionStart, one.selectionEnd) === one.value"
    assert page.locator("#share-link").evaluate(selected)


@pytest.mark.thorough
def test_the_code_for_another_page_shows_names_and_scores(
    altered: Altered, browser: Browser
) -> None:
    document = recorded("hexagon")
    players = [seat | {"name": HOSTILE} for seat in document["players"]]
    page = altered(document | {"players": players}, "#turn=5")
    page.get_by_role("button", name="Share").click()
    code = page.locator("#share-embed").input_value()
    assert "<img" not in code
    other = browser.new_page()
    there = page.evaluate("location.origin") + "/elsewhere"
    other.route(there, lambda route: route.fulfill(body=code, content_type="text/html"))
    other.goto(there)
    scores = document["result"]["outcome"]["scores"]
    words = f"Hexagon: {HOSTILE} {scores['1']}, {HOSTILE} {scores['2']}. {HOSTILE} won"
    expect(other.locator("iframe")).to_have_attribute("title", words)
    expect(other.get_by_role("link")).to_have_text(words)
    inside = other.frame_locator("iframe")
    expect(inside.locator("#turn")).to_have_text("5")
    expect(inside.locator("#players .name").first).to_be_visible()
    expect(inside.locator("#players .number b").first).to_be_visible()
    expect(other.locator("img")).to_have_count(0)
    other.close()


@pytest.mark.thorough
def test_a_hidden_result_is_not_shared(opened: Open) -> None:
    page = opened("hexagon", "#turn=5")
    page.get_by_role("switch", name="Hide the result").check()
    page.get_by_role("button", name="Share").click()
    assert 'title="Hexagon: bot0, bot1"' in page.locator("#share-embed").input_value()


@pytest.mark.thorough
def test_a_link_keeps_the_result_back(opened: Open) -> None:
    page = opened("hexagon", "#turn=9999")
    page.get_by_role("button", name="Share").click()
    page.get_by_role("switch", name="Hide the result until the end").check()
    assert "won" not in page.locator("#share-embed").input_value()
    address = page.locator("#share-link").input_value()
    assert address.endswith("/replays/hexagon?turn=0&hide=1"), "the end itself would tell"
    page.goto(address)
    page.wait_for_selector(READY)
    hide = page.get_by_role("switch", name="Hide the result")
    expect(hide).to_be_checked()
    assert "won" not in page.locator("main").inner_text()
    page.keyboard.press("ArrowRight")
    page.wait_for_url(re.compile("#turn=1&speed=1&hide=1"))
    page.reload()
    page.wait_for_selector(READY)
    assert "won" not in page.locator("main").inner_text()
    page.keyboard.press("End")
    expect(page.locator("#lead")).to_contain_text("won")
    opened("circuit-wars")
    expect(hide).not_to_be_checked()


@pytest.mark.thorough
def test_the_match_is_saved_as_an_animation_and_as_a_page(opened: Open, tmp_path: Path) -> None:
    page = opened("hexagon")
    page.get_by_role("button", name="Share").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save as GIF").click()
    assert waiting.value.suggested_filename == "hexagon.gif"
    waiting.value.save_as(tmp_path / "match.gif")
    with Image.open(tmp_path / "match.gif") as picture:
        assert getattr(picture, "n_frames", 0) == last_turn("hexagon") + 1
    expect(page.get_by_role("status")).to_have_text("The animation is saved.")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Save as HTML").click()
    assert waiting.value.suggested_filename == "hexagon.html"
    waiting.value.save_as(tmp_path / "match.html")
    assert b"replay-data" in (tmp_path / "match.html").read_bytes()


@pytest.mark.thorough
def test_why_there_is_no_animation_is_told(altered: Altered, watcher: Watcher) -> None:
    page = altered(recorded("hexagon") | {"game": "chess"})
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Save as GIF").click()
    expect(page.get_by_role("status")).to_contain_text("No animation: there is no game 'chess'")
    watcher.complaints = [one for one in watcher.complaints if "400" not in one]


@pytest.mark.thorough
@pytest.mark.parametrize("game", ["hexagon", "code-battle"])
def test_the_board_is_saved_as_a_picture(opened: Open, tmp_path: Path, game: str) -> None:
    page = opened(game, "#turn=7")
    page.get_by_role("button", name="Share").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save as PNG").click()
    assert waiting.value.suggested_filename == f"{game}-turn-7.png"
    file = tmp_path / "board.png"
    waiting.value.save_as(file)
    picture = Image.open(file)
    assert list(picture.size) == page.evaluate("[board.width, board.height]")
    assert picture.convert("RGBA").getchannel("A").getextrema() == (255, 255), "it has a ground"
    assert len(picture.convert("RGB").getcolors(100_000) or []) > 5


@pytest.mark.thorough
def test_the_dialog_is_closed_by_the_keyboard_and_has_no_serious_violation(opened: Open) -> None:
    page = opened("hexagon")
    page.get_by_role("button", name="Share").click()
    assert serious(page) == []
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.locator("#turn")).to_have_text("0")


# Playing on


@pytest.mark.thorough
def test_a_position_is_played_on_by_hand(opened: Open) -> None:
    page = opened("hexagon", "#turn=8")
    page.get_by_role("button", name="Play from here").click()
    dialog = page.get_by_role("dialog", name="Play on from turn 8")
    mover = frames("hexagon")[8]["color"]
    mine, other = (
        dialog.get_by_role("combobox", name=f"bot{seat}") for seat in (mover - 1, 2 - mover)
    )
    expect(mine).to_have_value("human")
    other.select_option("human")
    expect(mine).not_to_have_value("human")
    mine.select_option("human")
    other.select_option("builtin:random")
    assert complaints(page) == []
    dialog.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_selector("#viewer[data-yours=true]")
    expect(page.locator("#players .name").nth(mover - 1)).to_have_text("you")
    expect(page.locator("#players .name").nth(2 - mover)).to_have_text("random")
    for seat_number, chips in enumerate(page.locator("#players .number b").all_inner_texts()[::2]):
        cells = [cell for row in frames("hexagon")[8]["cells"] for cell in row]
        assert int(chips) == cells.count(seat_number + 1)
    expect(page.get_by_role("button", name="Play from here")).to_be_hidden()
    page.get_by_role("button", name="Play move").click()
    expect(page.locator("#turns")).not_to_have_text("0")


@pytest.mark.thorough
def test_bots_play_on_where_nobody_plays_by_hand(opened: Open) -> None:
    page = opened("code-battle", "#turn=8")
    page.get_by_role("button", name="Play from here").click()
    dialog = page.get_by_role("dialog", name="Play on from turn 8")
    seats = dialog.locator("#play-on-seats select")
    assert page.locator("#players > li").count() == seats.count()
    seats.first.select_option("builtin:rusher")
    dialog.get_by_role("combobox", name="Bots play").select_option("all")
    dialog.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_url("**/matches/*")
    expect(page.locator("#players .name").first).to_contain_text("rusher")
    expect(page.locator("#turns")).not_to_have_text("0")


@pytest.mark.thorough
def test_there_is_nothing_to_play_after_the_end(opened: Open) -> None:
    page = opened("hexagon", "#turn=9999")
    expect(page.get_by_role("button", name="Play from here")).to_be_disabled()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("button", name="Play from here")).to_be_enabled()
