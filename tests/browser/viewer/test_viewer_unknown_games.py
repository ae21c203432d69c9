"""A game without a picture in the viewer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import expect

from cw.replays import document as replays_document
from tests.browser.axe import serious
from tests.browser.recorded import recorded
from tests.browser.viewer.viewing import (
    HOSTILE,
    Altered,
    last_turn,
)

# A game without a picture


def unknown() -> replays_document.Document:
    """Give a replay of a game that no viewer knows."""
    return recorded("circuit-wars") | {"game": "chess"}


@pytest.mark.thorough
def test_a_game_without_a_picture_is_shown_as_text(altered: Altered) -> None:
    page = altered(unknown())
    expect(page.locator("#stage")).to_be_hidden()
    text = page.get_by_role("region", name="The frame as text")
    expect(text).to_contain_text("size: 5")
    expect(page.locator("#subtitle")).to_contain_text("chess, 45 turns")
    cards = page.locator("#players > li")
    expect(cards).to_have_count(2)
    page.keyboard.press("ArrowRight")
    move = next(iter(recorded("circuit-wars")["turns"][0]["actions"].values()))
    expect(page.locator("#happened")).to_contain_text(move)
    expect(text.locator(".fresh").filter(has_text="last_move")).to_have_count(1)
    expect(text.locator(".fresh").filter(has_text="size")).to_have_count(0)
    expect(page.locator(".turn-row[aria-current]")).to_contain_text(move)
    page.keyboard.press("End")
    scores = recorded("circuit-wars")["result"]["outcome"]["scores"]
    expect(cards.first.locator(".number b")).to_have_text(str(scores["1"]))
    reason = page.locator("#reason")
    expect(reason).to_contain_text(
        f"The match ended in turn {last_turn('circuit-wars')}: finished."
    )
    expect(
        page.get_by_role("list", name="Decisive moments").get_by_role("button")
    ).not_to_have_count(0)
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_role("button", name="Save as PNG")).to_be_hidden()
    page.keyboard.press("Escape")
    assert serious(page) == []


@pytest.mark.thorough
def test_an_unknown_game_tells_its_scores_at_the_end(altered: Altered) -> None:
    page = altered(recorded("hexagon") | {"game": "chess"})
    numbers = page.locator("#players .number b")
    expect(numbers.first).to_be_hidden()
    page.keyboard.press("End")
    scores = recorded("hexagon")["result"]["outcome"]["scores"]
    expect(numbers).to_have_text([str(scores["1"]), str(scores["2"])])


@pytest.mark.thorough
def test_what_is_shown_as_text_is_bounded_and_nothing_else(altered: Altered) -> None:
    deep: Any = HOSTILE
    for _ in range(200):
        deep = {HOSTILE: deep, "wide": "x" * 500}
    frame = {"deep": deep, "many": list(range(100_000)), "__proto__": [1], HOSTILE: HOSTILE}
    turns = [{"actions": {"1": frame}, "ms": {}, "frame": {}}]
    document = recorded("circuit-wars") | {"game": HOSTILE, "frame": frame, "turns": turns}
    page = altered(json.loads(json.dumps(document)))
    page.keyboard.press("End")
    expect(page.locator("#main img")).to_have_count(0)
    assert page.locator(".outline-line").count() <= 501
    assert max(len(text) for text in page.locator(".outline-line").all_inner_texts()) < 200
    assert page.title() != "1"


@pytest.mark.thorough
def test_a_replay_without_scores_has_no_chart(altered: Altered) -> None:
    document = recorded("hexagon") | {"game": "go"}
    page = altered(document)
    expect(page.locator("#chart")).to_be_hidden()
    expect(page.locator("#players .number").first).to_be_hidden()
