"""The controls of the viewer, by mouse and by keyboard."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.recorded import recorded
from tests.browser.viewer.viewing import (
    DRAWN,
    PICTURE,
    READY,
    TWO,
    Open,
    turn,
)
from tests.effort import first_is_fast

# Controls, by mouse


@pytest.mark.thorough
@pytest.mark.parametrize("game", TWO)
def test_buttons_step_and_go_to_both_ends(opened: Open, game: str) -> None:
    page = opened(game)
    last = len(recorded(game)["turns"])
    for name, result in (
        ("Last turn", last),
        ("Back one turn", last - 1),
        ("Back one turn", last - 2),
        ("Forward one turn", last - 1),
        ("First turn", 0),
    ):
        page.get_by_role("button", name=name, exact=True).click()
        turn(page).to_have_text(str(result))


@pytest.mark.thorough
@pytest.mark.parametrize("game", TWO)
def test_it_plays_to_the_end_and_again(stopped: Open, game: str) -> None:
    last = len(recorded(game)["turns"])
    page = stopped(game, f"#turn={last - 12}&speed=16")
    page.get_by_role("button", name="Play", exact=True).click()
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    page.clock.run_for(1000)
    turn(page).to_have_text(str(last))
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    page.get_by_text("2×", exact=True).click()
    expect(page.get_by_role("radio", name="2×", exact=True)).to_be_checked()
    page.get_by_role("button", name="Play", exact=True).click()
    page.clock.run_for(1100)
    turn(page).to_have_text("4")
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()


@pytest.mark.thorough
@pytest.mark.parametrize("game", TWO)
def test_the_line_of_turns_is_dragged(opened: Open, game: str) -> None:
    page = opened(game)
    last = len(recorded(game)["turns"])
    box = page.locator("#scrubber").bounding_box()
    assert box is not None
    height = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 9, height)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, height, steps=4)
    page.wait_for_function(
        "([half, most]) => Math.abs(document.getElementById('turn').textContent - half) <= most",
        arg=[last / 2, max(2, last / 20)],
    )
    page.mouse.move(box["x"] + box["width"] - 1, height)
    page.mouse.up()
    turn(page).to_have_text(str(last))
    pattern = re.compile(rf"^Turn {last} of {last}\. .+")
    expect(page.locator("#scrubber")).to_have_attribute("aria-valuetext", pattern)


@pytest.mark.thorough
@pytest.mark.parametrize("game", TWO)
def test_events_are_marked_and_visited(opened: Open, game: str) -> None:
    page = opened(game)
    columns = page.evaluate(
        "Array.from(marks.getContext('2d').getImageData(0, 0, marks.width, marks.height).data)"
    )
    assert any(columns)
    items = page.get_by_role("region", name="List of events").get_by_role("button")
    at = [int(text) for text in items.locator(".at").all_inner_texts()]
    assert at == sorted(at)
    assert len(set(at)) >= 2
    page.get_by_role("button", name="Next event").click()
    turn(page).to_have_text(str(at[0]))
    page.get_by_role("button", name="Last turn", exact=True).click()
    page.get_by_role("button", name="Previous event").click()
    turn(page).to_have_text(str(max(one for one in at if one < at[-1])))
    items.last.click()
    turn(page).to_have_text(str(at[-1]))


@pytest.mark.thorough
def test_charts_show_what_is_chosen(opened: Open) -> None:
    page = opened("code-battle")
    before = page.evaluate("() => document.getElementById('chart').toDataURL()")
    page.get_by_role("button", name="bots", exact=True).click()
    expect(page.get_by_role("img", name="Chart of the bots over time")).to_be_visible()
    page.wait_for_function(
        "(before) => document.getElementById('chart').toDataURL() !== before", arg=before
    )


@pytest.mark.thorough
def test_coordinates_are_switched_and_remembered(opened: Open) -> None:
    page = opened("circuit-wars")
    before = page.evaluate(PICTURE)
    page.get_by_role("switch", name="Coordinates").check()
    page.evaluate(DRAWN)
    assert page.evaluate(PICTURE) != before
    page.reload()
    page.wait_for_selector(READY)
    expect(page.get_by_role("switch", name="Coordinates")).to_be_checked()


# Controls, by keyboard


@pytest.mark.parametrize("game", first_is_fast(TWO))
def test_keys_step_and_jump(opened: Open, game: str) -> None:
    page = opened(game)
    last = len(recorded(game)["turns"])
    for key, result in (
        ("ArrowRight", 1),
        ("ArrowUp", 11),
        ("ArrowLeft", 10),
        ("ArrowDown", 0),
        ("End", last),
        ("ArrowRight", last),
        ("Home", 0),
    ):
        page.keyboard.press(key)
        turn(page).to_have_text(str(result))


@pytest.mark.thorough
@pytest.mark.parametrize("game", TWO)
def test_keys_play_hasten_and_visit_events(stopped: Open, game: str) -> None:
    page = stopped(game)
    for key, speed in (("+", 2), ("+", 4), ("+", 8), ("+", 16), ("+", 16), ("-", 8)):
        page.keyboard.press(key)
        expect(page.get_by_role("radio", name=f"{speed}×", exact=True)).to_be_checked()
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    page.keyboard.press("Home")
    page.keyboard.press("e")
    first = page.get_by_role("region", name="List of events").get_by_role("button").first
    turn(page).to_have_text(first.locator(".at").inner_text())
    page.keyboard.press("End")
    page.keyboard.press("q")
    expect(page.locator("#happened .event")).not_to_have_count(0)


@pytest.mark.thorough
@pytest.mark.parametrize("game", TWO)
def test_digits_choose_the_view(opened: Open, game: str) -> None:
    page = opened(game, "#turn=20")
    everything = page.evaluate(PICTURE)
    page.keyboard.press("2")
    expect(page.locator("#perspective")).to_have_value(str(recorded(game)["players"][1]["player"]))
    expect(page.locator("#players button").nth(1)).to_have_attribute("aria-pressed", "true")
    page.evaluate(DRAWN)
    assert page.evaluate(PICTURE) != everything
    page.keyboard.press("9")
    expect(page.locator("#players button").nth(1)).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("0")
    expect(page.locator("#perspective")).to_have_value("")
    page.evaluate(DRAWN)
    assert page.evaluate(PICTURE) == everything


@pytest.mark.thorough
def test_the_view_is_chosen_by_mouse(opened: Open) -> None:
    page = opened("hexagon")
    page.locator("#perspective").select_option(index=1)
    expect(page.locator("#players button").first).to_have_attribute("aria-pressed", "true")
    page.locator("#players button").first.click()
    expect(page.locator("#perspective")).to_have_value("")


def test_help_opens_and_holds_the_keys_back(opened: Open) -> None:
    page = opened("hexagon")
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Legend Keys")
    expect(keys).to_be_visible()
    expect(keys.get_by_text("Grey cells are stones")).to_be_visible()
    page.keyboard.press("ArrowRight")
    turn(page).to_have_text("0")
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    page.get_by_role("button", name="Help: legend and keys").click()
    keys.get_by_role("button", name="Close").click()
    page.keyboard.press("ArrowRight")
    turn(page).to_have_text("1")


@pytest.mark.thorough
def test_keys_do_nothing_while_a_field_has_the_focus(opened: Open, site: str) -> None:
    page = opened("hexagon")
    page.locator("#perspective").focus()
    page.keyboard.press("e")
    page.keyboard.press("End")
    turn(page).to_have_text("0")
    page.goto(f"{site}/replays/")
    player = page.get_by_role("searchbox", name="Player")
    player.press_sequentially("e? f")
    expect(player).to_have_value("e? f")
    expect(page.get_by_role("dialog")).to_be_hidden()


@pytest.mark.thorough
def test_keys_with_ctrl_are_the_browsers(opened: Open) -> None:
    page = opened("hexagon")
    page.keyboard.press("Control+ArrowRight")
    page.keyboard.press("ArrowRight")
    turn(page).to_have_text("1")
