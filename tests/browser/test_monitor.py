"""The monitor, in a real browser against the real server."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from cw.server.session import ABSENCE, GITHUB
from cw.server.wsgi import listen, serving
from cw.web import create_app
from cw.web.settings import SiteSettings
from tests.browser.axe import on_each_screen, serious
from tests.browser.conftest import Host, Watcher
from tests.games.circuit_wars.examples import SEED_MOVES
from tests.ports import free_port

SMALLEST_GAME = ("0,0,top", "0,0,right", "0,0,bottom", "0,0,left")
"""On a board of one square: player 2 closes it."""

MOST_LOOKS = 2000
"""Looks at a headline that is awaited, each after a twentieth of a second."""


def headline(page: Page) -> Locator:
    return page.get_by_role("heading", level=1)


def stage(page: Page) -> Locator:
    return page.get_by_role("region", name="State of the match")


def card(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name, exact=True)


def open_and_stop(watcher: Watcher, address: str) -> Page:
    """Open a monitor whose clock then stands still until it is told to go on."""
    page = watcher.page
    page.clock.install()
    watcher.open(address)
    page.clock.pause_at(page.evaluate("Date.now() / 1000") + 60)
    return page


def ask_until(page: Page, words: str) -> None:
    """Let a clock that stands still go on, a little at a time, until this is the headline."""
    for _ in range(MOST_LOOKS):
        if headline(page).inner_text() == words:
            return
        page.clock.run_for(20)
        page.wait_for_timeout(50)
    pytest.fail(f"no headline {words!r}: {headline(page).inner_text()!r}")


# Waiting


@pytest.mark.thorough
def test_waiting_for_both_says_how_to_join(host: Host, watcher: Watcher) -> None:
    game = host()
    page = watcher.open(game.address)
    expect(headline(page)).to_have_text("Waiting for players")
    expect(stage(page)).to_contain_text("waiting for both players")
    expect(stage(page)).to_contain_text("No player has registered yet.")
    join = page.get_by_role("region", name="Join this match")
    expect(join).to_contain_text("python game_ai.py")
    expect(join).to_contain_text(f'SERVER = "{game.address}"')
    expect(join).to_contain_text(f"{game.address}/reg/<team_id>")
    expect(page).to_have_title("Waiting for players | Circuit Wars")


def test_waiting_for_the_second_names_the_first(host: Host, watcher: Watcher) -> None:
    game = host()
    page = watcher.open(game.address)
    game.register("alpha")
    expect(headline(page)).to_have_text("Waiting for Player 2")
    expect(stage(page)).to_contain_text("waiting for the second player")
    expect(stage(page)).to_contain_text("alpha has joined as Player 1.")
    expect(card(page, "alpha")).to_contain_text("ready")
    expect(page.get_by_role("region", name="Join this match")).to_be_visible()


def test_watching_keeps_no_seat_for_a_program_that_has_ended(host: Host, watcher: Watcher) -> None:
    game = host()
    game.register("alpha")
    page = watcher.open(game.address)
    expect(card(page, "alpha")).to_be_visible()
    game.clock.advance(ABSENCE)
    for _ in range(2):  # The first may be the answer to an earlier request.
        with page.expect_response("**/status"):
            pass
    game.clock.advance(1)
    expect(headline(page)).to_have_text("Waiting for players")


# Playing


@pytest.mark.thorough
def test_turns_are_shown_with_a_running_clock(host: Host, watcher: Watcher) -> None:
    game = host()
    page = open_and_stop(watcher, game.address)
    game.play([])
    ask_until(page, "alpha to move")
    expect(stage(page)).to_contain_text("It's Player 1's turn")
    expect(card(page, "alpha")).to_contain_text("to move")
    expect(page.get_by_role("region", name="Join this match")).to_be_hidden()
    timer = page.get_by_role("timer", name="Time left for Player 1")
    expect(timer).to_have_text(re.compile(r"^(3\.0|2\.9) s$"))
    page.clock.run_for(1500)
    expect(timer).to_have_text(re.compile(r"^1\.[456] s$"))
    page.clock.run_for(2000)
    expect(timer).to_have_text("0.0 s")
    game.get("move/alpha/1,2,top")
    ask_until(page, "beta to move")
    expect(stage(page)).to_contain_text("Move 1: alpha 1,2,top.")
    expect(timer).to_be_empty()
    expect(page.get_by_role("timer", name="Time left for Player 2")).to_have_text(
        re.compile(r"^(3\.0|2\.9) s$")
    )
    expect(page).to_have_title("beta to move | alpha 0:0 beta | Circuit Wars")


@pytest.mark.thorough
def test_a_game_without_a_limit_says_so(host: Host, watcher: Watcher) -> None:
    game = host(SiteSettings(timeout=-1))
    game.play([])
    page = watcher.open(game.address)
    expect(page.get_by_role("timer", name="Time left for Player 1")).to_have_text("no time limit")


@pytest.mark.thorough
def test_the_example_board(host: Host, watcher: Watcher) -> None:
    game = host()
    game.play(SEED_MOVES)
    page = watcher.open(game.address)
    picture = page.get_by_role("img", name="Board of 7 by 7 squares")
    segments = picture.locator("[data-layer=segments]")
    expect(segments.locator(".segment")).to_have_count(112)
    expect(segments.locator(".segment.drawn")).to_have_count(18)
    expect(segments.locator(".segment.by-1")).to_have_count(9)
    expect(segments.locator(".segment.inner")).to_have_count(6)
    expect(segments.locator(".segment.free")).to_have_count(88)
    expect(segments.locator(".segment.last")).to_have_attribute("data-key", "h4,1")
    expect(picture.locator("[data-layer=halo] .rim")).to_have_count(1)
    expect(picture).to_have_accessible_name(
        "Board of 7 by 7 squares, 88 of 112 segments free. alpha owns 3 squares,"
        " beta owns 4 squares. Last move 4,0,bottom."
    )
    expect(card(page, "alpha").locator(".score")).to_have_text("3 squares")
    expect(card(page, "beta").locator(".score")).to_have_text("4 squares")


@pytest.mark.thorough
def test_areas_differ_in_colour_and_pattern(host: Host, watcher: Watcher) -> None:
    game = host()
    game.play(SEED_MOVES)
    page = watcher.open(game.address)
    one, two = (page.locator(f".area.owner-{player}") for player in (1, 2))
    expect(one).to_have_count(1)
    expect(one).to_have_attribute("data-squares", "3")
    expect(two).to_have_count(1)
    expect(two).to_have_attribute("data-squares", "4")
    colours = [
        area.locator(".pour").evaluate("e => getComputedStyle(e).fill") for area in (one, two)
    ]
    assert len(set(colours)) == 2
    assert "none" not in colours
    patterns = [area.locator(".hatch").get_attribute("fill") for area in (one, two)]
    assert patterns == ["url(#hatch-1)", "url(#hatch-2)"]
    transports = [
        page.locator(f"#hatch-{player} > *").evaluate_all("all => all.map(e => e.tagName)")
        for player in (1, 2)
    ]
    assert transports == [["line"], ["circle"]]


def test_moves_are_a_list_newest_first(host: Host, watcher: Watcher) -> None:
    game = host()
    game.play(SEED_MOVES[:17])
    page = watcher.open(game.address)
    items = page.get_by_role("list").filter(has_text="alpha:").get_by_role("listitem")
    expect(items).to_have_count(17)
    expect(items.first).to_have_text("17alpha: 4,0,left +3")
    game.get(f"move/beta/{SEED_MOVES[17]}")
    expect(items).to_have_count(18)
    expect(items.first).to_have_text("18beta: 4,0,bottom +4")
    expect(items.last).to_have_text("1alpha: 1,0,top")


@pytest.mark.thorough
@pytest.mark.parametrize("size", [1, 31])
def test_boards_of_other_sizes(host: Host, watcher: Watcher, size: int) -> None:
    page = watcher.open(host(SiteSettings(size=size)).address)
    expect(page.locator(".segment.free")).to_have_count(2 * size * (size + 1))
    expect(page.get_by_role("img", name=f"Board of {size} by {size} squares")).to_be_visible()


def test_a_team_name_is_text(host: Host, watcher: Watcher) -> None:
    """The server takes letters and digits only; the page does not rely on that."""
    game = host()
    name = "<img src=x onerror=alert(1)>"
    history = {"teams": [name, "beta"], "moves": [[1, "0,0,top", 0]], "fault": None}
    game.play(["0,0,top"])
    watcher.page.route("**/history", lambda route: route.fulfill(json=history))
    page = watcher.open(game.address)
    expect(card(page, name).get_by_role("heading")).to_have_text(name)
    expect(page.get_by_role("listitem").filter(has_text="0,0,top")).to_have_text(
        f"1{name}: 0,0,top"
    )
    expect(page.locator("#match img")).to_have_count(0)


# Ended


@pytest.mark.thorough
def test_end_by_score(host: Host, watcher: Watcher) -> None:
    game = host(SiteSettings(timeout=3, size=1))
    page = watcher.open(game.address)
    game.play(SMALLEST_GAME)
    expect(headline(page)).to_have_text("beta won")
    expect(stage(page)).to_contain_text("The game has finished, Player 2 won")
    expect(stage(page)).to_contain_text("Score 1:0.")
    expect(card(page, "beta")).to_contain_text("won")
    expect(card(page, "alpha")).to_contain_text("lost")
    expect(page).to_have_title("beta won | alpha 0:1 beta | Circuit Wars")


def test_end_by_an_illegal_move(host: Host, watcher: Watcher) -> None:
    game = host()
    page = watcher.open(game.address)
    game.play([*SEED_MOVES, "4,0,up"])
    expect(headline(page)).to_have_text("beta won")
    expect(stage(page)).to_contain_text("because of an illegal move by Player 1")
    expect(stage(page)).to_contain_text("Illegal move by alpha: '4,0,up' cannot be read as a move")
    expect(card(page, "alpha")).to_contain_text("illegal move")
    expect(page.locator("[data-layer=segments] .drawn")).to_have_count(18)


@pytest.mark.thorough
def test_end_by_time_out(host: Host, watcher: Watcher) -> None:
    game = host()
    game.play(["1,2,top"])
    page = watcher.open(game.address)
    expect(headline(page)).to_have_text("beta to move")
    game.clock.advance(3.1)
    expect(headline(page)).to_have_text("alpha won")
    expect(stage(page)).to_contain_text("because of time-out by Player 2")
    expect(stage(page)).to_contain_text("Time-out by beta: no action within 3 s.")
    expect(card(page, "beta")).to_contain_text("time-out")
    expect(page.get_by_role("timer", name="Time left for Player 2")).to_be_empty()


@pytest.mark.thorough
def test_screen_readers_are_told(host: Host, watcher: Watcher) -> None:
    game = host()
    game.play([])
    page = watcher.open(game.address)
    announcer = page.locator("[aria-live=polite]#announcer")
    expect(announcer).to_have_text("alpha to move.")
    game.get("move/alpha/1,2,top")
    expect(announcer).to_have_text("Move 1: alpha 1,2,top. beta to move.")
    game.clock.advance(3.1)
    expect(announcer).to_have_text("alpha won. Time-out by beta: no action within 3 s.")


# Polling


def test_an_unchanged_board_costs_a_304(host: Host, watcher: Watcher) -> None:
    game = host()
    game.play(SEED_MOVES)
    page = watcher.open(game.address)
    while len(watcher.statuses()) < 5:
        page.wait_for_event("response")
    assert watcher.statuses()[0] == 200
    assert set(watcher.statuses()[1:]) == {304}
    histories = [answer for answer in watcher.responses if answer.url.endswith("/history")]
    assert len(histories) == 1


@pytest.mark.thorough
def test_no_two_polls_are_in_flight(host: Host, watcher: Watcher) -> None:
    routes: list[Route] = []

    def hold(route: Route) -> None:
        routes.append(route)

    page = open_and_stop(watcher, host().address)
    page.route("**/status", hold)
    while not routes:
        # The answer to a poll from before may still be on its way. A step is short beside the
        # patience of the page, after which it would ask once more.
        page.clock.run_for(20)
        page.wait_for_timeout(50)
    page.clock.run_for(1000)
    assert len(routes) == 1
    routes[0].continue_()


@pytest.mark.thorough
def test_server_gone_and_back(watcher: Watcher) -> None:
    watcher.server_leaves = True
    first = create_app(SiteSettings(timeout=-1))
    port = free_port()
    with serving(first, listen("127.0.0.1", port)) as address:
        for path in ("/reg/alpha", "/reg/beta", "/move/alpha/1,2,top"):
            first.test_client().get(path)
        page = watcher.open(address)
        expect(page.locator("[data-layer=segments] .drawn")).to_have_count(1)
    gone = page.get_by_role("alert")
    expect(gone).to_have_text("No connection to the server. Trying again.")
    expect(page.locator("[data-layer=segments] .drawn")).to_have_count(1)
    expect(page).to_have_title("No connection | Circuit Wars")
    with serving(create_app(), listen("127.0.0.1", port)):
        expect(gone).to_be_hidden()
        expect(headline(page)).to_have_text("Waiting for players")
        expect(page.locator("[data-layer=segments] .drawn")).to_have_count(0)
        page.goto("about:blank")


@pytest.mark.thorough
def test_a_server_that_hangs_counts_as_gone(host: Host, watcher: Watcher) -> None:
    page = watcher.open(host().address)
    page.route("**/status", lambda _route: None)
    expect(page.get_by_role("alert")).to_be_visible()
    page.unroute("**/status")
    expect(page.get_by_role("alert")).to_be_hidden()


@pytest.mark.thorough
def test_a_missed_history_is_asked_for_again(host: Host, watcher: Watcher) -> None:
    watcher.server_leaves = True
    game = host()
    page = watcher.open(game.address)
    page.route("**/history", lambda route: route.abort())
    game.register("alpha")
    expect(page.get_by_role("alert")).to_be_visible()
    page.unroute("**/history")
    expect(card(page, "alpha")).to_be_visible()
    expect(page.get_by_role("alert")).to_be_hidden()


# Restart and rooms


def test_restart_asks_while_a_game_is_running(host: Host, watcher: Watcher) -> None:
    game = host()
    game.play(SEED_MOVES)
    page = watcher.open(game.address)
    button = page.get_by_role("button", name="Restart match")
    dialog = page.get_by_role("dialog", name="Restart the running match?")
    button.click()
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_be_hidden()
    expect(headline(page)).to_have_text("alpha to move")
    button.click()
    dialog.get_by_role("button", name="Restart").click()
    expect(headline(page)).to_have_text("Waiting for players")
    expect(page.locator("[data-layer=segments] .drawn")).to_have_count(0)
    expect(page.locator(".area")).to_have_count(0)
    expect(page.get_by_text("No move yet.")).to_be_visible()


@pytest.mark.thorough
def test_restart_of_an_ended_game_does_not_ask(host: Host, watcher: Watcher) -> None:
    game = host(SiteSettings(timeout=3, size=1))
    game.play(SMALLEST_GAME)
    page = watcher.open(game.address)
    page.get_by_role("button", name="Restart match").click()
    expect(headline(page)).to_have_text("Waiting for players")
    expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.thorough
def test_no_restart_button_where_restarting_is_off(host: Host, watcher: Watcher) -> None:
    page = watcher.open(host(SiteSettings(restart=False)).address)
    expect(page.get_by_role("switch", name="Coordinates")).to_be_visible()
    expect(page.get_by_role("button", name="Restart match")).to_have_count(0)
    expect(page.locator("dialog")).to_have_count(0)


@pytest.mark.thorough
def test_a_room_shows_its_own_game(host: Host, watcher: Watcher) -> None:
    root = host()
    root.play(SEED_MOVES)
    room = type(root)(root.app, root.clock, root.address, "/rooms/table-4")
    page = watcher.open(f"{root.address}/rooms/table-4/")
    expect(headline(page)).to_have_text("Waiting for players")
    expect(page.get_by_text(f'SERVER = "{root.address}/rooms/table-4"')).to_be_visible()
    expect(page.get_by_role("link", name="Room table-4")).to_have_attribute("aria-current", "page")
    room.play(["0,0,top"], ("gamma", "delta"))
    expect(headline(page)).to_have_text("delta to move")
    expect(page.locator("[data-layer=segments] .drawn")).to_have_count(1)


# Coordinates, theme, sizes of screens


@pytest.mark.thorough
def test_coordinates_by_keyboard(host: Host, watcher: Watcher) -> None:
    game = host()
    game.play(SEED_MOVES)
    page = watcher.open(game.address)
    switch = page.get_by_role("switch", name="Coordinates")
    labels = page.locator(".labels text")
    expect(labels.first).to_be_hidden()
    switch.focus()
    page.keyboard.press("Space")
    expect(switch).to_be_checked()
    expect(page.locator(".labels text:visible")).to_have_count(14)
    page.get_by_role("group", name="Squares of the board").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    expect(page.get_by_text("Square 3,2 = 44: bottom, left, owned by beta")).to_be_visible()
    page.reload()
    expect(switch).to_be_checked()


@pytest.mark.thorough
def test_coordinates_by_pointer(host: Host, watcher: Watcher) -> None:
    page = watcher.open(host().address)
    page.get_by_role("switch", name="Coordinates").check()
    page.get_by_role("region", name="Join this match").evaluate("e => { e.hidden = true }")
    page.locator("[data-key='h6,6']").hover(force=True)
    expect(page.get_by_text(re.compile(r"Square 6,[56] = 0: nothing drawn"))).to_be_visible()


@pytest.mark.thorough
def test_the_theme_is_remembered(host: Host, watcher: Watcher) -> None:
    page = watcher.open(host().address)
    button = page.get_by_role("button", name="Theme")
    button.click()
    expect(button).to_contain_text("light")
    button.click()
    page.reload()
    expect(button).to_contain_text("dark")
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"


@pytest.mark.thorough
def test_a_phone_needs_no_scrolling_sideways(host: Host, watcher: Watcher) -> None:
    names = ("a" * 39, "W" * 39)
    game = host(SiteSettings(timeout=3, team_ids=GITHUB))
    page = watcher.page
    page.set_viewport_size({"width": 360, "height": 740})
    watcher.open(f"{game.address}/rooms/{'room-' * 6}/")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    watcher.open(game.address)
    game.play([*SEED_MOVES, "9,9,top"], names)
    expect(headline(page)).to_have_text(f"{names[1]} won")
    assert page.evaluate("document.documentElement.scrollWidth") == 360


@pytest.mark.thorough
def test_reduced_motion_counts_whole_seconds(host: Host, watcher: Watcher) -> None:
    watcher.page.emulate_media(reduced_motion="reduce")
    game = host()
    page = open_and_stop(watcher, game.address)
    game.play([])
    ask_until(page, "alpha to move")
    timer = page.get_by_role("timer", name="Time left for Player 1")
    expect(timer).to_have_text("3 s")
    page.clock.run_for(1000)
    expect(timer).to_have_text("2 s")
    moving = page.locator(".wire").first.evaluate("e => getComputedStyle(e).transitionDuration")
    assert moving == "0s"


def test_axe_finds_nothing_serious(host: Host, watcher: Watcher) -> None:
    watcher.page.emulate_media(reduced_motion="reduce")
    game = host()
    page = watcher.open(game.address)
    assert on_each_screen(page, serious) == []
    page.get_by_role("switch", name="Coordinates").check()
    game.play(SEED_MOVES)
    expect(headline(page)).to_have_text("alpha to move")
    assert on_each_screen(page, serious) == []
    page.get_by_role("button", name="Restart match").click()
    assert on_each_screen(page, serious) == []
    page.keyboard.press("Escape")
    game.get("move/alpha/4,0,bottom")
    expect(headline(page)).to_have_text("beta won")
    assert on_each_screen(page, serious) == []
