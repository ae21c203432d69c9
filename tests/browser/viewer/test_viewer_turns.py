"""The turns in the viewer: decisive moments, and the list in words."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from cw.games.registry import load_endings
from cw.replays import document as replays_document
from tests.browser.axe import Scheme, show_on
from tests.browser.conftest import Watcher, each_screen
from tests.browser.recorded import MATCHES, frames, recorded
from tests.browser.viewer.viewing import (
    DRAWN,
    Altered,
    Open,
    box,
    last_turn,
)
from tests.effort import first_is_fast

# Decisive moments


@pytest.mark.thorough
@pytest.mark.parametrize("game", MATCHES)
def test_decisive_moments_stand_in_words_on_the_line_of_turns(opened: Open, game: str) -> None:
    page = opened(game)
    moments = page.get_by_role("list", name="Decisive moments").get_by_role("button")
    assert moments.count() >= 1
    expect(moments.last).to_contain_text("the end")
    line = box(page.locator("#moments"))
    places = sorted((box(one)["x"], box(one)["width"]) for one in moments.all())
    for (left, width), (other, _) in pairwise(places):
        assert left + width <= other, "none covers another"
    for left, width in places:
        assert left >= line["x"] - 1
        assert left + width <= line["x"] + line["width"] + 1
    for one in moments.all():
        assert box(one)["height"] >= 24
    moments.last.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#turn")).to_have_text(str(last_turn(game)))


@pytest.mark.thorough
def test_a_change_of_the_lead_is_an_event(opened: Open) -> None:
    page = opened("circuit-wars")
    leader, wanted = -1, []
    for turn, frame in enumerate(frames("circuit-wars")):
        scores = frame["scores"]
        ahead = scores.index(max(scores))
        if scores[0] != scores[1] and ahead != leader:
            leader = ahead
            wanted.append(
                f"{turn}bot{ahead} takes the lead in squares, {max(scores)} to {min(scores)}"
            )
    events = page.get_by_role("region", name="List of events").get_by_role("button")
    texts = [text.replace("\n", "") for text in events.all_inner_texts()]
    assert [text[1:] for text in texts if "takes the lead" in text] == wanted


@pytest.mark.thorough
def test_the_line_of_turns_says_what_happened(opened: Open) -> None:
    page = opened("circuit-wars")
    page.keyboard.press("e")
    text = page.locator("#scrubber").get_attribute("aria-valuetext") or ""
    assert re.fullmatch(r"Turn \d+ of \d+\. bot\d closed \d+ squares?(\. bot\d takes .+)?", text)


# The list of turns


@pytest.mark.thorough
@pytest.mark.parametrize("game", MATCHES)
def test_every_turn_is_listed_in_words_and_leads_there(opened: Open, game: str) -> None:
    page = opened(game)
    rows = page.get_by_role("region", name="Turns", exact=True).get_by_role("button")
    expect(rows.first).to_contain_text("The start")
    rows.nth(2).click()
    expect(page.locator("#turn")).to_have_text("2")
    expect(page.locator(".turn-row[aria-current]")).to_have_attribute("data-turn", "2")
    text = page.locator("#happened .did").first.inner_text()
    action = page.locator(".turn-row[aria-current] .turn-action").first
    expect(action).to_have_attribute("title", text)
    expect(action).not_to_be_empty()


@pytest.mark.thorough
def test_the_turn_that_is_shown_stays_in_sight(opened: Open) -> None:
    page = opened("code-battle")
    for key in ("End", "Home", *["ArrowUp"] * 9, *["ArrowLeft"] * 5):
        page.keyboard.press(key)
        page.evaluate(DRAWN)
        turn = page.locator("#turn").inner_text()
        current = page.locator(".turn-row[aria-current]")
        expect(current).to_have_attribute("data-turn", turn)
        row, place = box(current), box(page.locator("#turn-scroller"))
        assert row["y"] >= place["y"] - 1
        assert row["y"] + row["height"] <= place["y"] + place["height"] + 1
        assert page.evaluate("scrollY") == 0


@pytest.mark.thorough
def test_the_list_of_turns_takes_the_arrows_while_it_has_the_focus(opened: Open) -> None:
    page = opened("code-battle", "#turn=40")
    page.locator(".turn-row[aria-current]").focus()
    for key, turn in (("ArrowDown", 41), ("ArrowUp", 40), ("ArrowUp", 39), ("Home", 0)):
        page.keyboard.press(key)
        expect(page.locator("#turn")).to_have_text(str(turn))
        expect(page.locator(".turn-row:focus")).to_have_attribute("data-turn", str(turn))
    page.keyboard.press("End")
    expect(page.locator("#turn")).to_have_text(str(last_turn("code-battle")))
    page.keyboard.press("PageUp")
    expect(page.locator("#turn")).not_to_have_text(str(last_turn("code-battle")))


def long_match(turns: int) -> replays_document.Document:
    """Give a replay of many turns: one is played again and again."""
    document = recorded("hexagon")
    one = document["turns"][0]
    rest = [one | {"frame": {}} for _ in range(turns - 1)]
    return document | {"turns": [one, *rest]}


@pytest.mark.thorough
def test_a_long_match_has_few_rows_in_the_page(altered: Altered) -> None:
    page = altered(long_match(5000))
    assert page.locator(".turn-row").count() < 60
    page.keyboard.press("End")
    expect(page.locator(".turn-row[aria-current]")).to_have_attribute("data-turn", "5000")
    page.locator("#turn-scroller").evaluate("(one) => { one.scrollTop = one.scrollHeight / 2; }")
    page.evaluate(DRAWN)
    middle = page.locator(".turn-row:visible").evaluate_all(
        "(rows) => rows.map((row) => Number(row.dataset.turn))"
    )
    assert all(2400 < turn < 2600 for turn in middle)
    expect(page.locator('.turn-row[data-turn="2500"]')).to_contain_text("jump 6,2 to 6,4")
    assert page.locator(".turn-row").count() < 60


# A turn of which much is told


LONG = "ValueError: " + "a mistake of which somebody wants to read every single word; " * 4
CUT_OFF = """() => [...document.querySelectorAll("#happened, #happened *")].filter((part) => {
  if (part.closest("pre")) return false;
  const room = document.querySelector(".now").getBoundingClientRect();
  const { left, right, bottom } = part.getBoundingClientRect();
  return part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).display !== "inline"
    || part.scrollHeight > part.clientHeight + 1 && getComputedStyle(part).overflowY !== "visible"
    || left < room.left || right > room.right + 0.5 || bottom > room.bottom + 0.5;
}).map(({ outerHTML }) => outerHTML.slice(0, 120))"""
"""What of this turn is not to be read without scrolling within it; tracebacks have their own."""


def failing(game: str, turn: int) -> replays_document.Document:
    """Return a match in which everybody has failed in a turn, with much to tell."""
    document = recorded(game)
    detail = f"its program ended before the end of the match: exit code 1: {LONG}"
    faults = [
        {"turn": turn - 1, "player": seat["player"], "kind": "crashed", "detail": detail}
        for seat in document["players"]
    ]
    return document | {"faults": faults}


def shown_with(game: str, turn: int) -> int:
    """Return the turn with which the viewer shows a fault: that of the board that was sent."""
    return turn - 1 + load_endings(game).first


@each_screen
@pytest.mark.parametrize("game", first_is_fast(MATCHES))
def test_no_word_of_a_turn_is_cut(
    altered: Altered, watcher: Watcher, game: str, scheme: Scheme, width: int
) -> None:
    show_on(watcher.page, scheme, width)
    page = altered(failing(game, 3), f"#turn={shown_with(game, 3)}")
    expect(page.locator("#happened .fault")).not_to_have_count(0)
    assert page.evaluate(CUT_OFF) == []
    page.keyboard.press("End")
    expect(page.locator("#happened .event.end")).to_be_visible()
    assert page.evaluate(CUT_OFF) == []
    assert page.evaluate("document.documentElement.scrollWidth") == width


@each_screen
@pytest.mark.parametrize("game", first_is_fast(MATCHES))
def test_a_fault_in_the_last_turn_is_labelled(
    altered: Altered, watcher: Watcher, game: str, scheme: Scheme, width: int
) -> None:
    show_on(watcher.page, scheme, width)
    page = altered(failing(game, last_turn(game)))
    moments = page.get_by_role("list", name="Decisive moments").get_by_role("button")
    expect(moments.last).to_contain_text("the end")
    label = moments.filter(has_text="crashed")
    expect(label).to_be_visible()
    label.click()
    expect(page.locator("#turn")).to_have_text(str(shown_with(game, last_turn(game))))
    expect(page.locator("#events .kind.fault")).not_to_have_count(0)
    expect(page.locator("#events .kind.end")).to_have_count(1)
