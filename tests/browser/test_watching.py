"""What people see in the viewer: who leads, what decided, which turn, and what they share."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

from cw.arena.program import ERROR_OUTPUT
from cw.replays import document as replay
from cw.replays.outputs import Output, write_outputs
from cw.web import create_app
from cw.web.settings import SiteSettings
from tests.browser.axe import complaints, serious
from tests.browser.conftest import Watcher
from tests.browser.recorded import MATCHES, fill, frames, recorded
from tests.browser.test_viewer import DRAWN, HOSTILE, READY
from tests.conftest import Serve

TABLET, DESK, WIDE = (1000, 760), (1280, 800), (1920, 1080)
PHONE = (390, 844)
SMALLEST = 360
"""The width of a small phone."""

DRAWN_DISCS = """async () => {
  const arcs = [];
  const arc = CanvasRenderingContext2D.prototype.arc;
  CanvasRenderingContext2D.prototype.arc = function (x, y, r, ...rest) {
    if (this.canvas.id === "board") {
      const scale = this.getTransform().a / devicePixelRatio;
      arcs.push({ style: this.fillStyle, pixels: 2 * r * scale });
    }
    return arc.call(this, x, y, r, ...rest);
  };
  document.getElementById("zoom-fit").click();
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  CanvasRenderingContext2D.prototype.arc = arc;
  return arcs;
}"""

Open = Callable[..., Page]
Altered = Callable[..., Page]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with a replay of each game."""
    place = tmp_path_factory.mktemp("replays")
    fill(place)
    return place


@pytest.fixture
def site(serve: Serve, folder: Path) -> str:
    return serve(create_app(SiteSettings(timeout=3, replays=folder)))


@pytest.fixture
def opened(site: str, watcher: Watcher) -> Open:
    """Open the viewer of a game's replay, where nothing moves by itself."""
    watcher.page.emulate_media(reduced_motion="reduce")

    def go(game: str, after: str = "") -> Page:
        watcher.page.goto(f"{site}/replays/{game}{after}")
        watcher.page.wait_for_selector(READY)
        watcher.page.evaluate(DRAWN)
        return watcher.page

    return go


@pytest.fixture
def altered(serve: Serve, watcher: Watcher, tmp_path: Path) -> Altered:
    """Open a replay that is not as it was played."""

    def go(document: replay.Document, after: str = "") -> Page:
        (tmp_path / "made.json").write_bytes(replay.encode(document, packed=False))
        site = serve(create_app(SiteSettings(timeout=3, replays=tmp_path)))
        watcher.page.goto(f"{site}/replays/made{after}")
        watcher.page.wait_for_selector(READY)
        return watcher.page

    return go


def last_turn(game: str) -> int:
    return len(recorded(game)["turns"])


def box(element: Locator) -> dict[str, float]:
    place = element.bounding_box()
    assert place is not None
    return {side: float(place[side]) for side in ("x", "y", "width", "height")}


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
    drawn = [page.evaluate(crosses)]
    page.keyboard.press("ArrowRight")
    expect(page.locator("#turn")).to_have_text("51")
    page.evaluate(DRAWN)
    drawn.append(page.evaluate(crosses))
    assert drawn == [True, False]


# Results explain themselves


def ended(game: str, outcome: dict[str, Any], **changes: Any) -> replay.Document:
    """Give a replay with another end."""
    document = recorded(game) | changes
    return document | {"result": document["result"] | {"outcome": outcome}}


def with_last_frame(document: replay.Document, **changes: Any) -> replay.Document:
    """Change members of the last frame."""
    last = document["turns"][-1]
    patch = last["frame"] | {name: [value] for name, value in changes.items()}
    return document | {"turns": [*document["turns"][:-1], last | {"frame": patch}]}


