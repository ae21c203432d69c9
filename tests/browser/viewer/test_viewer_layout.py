"""The room in the viewer: who leads, the board, and phones."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Watcher
from tests.browser.recorded import MATCHES, frames, recorded
from tests.browser.viewer.viewing import (
    DESK,
    DRAWN,
    DRAWN_DISCS,
    PHONE,
    READY,
    SMALLEST,
    TABLET,
    WIDE,
    Altered,
    Open,
    box,
)

# Who leads, and whose turn it is


@pytest.mark.thorough
@pytest.mark.parametrize("game", MATCHES)
def test_on_a_phone_cards_and_bar_stand_above_the_board(
    opened: Open, watcher: Watcher, game: str
) -> None:
    watcher.page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page = opened(game, "#turn=20")
    stage = box(page.locator("#stage"))
    for card in page.locator("#players > li").all():
        place = box(card)
        assert place["y"] + place["height"] <= stage["y"]
        assert place["x"] >= 0
        assert place["x"] + place["width"] <= PHONE[0]
    for name in ("#lead", "#shares"):
        assert box(page.locator(name))["y"] < stage["y"]
    assert stage["y"] + stage["height"] <= PHONE[1], "the whole board is on the first screen"
    page.set_viewport_size({"width": SMALLEST, "height": PHONE[1]})
    page.evaluate(DRAWN)
    assert page.evaluate("document.documentElement.scrollWidth") == SMALLEST, "one column"


@pytest.mark.thorough
def test_the_bar_shows_how_the_squares_are_shared(opened: Open) -> None:
    page = opened("circuit-wars", "#turn=0")
    expect(page.locator("#lead")).to_have_text("Tied: 0 squares each")
    for turn, frame in enumerate(frames("circuit-wars")):
        page.evaluate("(turn) => { location.hash = `turn=${turn}`; }", turn)
        expect(page.locator("#turn")).to_have_text(str(turn))
        parts = page.locator("#shares .share").evaluate_all(
            "(all) => all.map((one) => Number(one.style.getPropertyValue('--share')))"
        )
        assert parts == pytest.approx([score / 25 for score in frame["scores"]])
        cards = page.locator("#players > li")
        first, second = frame["scores"]
        expect(cards.nth(0).locator(".number b").first).to_have_text(str(first))
        if frame["ended"] is None:
            mover = cards.nth(frame["player"] - 1)
            expect(mover.locator(".standing")).to_have_text("to move")
            expect(cards.nth(2 - frame["player"]).locator(".standing")).to_be_hidden()
            assert cards.nth(0).locator(".leads").is_visible() == (first > second)
            assert cards.nth(1).locator(".leads").is_visible() == (second > first)
    expect(cards.locator(".standing", has_text="won")).to_have_count(1)
    expect(cards.locator(".standing", has_text="lost")).to_have_count(1)


@pytest.mark.thorough
def test_a_tie_is_led_by_the_tie_break(opened: Open) -> None:
    page = opened("code-battle")
    results = page.evaluate(
        """async () => {
          const { leadOf, leadWords, tieWords } = await import("/static/viewer/lead.js");
          const { CODE_BATTLE } = await import("/static/viewer/games/code_battle.js");
          const seats = [{ index: 0, name: "ada" }, { index: 1, name: "bob" }];
          const stand = (scores, collected, owners) => {
            const players = scores.map((score, seat) => ({ score, collected: collected[seat] }));
            const frame = { players, bots: owners.map((owner) => ({ owner })) };
            const lead = leadOf(frame, { seats }, CODE_BATTLE);
            return leadWords(lead, { seats }) + tieWords(lead);
          };
          return [
            stand([3, 1], [0, 9], [0]), stand([1, 1], [2, 9], [0]),
            stand([1, 1], [4, 4], [1, 0, 1]), stand([2, 2], [4, 4], [0, 1]),
          ];
        }"""
    )
    assert results == [
        "ada leads 3 to 1",
        "bob leads 9 to 2 in collected energy; tied in score",
        "bob leads 2 to 1 in living bots; tied in score and collected energy",
        "Tied: score 2 each",
    ]


# The room of the board


@pytest.mark.thorough
@pytest.mark.parametrize("game", MATCHES)
def test_the_board_has_the_room_there_is(opened: Open, game: str) -> None:
    page = opened(game)
    for size in (WIDE, DESK, TABLET):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.evaluate(DRAWN)
        look_at_the_room(page, size)


def look_at_the_room(page: Page, size: tuple[int, int]) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") == size[0]
    stage = box(page.locator("#stage"))
    shape = float(page.evaluate("document.documentElement.style.getPropertyValue('--shape')"))
    full = stage["height"] / stage["width"]
    if size != TABLET:
        # No empty stripes beside a board: the stage has its shape.
        assert full == pytest.approx(shape, rel=0.02)
        controls = box(page.locator(".buttons"))
        assert controls["y"] + controls["height"] <= size[1], "play is in sight"
    if shape == pytest.approx(1, abs=0.1) and size != TABLET:
        assert stage["height"] >= size[1] * 0.7


@pytest.mark.thorough
def test_bots_of_code_battle_are_large_enough(opened: Open) -> None:
    page = opened("code-battle", "#turn=100")
    ground = "#0b1118"
    discs = page.evaluate(DRAWN_DISCS)
    sizes = [arc["pixels"] for arc in discs if arc["style"] != ground]
    bots = len(frames("code-battle")[100]["bots"])
    assert len([size for size in sizes if 14 <= size < 20]) >= bots


@pytest.mark.thorough
def test_the_torus_goes_on_beyond_its_edges(opened: Open, watcher: Watcher) -> None:
    watcher.page.set_viewport_size({"width": 1000, "height": 700})
    page = opened("code-battle", "?embed=1#turn=20")
    page.keyboard.press("f")
    page.evaluate(DRAWN)
    width, height = page.evaluate("[board.clientWidth, board.clientHeight]")
    assert width > height * 1.2
    scale = (height - 12) / 60
    left = width / 2 - 30 * scale
    pixels = page.evaluate(
        """(x) => {
          const at = Math.round(x * board.width / board.clientWidth);
          const { data } = board.getContext("2d").getImageData(at, 0, 1, board.height);
          return new Set(data).size;
        }""",
        left - 2 * scale,
    )
    assert pixels > 3, "there is something to see beyond the edge"
    page.locator("#board").hover(position={"x": left - 1.5 * scale, "y": 6 + 10.5 * scale})
    page.evaluate(DRAWN)
    expect(page.locator("#spot")).to_contain_text("[10, 58]")


@pytest.mark.thorough
def test_the_cross_of_a_death_stays_one_turn(altered: Altered) -> None:
    document = recorded("code-battle")
    turns = list(document["turns"])
    for turn, dead in ((50, [{"row": 10, "col": 10, "owner": 0}]), (51, [])):
        played = turns[turn - 1]
        turns[turn - 1] = played | {"frame": played["frame"] | {"dead": [dead]}}
    page = altered(document | {"turns": turns}, "#turn=50")
    crosses = """async () => {
      const inks = [];
      const stroke = CanvasRenderingContext2D.prototype.stroke;
      CanvasRenderingContext2D.prototype.stroke = function (...given) {
        inks.push(this.strokeStyle);
        return stroke.apply(this, given);
      };
      document.getElementById("zoom-fit").click();
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      CanvasRenderingContext2D.prototype.stroke = stroke;
      return inks.includes("#ff5c5c");
    }"""
    counts = [page.evaluate(crosses)]
    page.keyboard.press("ArrowRight")
    expect(page.locator("#turn")).to_have_text("51")
    page.evaluate(DRAWN)
    counts.append(page.evaluate(crosses))
    assert counts == [True, False]


# Without a keyboard


@pytest.mark.thorough
def test_nothing_is_said_of_keys_on_a_phone(browser: Browser, site: str) -> None:
    context = browser.new_context(
        viewport={"width": PHONE[0], "height": PHONE[1]}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    page.goto(f"{site}/replays/hexagon")
    page.wait_for_selector(READY)
    page.locator("#help").tap()
    expect(page.get_by_text("Grey cells are stones")).to_be_visible()
    expect(page.get_by_role("heading", name="Keys")).to_be_hidden()
    for button in page.locator(".buttons button, .moment").all():
        if button.is_visible():
            assert min(box(button)["height"], box(button)["width"]) >= 24
    context.close()
