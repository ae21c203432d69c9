"""Matches that the server plays: watched while they run, and played by hand, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from math import sqrt
from random import Random
from time import monotonic, sleep
from typing import Any

import pytest
import requests
from playwright.sync_api import Browser, Page, expect

from cw.arena.bots import BotKind, BotSpec
from cw.games.registry import load_game
from cw.matches.spec import MatchSpec
from cw.replays import document as replays_document
from cw.replays.verify import verify
from cw.web import create_app
from cw.web.live_matches import LiveMatches
from cw.web.settings import SiteSettings
from tests.browser.axe import Scheme, complaints, on_each_screen, serious, show_on
from tests.browser.conftest import Watcher, each_screen, watch
from tests.browser.viewer.viewing import middle
from tests.effort import first_is_fast
from tests.fixtures import Serve
from tests.web.live.live_pages import PATIENCE

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
    until = monotonic() + PATIENCE
    while True:
        assert monotonic() < until
        document = requests.get(f"{path}/document?{key}", timeout=60).json()
        if document.get("live", {}).get("over"):
            return
        if yours := document.get("yours"):
            move = {"turn": yours["turn"], "action": yours["moves"][0]}
            requests.post(f"{path}/move?{key}", json=move, timeout=60)
        sleep(0.02)


@pytest.mark.thorough
def test_the_end_of_a_match_is_told_where_it_was_watched(site: Site, watcher: Watcher) -> None:
    address = site.begin("hexagon", bot="builtin:random", hand="1", size="3", seed="3")
    page = show(watcher, address.partition("?")[0])
    expect(page.locator("#subtitle")).to_have_text("Hexagon, being played")
    play_to_the_end(address)
    expect(page.locator("#lead")).to_have_text(re.compile("won|Draw"))
    expect(page.locator("#live")).to_be_hidden()
    last = number(page, "#turns")
    assert last > 1
    expect(page.locator("#turn")).to_have_text(str(last))
    expect(page.locator("#events .kind.end")).to_have_count(1)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the replay").click()
    download_document = replays_document.decode(download.value.path().read_bytes())
    assert verify(load_game("hexagon"), download_document) is None
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
    numbers = [int(digits) for digits in re.findall(r"\d+", label)]
    return numbers[:2], numbers[2:]


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


@pytest.mark.thorough
def test_a_person_beats_random_at_hexagon_with_the_mouse(site: Site, watcher: Watcher) -> None:
    address = site.begin("hexagon", bot="builtin:random", hand="1", size="4", seed="5")
    page = show(watcher, address)
    expect(page.locator("#hand-words")).to_contain_text("1 jump left")
    page.locator("#stage").scroll_into_view_if_needed()
    while (turn := wait_for_turn(page)) is not None:
        start, end = cells(most_captures(site, address, turn["moves"]))
        drag(page, hexagon_place(page, 4, start), hexagon_place(page, 4, end))
        wait_until_sent(page, turn["turn"])
    expect(page.locator("#lead")).to_have_text("You won")
    ended = r"Neither colour could move any more after the move in turn \d+: \d+ chips to \d+\."
    expect(page.locator("#reason")).to_have_text(re.compile(rf"^You won\. {ended}$"))


def test_a_chip_is_clicked_and_then_its_target(site: Site, watcher: Watcher) -> None:
    page = show(watcher, site.begin("hexagon", bot="builtin:random", hand="1", size="3"))
    turn = wait_for_turn(page)
    assert turn is not None
    start, end = cells(turn["moves"][0])
    page.locator("#stage").scroll_into_view_if_needed()
    page.mouse.click(*hexagon_place(page, 3, [2, 2]))
    assert number(page, "#turns") == 0
    page.mouse.click(*hexagon_place(page, 3, start))
    page.mouse.click(*hexagon_place(page, 3, end))
    wait_until_sent(page, 0)


@pytest.mark.thorough
def test_a_segment_is_drawn_by_a_click_and_an_area_is_filled(site: Site, watcher: Watcher) -> None:
    address = site.begin("circuit-wars", bot="builtin:random", hand="1", size="3", seed="1")
    page = show(watcher, address)
    page.locator("#stage").scroll_into_view_if_needed()
    rng = Random(2)
    while (turn := wait_for_turn(page)) is not None:
        x, y, border = rng.choice(turn["moves"]).split(",")
        across, down = {"top": (0.5, 0), "left": (0, 0.5), "bottom": (0.5, 1), "right": (1, 0.5)}[
            border
        ]
        spot = (int(x) + across, int(y) + down)
        page.mouse.click(*place_on_page(page, *spot, (3, 3), PLAIN))
        wait_until_sent(page, turn["turn"])
    expect(page.locator("#live")).to_be_hidden()
    scores = [int(text) for text in page.locator("#players .numbers b").all_inner_texts()]
    assert sum(scores) == 9


@pytest.mark.thorough
def test_paint_is_played_by_keys_pads_and_clicks(site: Site, watcher: Watcher) -> None:
    address = site.begin(
        "paint", bot="builtin:random", hand="1", width="10", height="10", turns="50"
    )
    page = show(watcher, address)
    page.locator("#stage").scroll_into_view_if_needed()

    def after(act: Any, *arguments: Any) -> str:
        turn = wait_for_turn(page)
        assert turn is not None
        act(*arguments)
        wait_until_sent(page, turn["turn"])
        expect(page.locator("#turn")).to_have_text(str(turn["turn"] + 1))
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


@pytest.mark.thorough
def test_a_refused_move_is_told_and_asked_again(site: Site, watcher: Watcher) -> None:
    page = show(watcher, site.begin("hexagon", bot="builtin:random", hand="1", size="3"))
    assert wait_for_turn(page) is not None
    page.evaluate(
        """() => {
          const turn = document.getElementById("hand-move");
          turn.selectedIndex = -1;
        }"""
    )
    page.get_by_role("button", name="Play move").click()
    assert number(page, "#turns") == 0
    page.locator("#hand-move").select_option(index=1)
    page.get_by_role("button", name="Play move").click()
    wait_until_sent(page, 0)


@pytest.mark.thorough
def test_who_resigns_is_asked_first_and_loses(site: Site, watcher: Watcher) -> None:
    page = show(watcher, site.begin("hexagon", bot="builtin:random", hand="2", size="3"))
    assert wait_for_turn(page) is not None
    page.get_by_role("button", name="Resign").click()
    dialog = page.get_by_role("dialog", name="Resign?")
    expect(dialog).to_contain_text("You lose this match.")
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    expect(page.locator("#subtitle")).to_have_text("Hexagon, being played")
    page.get_by_role("button", name="Resign").click()
    page.keyboard.press("Escape")
    expect(page.locator("#subtitle")).to_have_text("Hexagon, being played")
    page.get_by_role("button", name="Resign").click()
    dialog.get_by_role("button", name="Resign").click()
    expect(page.locator("#hand-words")).to_have_text("You resigned.")
    expect(page.locator("#lead")).to_have_text("random won")
    expect(page.locator("#happened .end")).to_have_text("In turn 1 you resigned.")
    expect(page.locator("#players .card", has_text="you")).to_contain_text("lost")
    expect(page.locator("#hand")).to_be_hidden()
    expect(page.locator("#trouble")).to_be_hidden()
    assert "No winner" not in page.inner_text("main")


def chosen(page: Page) -> list[str]:
    """Give the names of the players in seat order."""
    return page.locator("#players .name").all_inner_texts()


def resign(page: Page) -> None:
    assert wait_for_turn(page) is not None
    page.get_by_role("button", name="Resign").click()
    page.locator("#resign-dialog").get_by_role("button", name="Resign").click()
    expect(page.locator("#hand-over")).to_be_visible()


def go_on(page: Page, name: str) -> None:
    """Begin another match by a button, and wait for its page: that of this one is ready too."""
    with page.expect_navigation():
        page.get_by_role("button", name=name).click()
    page.wait_for_selector("#viewer[data-state=ready]")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("game", "names"),
    [
        ("circuit-wars", ["random", "greedy", "safe", "search", "expert"]),
        ("hexagon", ["random", "greedy", "expert"]),
        ("paint", ["random", "greedy", "strong"]),
    ],
)
def test_one_click_brings_the_next_stronger_opponent_up_to_the_strongest(
    site: Site, watcher: Watcher, game: str, names: list[str]
) -> None:
    page = show(watcher, site.begin(game, bot=f"builtin:{names[0]}", hand="1"))
    for name, stronger in pairwise(names):
        resign(page)
        assert chosen(page) == ["you", name]
        expect(page.locator("#hand-over")).not_to_contain_text("strongest")
        go_on(page, f"Stronger opponent: {stronger}")
    resign(page)
    assert chosen(page) == ["you", names[-1]]
    expect(page.locator("#hand-over")).to_contain_text(
        f"{names[-1]} is the strongest built-in opponent."
    )
    expect(page.get_by_role("button", name="Stronger opponent")).to_have_count(0)


@pytest.mark.thorough
def test_a_match_is_played_again_and_with_sides_swapped(site: Site, watcher: Watcher) -> None:
    page = show(watcher, site.begin("hexagon", bot="builtin:random", hand="1", size="3"))
    resign(page)
    go_on(page, "Play again")
    resign(page)
    assert chosen(page) == ["you", "random"]
    assert "size\n3" in page.inner_text("#facts")
    go_on(page, "Swap sides")
    resign(page)
    assert chosen(page) == ["random", "you"]


def click_board(page: Page, place: tuple[float, float], extent: tuple[float, float]) -> None:
    page.locator("#stage").scroll_into_view_if_needed()
    page.mouse.click(*place_on_page(page, *place, extent, PLAIN))


@pytest.mark.thorough
def test_why_a_segment_cannot_be_drawn_is_said(site: Site, watcher: Watcher) -> None:
    page = show(watcher, site.begin("circuit-wars", bot="builtin:random", hand="1", size="3"))
    assert wait_for_turn(page) is not None
    trouble = page.locator("#hand-trouble")
    click_board(page, (1.5, 1.5), (3, 3))
    expect(trouble).to_have_text(
        "There is no segment: choose a line between two neighbouring points."
    )
    click_board(page, (0.5, 0), (3, 3))
    wait_until_sent(page, 1)
    assert wait_for_turn(page) is not None
    expect(trouble).to_have_text("")
    click_board(page, (0.5, 0), (3, 3))
    expect(trouble).to_have_text("That segment is drawn already: choose another.")
    page.keyboard.press("Home")
    click_board(page, (1.5, 0), (3, 3))
    expect(trouble).to_contain_text("The board shows an earlier turn.")
    assert number(page, "#turns") == 2


@pytest.mark.thorough
def test_why_a_chip_cannot_move_is_said(site: Site, watcher: Watcher) -> None:
    page = show(watcher, site.begin("hexagon", bot="builtin:random", hand="1", size="3"))
    turn = wait_for_turn(page)
    assert turn is not None
    match = site.matches.find(page.url.partition("/matches/")[2].partition("?")[0])
    assert match is not None
    assert match.progress is not None
    state = match.progress.record.state
    places: dict[int, list[list[int]]] = {chip: [] for chip in (-1, 0, 1, 2)}
    for row, cells_of_row in enumerate(state.cells):
        for col, chip in enumerate(cells_of_row):
            places[chip].append([row, col])
    page.locator("#stage").scroll_into_view_if_needed()
    trouble = page.locator("#hand-trouble")
    page.mouse.click(*hexagon_place(page, 3, places[2][0]))
    expect(trouble).to_have_text("That chip is your opponent's: choose one of your chips.")
    page.mouse.click(*hexagon_place(page, 3, places[0][0]))
    expect(trouble).to_have_text("That cell is empty: choose one of your chips.")
    start, _ = cells(turn["moves"][0])
    page.mouse.click(*hexagon_place(page, 3, start))
    expect(trouble).to_have_text("")
    page.mouse.click(*hexagon_place(page, 3, places[2][0]))
    expect(trouble).to_have_text("That cell is taken: choose an empty one.")
    assert number(page, "#turns") == 0


@pytest.mark.thorough
def test_why_paint_cannot_go_there_is_said(site: Site, watcher: Watcher) -> None:
    address = site.begin("paint", bot="builtin:random", hand="1", width="10", height="10")
    page = show(watcher, address)
    assert wait_for_turn(page) is not None
    click_board(page, (0.5, 0.5), (10, 10))
    expect(page.locator("#hand-trouble")).to_have_text("You stand there: choose another square.")
    click_board(page, (-0.1, 0.5), (10, 10))
    expect(page.locator("#hand-trouble")).to_have_text(
        "That is outside the board: choose one of its squares."
    )
    click_board(page, (2.5, 1.5), (10, 10))
    expect(page.locator("#hand-trouble")).to_have_text(
        "That square is in none of the eight directions from you."
    )
    assert number(page, "#turns") == 0


@pytest.mark.thorough
def test_who_cannot_use_a_mouse_stays_in_the_list(site: Site, watcher: Watcher) -> None:
    page = show(watcher, site.begin("circuit-wars", bot="builtin:random", hand="1", size="3"))
    assert wait_for_turn(page) is not None
    page.locator("#hand-move").focus()
    for turn in (1, 3):
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        wait_until_sent(page, turn)
        assert wait_for_turn(page) is not None
        assert page.evaluate("document.activeElement.id") == "hand-play"
        page.keyboard.press("Shift+Tab")


@pytest.mark.thorough
@pytest.mark.parametrize("game", ["circuit-wars", "hexagon", "paint"])
def test_the_board_shows_what_is_chosen_in_the_list(
    site: Site, watcher: Watcher, game: str
) -> None:
    page = show(watcher, site.begin(game, bot="builtin:random", hand="1"))
    assert wait_for_turn(page) is not None
    picture, differs = (
        "document.getElementById('board').toDataURL()",
        "(before) => document.getElementById('board').toDataURL() !== before",
    )
    plain = page.evaluate(picture)
    page.locator("#hand-move").focus()
    page.wait_for_function(differs, arg=plain)
    first = page.evaluate(picture)
    page.locator("#hand-move").select_option(index=1)
    page.wait_for_function(differs, arg=first)
    page.locator("#title").focus()
    page.wait_for_function(f"(before) => {picture} === before", arg=plain)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("window", "least"), [((1280, 800), 480), ((1000, 760), 420), ((390, 844), 300)]
)
@pytest.mark.parametrize("game", first_is_fast(["circuit-wars", "hexagon", "paint"]))
def test_board_and_bar_fill_the_window(
    site: Site, watcher: Watcher, game: str, window: tuple[int, int], least: int
) -> None:
    width, height = window
    watcher.page.set_viewport_size({"width": width, "height": height})
    page = show(watcher, site.begin(game, bot="builtin:random", hand="1"))
    assert wait_for_turn(page) is not None
    box = page.locator("#board").bounding_box()
    assert box is not None
    assert box["height"] >= least
    bar = page.locator(".controls").bounding_box()
    assert bar is not None
    assert box["y"] + box["height"] <= bar["y"] < bar["y"] + bar["height"] <= height
    assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.fixture
def phone(browser: Browser) -> Iterator[Watcher]:
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    watcher = watch(context)
    yield watcher
    context.close()
    assert watcher.complaints == []


@pytest.mark.thorough
@pytest.mark.parametrize("game", ["circuit-wars", "hexagon", "paint"])
def test_nothing_is_said_of_keys_where_there_are_none(
    site: Site, phone: Watcher, game: str
) -> None:
    page = show(phone, site.begin(game, bot="builtin:random", hand="1"))
    assert wait_for_turn(page) is not None
    text = f"{page.inner_text('#hand')} {page.inner_text('#hand-words')}"
    assert not re.search(r"\b([Kk]eys?|Shift|arrows|clicks?)\b", text), text
    assert page.locator("#hand-legend li").count() >= 2


@pytest.mark.thorough
def test_a_finger_draws_a_segment_and_takes_a_chip(site: Site, phone: Watcher) -> None:
    page = show(phone, site.begin("circuit-wars", bot="builtin:random", hand="1", size="3"))
    assert wait_for_turn(page) is not None
    page.locator("#stage").scroll_into_view_if_needed()
    page.touchscreen.tap(*place_on_page(page, 0.5, 1, (3, 3), PLAIN))
    wait_until_sent(page, 0)
    assert wait_for_turn(page) is not None
    page.touchscreen.tap(*place_on_page(page, 0.5, 1, (3, 3), PLAIN))
    expect(page.locator("#hand-trouble")).to_contain_text("is drawn already")
    resign(page)


@pytest.mark.thorough
def test_who_has_no_key_only_watches(site: Site, watcher: Watcher) -> None:
    address = site.begin("hexagon", bot="builtin:random", hand="1", size="3")
    page = show(watcher, address.partition("?")[0])
    expect(page.locator("#hand")).to_have_count(0)
    page.wait_for_event("response", lambda answer: answer.status == 304)
    expect(page.locator("#subtitle")).to_have_text("Hexagon, being played")


@pytest.mark.parametrize("game", first_is_fast(["circuit-wars", "hexagon", "paint"]))
def test_the_page_has_no_serious_violation(site: Site, watcher: Watcher, game: str) -> None:
    page = show(watcher, site.begin(game, bot="builtin:random", hand="1"))
    assert wait_for_turn(page) is not None
    page.get_by_role("button", name="Resign").click()
    assert on_each_screen(page, serious) == []
    page.keyboard.press("Escape")
    assert on_each_screen(page, serious) == []
    resign(page)
    assert on_each_screen(page, serious) == []


def unready(game: str, address: str) -> MatchSpec:
    """Return a match with a bot that is nowhere."""
    greedy = BotSpec("greedy", "builtin", "greedy")
    kind: BotKind = "http" if "://" in address else "exec"
    return MatchSpec("page", game, (BotSpec("mine", kind, address), greedy), 1)


@each_screen
def test_why_a_match_did_not_begin_stands_in_the_place_of_its_board(
    site: Site, watcher: Watcher, scheme: Scheme, width: int
) -> None:
    show_on(watcher.page, scheme, width)
    match = site.matches.begin(unready("hexagon", "nowhere://1"))
    watcher.page.goto(f"{site.address}/matches/{match.name}")
    trouble = watcher.page.locator("#trouble")
    expect(trouble).to_contain_text("'nowhere://1' is not a base address of a bot")
    expect(trouble).to_be_in_viewport(ratio=1)
    expect(watcher.page.locator("#title")).to_have_text("No match")
    for part in ("#stage", "#scrubber", "#happened", "#turn-list", ".tools"):
        expect(watcher.page.locator(part)).to_be_hidden()
    assert complaints(watcher.page) == []


@each_screen
def test_why_a_match_was_over_before_its_first_turn_stands_above_its_board(
    site: Site, watcher: Watcher, scheme: Scheme, width: int
) -> None:
    show_on(watcher.page, scheme, width)
    match = site.matches.begin(unready("paint", "/nowhere/bot.py"))
    page = show(watcher, f"{site.address}/matches/{match.name}")
    expect(page.locator("#trouble")).to_contain_text("there is no program 'bot.py'")
    expect(page.locator("#trouble")).to_be_in_viewport(ratio=1)
    expect(page.locator("#stage")).to_be_visible()


def test_a_match_that_waits_says_so_until_it_begins(site: Site, watcher: Watcher) -> None:
    address = site.begin("paint", seat_1="builtin:greedy", seat_2="builtin:random", turns="50")
    waiting = {"waiting": "the players are getting ready", "over": False}
    watcher.page.route("**/document*", lambda route: route.fulfill(status=202, json=waiting))
    watcher.page.goto(address)
    trouble = watcher.page.locator("#trouble")
    expect(trouble).to_have_text("Please wait: the players are getting ready.")
    expect(trouble).to_have_class("trouble waits")
    expect(watcher.page.locator("#title")).to_have_text("Waiting for the match")
    watcher.page.unroute("**/document*")
    watcher.page.wait_for_selector("#viewer[data-state=ready]")
    expect(trouble).to_be_hidden()
    expect(watcher.page.locator("#stage")).to_be_visible()
    expect(watcher.page.locator("#title")).to_have_text("greedy against random")


@pytest.mark.thorough
def test_a_server_that_is_gone_is_told(site: Site, watcher: Watcher) -> None:
    page = show(watcher, site.begin("hexagon", bot="builtin:random", hand="1", size="3"))
    assert wait_for_turn(page) is not None
    watcher.server_leaves = True
    page.route("**/document*", lambda route: route.abort())
    expect(page.locator("#trouble")).to_have_text("The server does not answer; trying again.")
    page.unroute("**/document*")
    expect(page.locator("#trouble")).to_be_hidden()
    assert wait_for_turn(page) is not None