def two_players(*, score: int, collected: list[int], bots: list[int]) -> replay.Document:
    """Give a match of Code Battle that ended with the turn limit, of two players."""
    players = [
        {"energy": 0, "collected": collected[seat] if seat < 2 else 0, "score": score * (seat < 2)}
        for seat in range(3)
    ]
    living = [
        {"row": row, "col": 3 * seat, "owner": seat, "id": 1000 + 100 * seat + row}
        for seat, count in enumerate(bots)
        for row in range(count)
    ]
    order = sorted((0, 1), key=lambda seat: (-collected[seat], -bots[seat]))
    is_draw = collected[0] == collected[1] and bots[0] == bots[1]
    ranks = [1, 1, 3] if is_draw else [1 + order.index(0), 1 + order.index(1), 3]
    outcome = {
        "winner": None if is_draw else order[0],
        "condition": "turn_limit",
        "ranks": ranks,
        "final_scores": [score, score, 0],
        "final_energy": [*collected, 0],
        "final_bots": [*bots, 0],
    }
    return with_last_frame(ended("code-battle", outcome), players=players, bots=living)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("document", "words"),
    [
        (
            {"score": 2, "collected": [57, 33], "bots": [4, 9]},
            "bot0 won. The last turn, {last}, was played. The best were tied in score (2); "
            "the tie-break, collected energy, decided: 57 to 33.",
        ),
        (
            {"score": 1, "collected": [33, 33], "bots": [4, 9]},
            "bot1 won. The last turn, {last}, was played. The best were tied in score (1) and "
            "collected energy (33); the tie-break, living bots, decided: 9 to 4.",
        ),
        (
            {"score": 1, "collected": [33, 33], "bots": [4, 4]},
            "Draw: bot0 and bot1. The last turn, {last}, was played. bot0 and bot1 are tied in "
            "score (1), collected energy (33) and living bots (4): a draw.",
        ),
    ],
)
def test_a_tie_break_is_told_with_its_figures(
    altered: Altered, document: dict[str, Any], words: str
) -> None:
    page = altered(two_players(**document))
    words = words.format(last=last_turn("code-battle"))
    expect(page.locator("#reason")).to_have_text(words)
    page.keyboard.press("End")
    winner, _, why = words.partition(". ")
    expect(page.locator("#lead")).to_have_text(winner)
    expect(page.locator("#happened .event.end")).to_have_text(why)


TIMED_OUT = {"turn": 3, "player": 2, "kind": "timeout", "detail": "no move in 3 s."}
STONE = {"turn": 3, "player": 1, "kind": "illegal", "detail": "[0, 0] is a stone"}
LATE = {"turn": 6, "player": 3, "kind": "timeout", "detail": ""}
FIRST, SECOND, BOTH = {"1": 1, "2": 2}, {"1": 2, "2": 1}, {"1": 1, "2": 1, "3": 3}


@pytest.mark.parametrize(
    ("game", "outcome", "faults", "words"),
    [
        (
            "circuit-wars",
            {"reason": "timeout", "winner": 1, "ranks": FIRST, "scores": {"1": 3, "2": 4}},
            [TIMED_OUT],
            "bot0 won. In turn {last} bot1 forfeited: it did not answer in time: no move in 3 s. "
            "The board stood at 3 to 4 squares, which do not count then.",
        ),
        (
            "hexagon",
            {"reason": "illegal", "winner": 2, "ranks": SECOND, "scores": {"1": 9, "2": 4}},
            [STONE],
            "bot1 won. In turn {last} bot0 forfeited: it made an illegal move: [0, 0] is a "
            "stone. The chips stood at 9 to 4, which does not count then.",
        ),
        (
            "paint",
            {"reason": "turns_over"},
            [],
            "Draw: bot0 and bot1. The last turn was played, turn {last}: bot0 and bot1 own 40 "
            "squares each, and there is no tie-break.",
        ),
        ("paint", {"reason": "resigned"}, [], "bot0 won. In turn {last} bot1 resigned."),
        (
            "end-of-codes",
            {"reason": "round_cap", "winner": None, "ranks": BOTH, "scores": {}},
            [LATE],
            "Draw: bot0 and bot1. The last round was played, and bot0 and bot1 still had creatures "
            "and share the first rank, however many they had. In turn 7 bot2 was thrown out: it "
            "did not answer in time.",
        ),
        (
            "hexagon",
            None,
            [],
            "Nobody won. The match was abandoned in turn {last}, without a result.",
        ),
    ],
)
def test_an_end_is_told(
    altered: Altered,
    game: str,
    outcome: dict[str, Any] | None,
    faults: list[dict[str, Any]],
    words: str,
) -> None:
    if game == "paint" and outcome is not None:
        first, second = (str(seat["player"]) for seat in recorded("paint")["players"])
        is_draw = outcome["reason"] == "turns_over"
        outcome = outcome | {
            "ranks": {first: 1, second: 1 if is_draw else 2},
            "scores": {first: 40, second: 40},
        }
    document = recorded(game) | {"faults": faults}
    page = altered(document | {"result": document["result"] | {"outcome": outcome}})
    words = words.format(last=last_turn(game))
    expect(page.locator("#reason")).to_have_text(words)


