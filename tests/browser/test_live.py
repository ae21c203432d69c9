"""Matches that the server plays: watched while they run, and played by hand, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import sqrt
from random import Random
from time import monotonic, sleep
from typing import Any

import pytest
import requests
from playwright.sync_api import Page, expect

from cw.games.registry import load_game
from cw.replays import document as replay
from cw.replays.verify import verify
from cw.web import create_app
from cw.web.live_matches import LiveMatches
from cw.web.settings import SiteSettings
from tests.browser.conftest import Watcher
from tests.browser.test_monitor import AXE, serious
from tests.browser.test_viewer import middle
from tests.conftest import Serve

SLOW = 60_000
"""Milliseconds that are enough on the slowest machine."""

PLAIN, NUMBERED = 12, 30
"""Pixels around the board without and with coordinates."""


class Site:
    """A server whose matches are begun as the forms of its pages do it."""

    def __init__(self, address: str, matches: LiveMatches) -> None:
        self.address = address
        self.matches = matches

    def begin(self, game: str, **form: str) -> str:
        """Begin a match, and give the address of its page."""
        place = f"{self.address}/games/{game}/matches"
        form = {name.replace("_", "-"): value for name, value in form.items()}
        answer = requests.post(place, data=form, allow_redirects=False, timeout=60)
        assert answer.status_code == 303, answer.text
        return self.address + answer.headers["Location"]


@pytest.fixture
def site(serve: Serve) -> Iterator[Site]:
    app = create_app(SiteSettings(timeout=3))
    matches: LiveMatches = app.extensions["matches"]
    yield Site(serve(app), matches)
    matches.close()


def show(watcher: Watcher, address: str) -> Page:
    watcher.page.set_default_timeout(SLOW)
    watcher.page.emulate_media(reduced_motion="reduce")
    watcher.page.goto(address)
    watcher.page.wait_for_selector("#viewer[data-state=ready]")
    return watcher.page


def number(page: Page, name: str) -> int:
    return int(page.inner_text(name))


def wait_for_turn(page: Page) -> dict[str, Any] | None:
    """Wait until a person may move, and give what they may do; None when the match is over."""
    page.wait_for_function(
        """() => document.getElementById("viewer").dataset.yours === "true"
          || document.getElementById("hand").hidden"""
    )
    if page.locator("#hand").is_hidden():
        return None
    moves = page.locator("#hand-move option").all_inner_texts()
    return {"moves": moves, "turn": number(page, "#turns")}


def wait_until_sent(page: Page, turn: int) -> None:
    page.wait_for_function(
        "(turn) => Number(document.getElementById('turns').textContent) > turn", arg=turn
    )


def place_on_page(
    page: Page, x: float, y: float, size: tuple[float, float], padding: int
) -> tuple[float, float]:
    box = page.locator("#board").bounding_box()
    assert box is not None
    left, top = middle(page, x, y, size, padding)
    return box["x"] + left, box["y"] + top


def test_a_running_match_is_followed_until_the_viewer_goes_back(
    site: Site, watcher: Watcher
) -> None:
    address = site.begin(
        "paint", seat_1="builtin:greedy", seat_2="builtin:walker", turns="200", pace="4"
    )
    page = show(watcher, address)
    expect(page.locator("#title")).to_have_text("greedy against walker")
    expect(page.locator("#subtitle")).to_have_text("Paint, being played")
    live = page.get_by_role("button", name="Live")
    expect(live).to_have_attribute("aria-pressed", "true")
    page.wait_for_function("() => Number(document.getElementById('turn').textContent) >= 3")
    page.keyboard.press("Home")
    expect(live).to_have_attribute("aria-pressed", "false")
    expect(page.locator("#turn")).to_have_text("0")
    then = number(page, "#turns")
    page.wait_for_function(
        "(then) => Number(document.getElementById('turns').textContent) > then", arg=then
    )
    assert number(page, "#turn") == 0
    live.click()
    expect(live).to_have_attribute("aria-pressed", "true")
    page.wait_for_function(
        "(then) => Number(document.getElementById('turn').textContent) > then", arg=then
    )


def play_to_the_end(address: str) -> None:
    """Play a match by hand as a program would, whatever is offered first."""
    path, _, key = address.partition("?")
    until = monotonic() + SLOW / 1000
    while True:
        assert monotonic() < until
        said = requests.get(f"{path}/document?{key}", timeout=60).json()
        if said.get("live", {}).get("over"):
            return
        if yours := said.get("yours"):
            move = {"turn": yours["turn"], "action": yours["moves"][0]}
            requests.post(f"{path}/move?{key}", json=move, timeout=60)
        sleep(0.02)


def test_the_end_of_a_match_is_told_where_it_was_watched(site: Site, watcher: Watcher) -> None:
    address = site.begin("hexagon", bot="builtin:random", hand="1", size="3", seed="3")
    page = show(watcher, address.partition("?")[0])
    expect(page.locator("#subtitle")).to_have_text("Hexagon, being played")
    play_to_the_end(address)
    expect(page.locator("#title")).to_have_text(re.compile("won|Draw"))
    expect(page.locator("#live")).to_be_hidden()
    last = number(page, "#turns")
    assert last > 1
    expect(page.locator("#turn")).to_have_text(str(last))
    expect(page.locator("#events .kind.end")).to_have_count(1)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the replay").click()
    kept = replay.decode(download.value.path().read_bytes())
    assert verify(load_game("hexagon"), kept) is None
    page.wait_for_url(re.compile(f"turn={last}"))
    page.reload()
    page.wait_for_selector("#viewer[data-surveyed=true]")
    expect(page.locator("#turn")).to_have_text(str(last))


def hexagon_place(page: Page, size: int, cell: list[int]) -> tuple[float, float]:
    rows, pitch, radius = 2 * size - 1, sqrt(3) / 2, 1 / sqrt(3)
    row, col = cell
    extent = (rows + 0.5, (rows - 1) * pitch + 2 * radius)
    return place_on_page(page, col + 0.5 + (row % 2) / 2, radius + row * pitch, extent, NUMBERED)


def cells(label: str) -> tuple[list[int], list[int]]:
    found = [int(digits) for digits in re.findall(r"\d+", label)]
    return found[:2], found[2:]


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=3)
    page.mouse.up()


def most_captures(site: Site, address: str, moves: list[str]) -> str:
    """Choose as a person does who looks at the board: the most captures, rather beside than far."""
    match = site.matches.find(address.rpartition("/")[2].partition("?")[0])
    assert match is not None
    assert match.progress is not None
    played = match.progress.record
    state = played.state

    def value(label: str) -> tuple[int, bool]:
        start, end = cells(label)
        document = {"move_from": start, "move_to": end}
        color = str(state.color)
        action = played.game.codec.actions_from_json(state, {color: document})
        after = played.game.rules.step(state, action)
        chips = sum(row.count(state.color) for row in after.cells)
        return chips, True

    return max(moves, key=value)


def test_a_person_beats_random_at_hexagon_with_the_mouse(site: Site, watcher: Watcher) -> None:
    address = site.begin("hexagon", bot="builtin:random", hand="1", size="4", seed="5")
    page = show(watcher, address)
    expect(page.locator("#hand-words")).to_contain_text("1 jump left")
    page.locator("#stage").scroll_into_view_if_needed()
    while (asked := wait_for_turn(page)) is not None:
        start, end = cells(most_captures(site, address, asked["moves"]))
        drag(page, hexagon_place(page, 4, start), hexagon_place(page, 4, end))
        wait_until_sent(page, asked["turn"])
    expect(page.locator("#title")).to_have_text("you won")
    ended = r"Neither colour could move any more after the move in turn \d+: \d+ chips to \d+\."
    expect(page.locator("#reason")).to_have_text(re.compile(rf"^you won\. {ended}$"))


def test_a_chip_is_clicked_and_then_its_target(site: Site, watcher: Watcher) -> None:
    page = show(watcher, site.begin("hexagon", bot="builtin:random", hand="1", size="3"))
    asked = wait_for_turn(page)
    assert asked is not None
    start, end = cells(asked["moves"][0])
    page.locator("#stage").scroll_into_view_if_needed()
    page.mouse.click(*hexagon_place(page, 3, [2, 2]))
    assert number(page, "#turns") == 0
    page.mouse.click(*hexagon_place(page, 3, start))
    page.mouse.click(*hexagon_place(page, 3, end))
    wait_until_sent(page, 0)


def test_a_segment_is_drawn_by_a_click_and_an_area_is_filled(site: Site, watcher: Watcher) -> None:
    address = site.begin("circuit-wars", bot="builtin:random", hand="1", size="3", seed="1")
    page = show(watcher, address)
    page.locator("#stage").scroll_into_view_if_needed()
    rng = Random(2)
    while (asked := wait_for_turn(page)) is not None:
        x, y, border = rng.choice(asked["moves"]).split(",")
        across, down = {"top": (0.5, 0), "left": (0, 0.5), "bottom": (0.5, 1), "right": (1, 0.5)}[
            border
        ]
        spot = (int(x) + across, int(y) + down)
        page.mouse.click(*place_on_page(page, *spot, (3, 3), PLAIN))
        wait_until_sent(page, asked["turn"])
    expect(page.locator("#live")).to_be_hidden()
    scores = [int(text) for text in page.locator("#players .numbers b").all_inner_texts()]
    assert sum(scores) == 9


def test_paint_is_played_by_keys_pads_and_clicks(site: Site, watcher: Watcher) -> None:
    address = site.begin(
        "paint", bot="builtin:random", hand="1", width="10", height="10", turns="50"
    )
    page = show(watcher, address)
    page.locator("#stage").scroll_into_view_if_needed()

    def after(act: Any, *given: Any) -> str:
        asked = wait_for_turn(page)
        assert asked is not None
        act(*given)
        wait_until_sent(page, asked["turn"])
        expect(page.locator("#turn")).to_have_text(str(asked["turn"] + 1))
        return page.locator("#happened li:not(.event)", has_text="you").inner_text()

    assert "walked right" in after(page.keyboard.press, "ArrowRight")
    assert "walked down-right" in after(page.keyboard.press, "KeyC")
    assert "shot down" in after(page.keyboard.press, "Shift+KeyX")
    pad = page.get_by_role("group", name="walk", exact=True)
    assert "walked left" in after(pad.get_by_role("button", name="walk left", exact=True).click)
    beside = place_on_page(page, 1.5, 2.5, (10, 10), PLAIN)
    assert "walked down" in after(page.mouse.click, *beside)
    far = place_on_page(page, 8.5, 2.5, (10, 10), PLAIN)
    assert "shot right" in after(page.mouse.click, *far)
    squares = page.locator("#players .numbers b").first
    assert int(squares.inner_text()) > 1


def test_a_refused_move_is_told_and_asked_again(site: Site, watcher: Watcher) -> None:
    page = show(watcher, site.begin("hexagon", bot="builtin:random", hand="1", size="3"))
    assert wait_for_turn(page) is not None
    page.evaluate(
        """() => {
          const turn = document.getElementById("hand-move");
          turn.selectedIndex = -1;
        }"""
    )
    page.get_by_role("button", name="Play it").click()
    assert number(page, "#turns") == 0
    page.locator("#hand-move").select_option(index=1)
    page.get_by_role("button", name="Play it").click()
    wait_until_sent(page, 0)


def test_a_match_is_given_up(site: Site, watcher: Watcher) -> None:
    page = show(watcher, site.begin("hexagon", bot="builtin:random", hand="2", size="3"))
    assert wait_for_turn(page) is not None
    page.get_by_role("button", name="Give up").click()
    expect(page.locator("#trouble")).to_have_text("The match was given up.")
    expect(page.locator("#hand")).to_be_hidden()
    expect(page.locator("#title")).to_have_text("Nobody won")


def test_who_has_no_key_only_watches(site: Site, watcher: Watcher) -> None:
    address = site.begin("hexagon", bot="builtin:random", hand="1", size="3")
    page = show(watcher, address.partition("?")[0])
    expect(page.locator("#hand")).to_have_count(0)
    page.wait_for_event("response", lambda answer: answer.status == 304)
    expect(page.locator("#subtitle")).to_have_text("Hexagon, being played")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("game", ["circuit-wars", "hexagon", "paint"])
def test_the_page_has_no_serious_violation(
    site: Site, watcher: Watcher, game: str, scheme: Any
) -> None:
    watcher.page.emulate_media(color_scheme=scheme)
    page = show(watcher, site.begin(game, bot="builtin:random", hand="1"))
    assert wait_for_turn(page) is not None
    page.evaluate(AXE.read_text(encoding="utf-8"))
    assert serious(page) == []


def test_a_server_that_is_gone_is_told(site: Site, watcher: Watcher) -> None:
    page = show(watcher, site.begin("hexagon", bot="builtin:random", hand="1", size="3"))
    assert wait_for_turn(page) is not None
    watcher.server_leaves = True
    page.route("**/document*", lambda route: route.abort())
    expect(page.locator("#trouble")).to_have_text("The server does not answer; trying again.")
    page.unroute("**/document*")
    expect(page.locator("#trouble")).to_be_hidden()
    assert wait_for_turn(page) is not None