def test_the_caption_tells_of_a_fault_and_whose_fault_decided(altered: Altered) -> None:
    outcome = {"reason": "illegal", "winner": 2, "ranks": SECOND, "scores": {"1": 9, "2": 4}}
    document = recorded("hexagon")
    last = last_turn("hexagon") - 1
    document |= {"result": document["result"] | {"outcome": outcome}}
    page = altered(document | {"faults": [{**LATE, "player": 2}, {**STONE, "turn": last}]})
    caption = page.locator("#lead")
    expect(caption).not_to_have_class("fault")
    page.evaluate("location.hash = 'turn=7'")
    expect(caption).to_have_text("bot1 did not answer in time")
    expect(caption).to_have_class("fault")
    page.keyboard.press("End")
    expect(caption).to_have_text("bot1 won: bot0 made an illegal move")
    expect(caption).not_to_have_class("fault")


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
    deed = page.locator(".turn-row[aria-current] .deed").first
    expect(deed).to_have_attribute("title", text)
    expect(deed).not_to_be_empty()


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


def long_match(turns: int) -> replay.Document:
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


# The result stays hidden until the end


def pixels_right_of(page: Page, name: str, share: float) -> int:
    """Count the pixels that are drawn on a canvas right of a part of its width."""
    return int(
        page.evaluate(
            """([name, share]) => {
              const canvas = document.getElementById(name);
              const { width, height } = canvas;
              const from = Math.round(width * share);
              const copy = Object.assign(document.createElement("canvas"), { width, height });
              const ctx = copy.getContext("2d", { willReadFrequently: true });
              ctx.drawImage(canvas, 0, 0);
              const { data } = ctx.getImageData(from, 0, width - from, height);
              return data.filter((value, at) => at % 4 === 3 && value > 0).length;
            }""",
            [name, share],
        )
    )


@pytest.mark.thorough
def test_the_result_is_hidden_until_the_end_was_watched(opened: Open, site: str) -> None:
    page = opened("circuit-wars")
    hide = page.get_by_role("switch", name="Hide the result")
    expect(page.locator("#result")).to_contain_text("won")
    hide.check()
    last = last_turn("circuit-wars")

    def check_hidden(turn: int) -> None:
        expect(page.locator("#title")).to_have_text("bot0 against bot1")
        assert "won" not in page.title()
        expect(page.locator("#result")).to_be_hidden()
        text = page.locator("main").inner_text()
        assert "won" not in text
        for at in page.locator("#events .at").all_inner_texts():
            assert int(at) <= turn
        for number in page.locator(".turn-row:visible").evaluate_all(
            "(rows) => rows.map((row) => Number(row.dataset.turn))"
        ):
            assert number <= turn
        assert pixels_right_of(page, "marks", turn / last + 0.06) == 0
        for moment in page.locator("#moments button:visible .unseen").all_inner_texts():
            assert int(re.sub(r"\D", "", moment)) <= turn

    check_hidden(0)
    page.evaluate("(turn) => { location.hash = `turn=${turn}`; }", last // 2)
    expect(page.locator("#turn")).to_have_text(str(last // 2))
    check_hidden(last // 2)
    page.goto(f"{site}/replays/circuit-wars#turn=3")
    page.reload()
    page.wait_for_selector(READY)
    expect(hide).to_be_checked()
    check_hidden(3)
    page.keyboard.press("End")
    expect(page.locator("#lead")).to_have_text(re.compile("won"))
    expect(page.locator("#result")).to_be_visible()
    page.keyboard.press("Home")
    expect(page.locator("#lead")).not_to_have_text(re.compile("won"))
    expect(page.locator("#result")).to_contain_text("won")
    hide.uncheck()
    page.reload()
    page.wait_for_selector(READY)
    expect(hide).not_to_be_checked()


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
    page.get_by_role("button", name="Play it").click()
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


# What the owner of a bot sees


@pytest.mark.thorough
def test_the_owner_sees_what_bots_put_out(serve: Serve, watcher: Watcher, tmp_path: Path) -> None:
    file = tmp_path / "match.json"
    file.write_bytes(replay.encode(recorded("hexagon"), packed=False))
    lines = "\n".join(f"line {number} {HOSTILE}" for number in range(200))
    write_outputs(file, [Output(), Output(lines, [(0, 0), (3, len(lines) - 20)])])
    site = serve(create_app(SiteSettings(timeout=3, replays=tmp_path, owner=True)))
    page = watcher.page
    page.goto(f"{site}/replays/match")
    page.wait_for_selector(READY)
    part = page.get_by_role("region", name="Output of the bots")
    expect(part.get_by_role("heading", level=3)).to_have_count(1)
    text = part.get_by_role("region", name="Output of bot1")
    expect(text).to_contain_text(f"line 199 {HOSTILE}")
    wrote = page.get_by_role("region", name="What bot1 wrote in this turn")
    page.evaluate("location.hash = '#turn=3'")
    expect(wrote).to_have_text(lines[-20:])
    page.keyboard.press("ArrowLeft")
    expect(wrote).to_have_count(0)
    assert text.evaluate("(one) => one.scrollTop + one.clientHeight >= one.scrollHeight - 2")
    assert complaints(page) == []
    page.get_by_role("switch", name="Hide the result").check()
    expect(part).to_be_hidden()
    page.keyboard.press("End")
    expect(part).to_be_visible()


@pytest.mark.thorough
def test_the_last_line_of_an_exception_stands_first_and_its_traceback_below(
    altered: Altered,
) -> None:
    trace = 'Traceback (most recent call last):\n  File "bot.py", line 3, in move\nKeyError: 7\n'
    detail = f"the process ended with exit code 1{ERROR_OUTPUT}{trace}"
    crash = {"turn": 3, "player": 1, "kind": "crash", "detail": detail}
    page = altered(recorded("hexagon") | {"faults": [crash]}, "#turn=4")
    fault = page.locator("#happened li").first
    expect(fault.locator(".did > *").first).to_have_text("KeyError: 7")
    whole = fault.locator("pre")
    expect(whole).to_be_hidden()
    fault.get_by_text("The whole traceback").click()
    expect(whole).to_be_visible()
    assert whole.inner_text() == trace.rstrip()


@pytest.mark.thorough
def test_response_times_are_told_by_turn_and_in_sum(altered: Altered) -> None:
    document = recorded("hexagon")
    turns = [
        turn | {"ms": dict.fromkeys(turn["ms"], 1200 if number == 11 else 3.25)}
        for number, turn in enumerate(document["turns"])
    ]
    page = altered(document | {"turns": turns}, "#turn=4")
    expect(page.locator("#happened .took")).to_have_text(["3.3 ms"])
    rows = page.get_by_role("region", name="Response times").get_by_role("row")
    slow = next(iter(turns[11]["ms"]))
    name = next(seat["name"] for seat in document["players"] if str(seat["player"]) == slow)
    row = rows.filter(has_text=name)
    expect(row).to_have_text(re.compile(r"3\.3 ms.*3\.3 ms.*1\.2 s in turn 12"))
    row.get_by_role("button", name="turn 12").click()
    expect(page.locator("#turn")).to_have_text("12")
    expect(page.locator("#happened .took")).to_have_text(["1.2 s"])


# A game without a picture


def unknown() -> replay.Document:
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


# The replays before and after


@pytest.mark.thorough
def test_neighbours_are_linked_where_the_page_names_them(opened: Open, site: str) -> None:
    page = opened("hexagon")
    expect(page.locator(".neighbour:visible")).to_have_count(2)

    def with_neighbours(route: Any) -> None:
        answer = route.fetch()
        named = 'data-previous="/replays/paint" data-next="javascript:alert(1)"'
        body = re.sub(r'data-previous="[^"]*"\s+data-next="[^"]*"', named, answer.text())
        assert named in body
        route.fulfill(response=answer, body=body)

    page.route("**/replays/hexagon", with_neighbours)
    page.goto(f"{site}/replays/hexagon")
    page.wait_for_selector(READY)
    expect(page.locator("#next-replay")).to_be_hidden()
    page.get_by_role("link", name="Previous").click()
    page.wait_for_url("**/replays/paint")
    page.wait_for_selector(READY)


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
