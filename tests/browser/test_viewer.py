"""The viewer of replays, in a real browser: every control by mouse and by keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from cw.replays import document as replay
from cw.web import create_app
from cw.web.replays.export import html
from cw.web.settings import SiteSettings
from tests.browser.axe import on_each_screen, serious
from tests.browser.conftest import Watcher, watch
from tests.browser.recorded import MATCHES, fill, frames, recorded
from tests.conftest import Serve
from tests.effort import first_is_fast

TWO = ("circuit-wars", "code-battle")
READY = "#viewer[data-surveyed=true]"
WRAPPED = 6
"""Pixels around a board that goes on at the opposite edge."""

HOSTILE = '<img src=x onerror="document.title=1">'

Open = Callable[..., Page]

PIXELS = """(places) => {
  const canvas = document.getElementById("board");
  const ratio = canvas.width / canvas.clientWidth;
  const { data, width } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return places.map(([x, y]) => {
    const at = 4 * (Math.floor(y * ratio) * width + Math.floor(x * ratio));
    return Array.from(data.slice(at, at + 4));
  });
}"""

COLOURS = "async () => (await import('/static/viewer/palette.js')).COLOURS.map(([light]) => light)"

PICTURE = "() => document.getElementById('board').toDataURL()"

DRAWN = """() => new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(() => done(true)));
})"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a replay of each game."""
    place = tmp_path_factory.mktemp("replays")
    fill(place)
    return place


@pytest.fixture
def site(serve: Serve, folder: Path) -> str:
    return serve(create_app(SiteSettings(timeout=3, replays=folder)))


@pytest.fixture
def opened(site: str, watcher: Watcher) -> Open:
    """Open the viewer of a game's replay; motion is stopped, so that pictures can be compared."""
    watcher.page.emulate_media(reduced_motion="reduce")

    def go(game: str, after: str = "") -> Page:
        watcher.page.goto(f"{site}/replays/{game}{after}")
        watcher.page.wait_for_selector(READY)
        watcher.page.evaluate(DRAWN)
        return watcher.page

    return go


@pytest.fixture
def stopped(opened: Open, watcher: Watcher) -> Open:
    """Open the viewer as `opened` does; then its clock stands still until it is told to go on."""
    watcher.page.clock.install()

    def go(game: str, after: str = "") -> Page:
        page = opened(game, after)
        page.clock.pause_at(page.evaluate("Date.now() / 1000") + 60)
        return page

    return go


def turn(page: Page) -> Any:
    return expect(page.locator("#turn"))


def middle(page: Page, x: float, y: float, size: tuple[float, float], padding: int) -> list[float]:
    """Return the pixel of the stage under which a place of the whole board lies."""
    width, height = page.evaluate("[board.clientWidth, board.clientHeight]")
    scale = min((width - 2 * padding) / size[0], (height - 2 * padding) / size[1], 120)
    scale = scale // 1 if scale > 14 else scale
    return [width / 2 + (x - size[0] / 2) * scale, height / 2 + (y - size[1] / 2) * scale]


def hover(page: Page, place: list[float]) -> None:
    page.locator("#board").hover(position={"x": place[0], "y": place[1]})
    page.evaluate(DRAWN)


def spot(page: Page) -> str:
    return page.locator("#spot").inner_text()


# Every game


@pytest.mark.parametrize("game", first_is_fast(MATCHES))
def test_every_game_is_drawn_at_any_turn(opened: Open, game: str) -> None:
    page = opened(game)
    turn(page).to_have_text("0")
    expect(page.locator("#players > li")).to_have_count(len(MATCHES[game][0]))
    expect(page.get_by_text("The start: nothing has happened yet.")).to_be_visible()
    first = page.evaluate(PICTURE)
    page.keyboard.press("End")
    turn(page).to_have_text(str(len(recorded(game)["turns"])))
    page.evaluate(DRAWN)
    assert page.evaluate(PICTURE) != first
    expect(page.locator("#happened li")).not_to_have_count(0)
    expect(page.locator("#viewer")).to_have_attribute("data-ended", "true")


@pytest.mark.thorough
@pytest.mark.parametrize("game", MATCHES)
def test_frames_actions_and_result_are_those_of_the_document(opened: Open, game: str) -> None:
    page = opened(game)
    assert frames_shown(page, game) == frames(game)
    document = replay.decode(replay.encode(recorded(game), packed=False))
    assert actions_shown(page, game) == [turn["actions"] for turn in document["turns"]]
    result = page.get_by_role("region", name="Result")
    expect(result.get_by_role("row")).to_have_count(len(MATCHES[game][0]) + 1)
    reason = page.locator("#reason").inner_text()
    assert re.fullmatch(r".+\. [A-Z][^_]+\.", reason), reason
    match = page.get_by_role("region", name="Match", exact=True)
    for option in MATCHES[game][1]:
        expect(match.locator("#facts")).to_contain_text(option)
    expect(page.get_by_role("link", name="Download the replay")).to_have_attribute(
        "download", f"{game}.json"
    )


def frames_shown(page: Page, game: str) -> Any:
    """Return the frames of all turns, which the viewer is asked for in a mixed order."""
    return page.evaluate(
        """async (address) => {
          const { readReplay } = await import("/static/viewer/replay.js");
          const answer = await fetch(address);
          const replay = await readReplay(new Uint8Array(await answer.arrayBuffer()));
          replay.spacing = 7;
          const turns = [...Array(replay.last + 1).keys()];
          const mixed = turns.toSorted((one, other) => (one * 37) % 101 - (other * 37) % 101);
          const frames = [];
          mixed.forEach((turn) => { frames[turn] = replay.frame(turn); });
          return frames;
        }""",
        f"/replays/{game}/document",
    )


def actions_shown(page: Page, game: str) -> Any:
    """Return the actions of all turns."""
    return page.evaluate(
        """async (address) => {
          const { readReplay } = await import("/static/viewer/replay.js");
          const answer = await fetch(address);
          const replay = await readReplay(new Uint8Array(await answer.arrayBuffer()));
          return replay.document.turns.map((_, index) => replay.actions(index + 1));
        }""",
        f"/replays/{game}/document",
    )


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
    drawn = page.evaluate(
        "Array.from(marks.getContext('2d').getImageData(0, 0, marks.width, marks.height).data)"
    )
    assert any(drawn)
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
    keys = page.get_by_role("dialog", name="The picture Keys")
    expect(keys).to_be_visible()
    expect(keys.get_by_text("Grey cells are stones")).to_be_visible()
    page.keyboard.press("ArrowRight")
    turn(page).to_have_text("0")
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    page.get_by_role("button", name="Help: the picture and the keys").click()
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


# The board


@pytest.mark.thorough
def test_wheel_drag_and_keys_move_the_board(opened: Open) -> None:
    page = opened("code-battle")
    page.keyboard.press("f")
    page.evaluate(DRAWN)
    whole = page.evaluate(PICTURE)
    place = middle(page, 10.5, 10.5, (60, 60), WRAPPED)
    hover(page, place)
    assert spot(page).startswith("[10, 10]")
    expect(page.locator("#minimap")).to_be_hidden()
    page.mouse.wheel(0, -600)
    page.evaluate(DRAWN)
    assert spot(page).startswith("[10, 10]")
    expect(page.locator("#minimap")).to_be_visible()
    box = page.locator("#board").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + place[0], box["y"] + place[1])
    page.mouse.down()
    page.mouse.move(box["x"] + place[0] + 120, box["y"] + place[1] + 90, steps=5)
    page.mouse.up()
    page.evaluate(DRAWN)
    assert spot(page).startswith("[10, 10]")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowDown")
    page.evaluate(DRAWN)
    assert not spot(page).startswith("[10, 10]")
    page.mouse.move(2, 2)
    page.keyboard.press("f")
    page.evaluate(DRAWN)
    assert page.evaluate(PICTURE) == whole


@pytest.mark.thorough
def test_buttons_zoom_and_the_minimap_jumps(opened: Open) -> None:
    page = opened("code-battle")
    page.get_by_role("button", name="Zoom in").click(click_count=6)
    expect(page.locator("#minimap")).to_be_visible()
    before = page.evaluate(PICTURE)
    page.locator("#minimap").click(position={"x": 4, "y": 4})
    page.evaluate(DRAWN)
    assert page.evaluate(PICTURE) != before
    page.get_by_role("button", name="Zoom out").click()
    expect(page.locator("#minimap")).to_be_visible()
    page.get_by_role("button", name="Whole board").click()
    expect(page.locator("#minimap")).to_be_hidden()


@pytest.mark.thorough
def test_two_fingers_zoom(browser: Browser, site: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = context.new_page()
    page.goto(f"{site}/replays/code-battle")
    page.wait_for_selector(READY)
    box = page.locator("#board").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    session = context.new_cdp_session(page)

    def touch(kind: str, *away: int) -> None:
        points = [{"x": x + step, "y": y, "id": index} for index, step in enumerate(away)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", -20, 20)
    for reach in range(30, 130, 20):
        touch("touchMove", -reach, reach)
    touch("touchEnd")
    expect(page.locator("#minimap")).to_be_visible()
    context.close()


@pytest.mark.thorough
def test_a_captured_area_has_its_owners_colour(opened: Open) -> None:
    page = opened("circuit-wars")
    page.keyboard.press("End")
    page.evaluate(DRAWN)
    board = frames("circuit-wars")[-1]["board"]
    squares = {(x, y): value for y, row in enumerate(board) for x, value in enumerate(row)}
    places = [middle(page, x + 0.25, y + 0.25, (5, 5), 12) for x, y in squares]
    colours = page.evaluate(COLOURS)
    pixels = page.evaluate(PIXELS, places)
    for ((x, y), value), place, pixel in zip(squares.items(), places, pixels, strict=True):
        wanted = [int(colours[(value >> 4) - 1][at : at + 2], 16) for at in (1, 3, 5)]
        assert all(abs(a - b) <= 4 for a, b in zip(pixel[:3], wanted, strict=True)), (x, y)
        assert pixel[3] > 80
        hover(page, place)
        assert spot(page).startswith(f"Square {x},{y} = {value}: ")
    assert {value >> 4 for value in squares.values()} == {1, 2}


@pytest.mark.thorough
def test_a_painted_square_has_its_owners_colour(opened: Open) -> None:
    page = opened("paint")
    page.keyboard.press("End")
    page.evaluate(DRAWN)
    frame = frames("paint")[-1]
    players = [seat["player"] for seat in recorded("paint")["players"]]
    owners = {
        (row, col): owner
        for row, line in enumerate(frame["colors"])
        for col, owner in enumerate(line)
        if [row, col] not in frame["obstacles"]
    }
    places = [middle(page, col + 0.1, row + 0.1, (13, 9), 12) for row, col in owners]
    colours: dict[Any, set[tuple[int, ...]]] = {}
    for owner, pixel in zip(owners.values(), page.evaluate(PIXELS, places), strict=True):
        colours.setdefault(owner, set()).add(tuple(pixel))
    assert set(colours) == {None, *players}
    assert all(len(hues) == 1 for hues in colours.values())
    assert len(set.union(*colours.values())) == 3


@pytest.mark.thorough
def test_the_hexagon_under_the_pointer_is_named(opened: Open) -> None:
    page = opened("hexagon")
    page.keyboard.press("End")
    page.evaluate(DRAWN)
    cells = frames("hexagon")[-1]["cells"]
    size, pitch, radius = 4, 3**0.5 / 2, 3**-0.5
    board = (2 * size - 0.5, (2 * size - 2) * pitch + 2 * radius)
    words = {-1: "stone", 0: "empty", 1: "chip of A", 2: "chip of B"}
    named = 0
    for row in range(2 * size - 1):
        away = abs(row - size + 1)
        first = ((size - 1) % 2 + away - row % 2) // 2
        for col in range(first, first + 2 * size - 1 - away):
            x, y = col + 0.5 + row % 2 / 2, radius + row * pitch
            # The middle, beside an edge, and in the corner that squares in a grid would miss.
            for right, down in ((0, 0), (0.44, 0), (0, -0.5), (-0.24, 0.36)):
                hover(page, middle(page, x + right, y + down, board, 30))
                assert spot(page).startswith(f"[{row}, {col}] {words[cells[row][col]]}")
                named += 1
    assert named == 4 * (3 * size * size - 3 * size + 1)


BUBBLE = """() => new Promise((give) => requestAnimationFrame(() => requestAnimationFrame(() => {
    const bubble = document.querySelector("#bubble");
    give(bubble.hidden ? null : bubble.innerText.replaceAll("\\n", " "));
})))"""
"""What the bubble says, once it is drawn."""


@pytest.mark.thorough
def test_a_bubble_names_a_creature(opened: Open) -> None:
    page = opened("end-of-codes")
    frame = frames("end-of-codes")[0]
    size = (frame["W"], frame["H"])
    names = {seat["player"]: seat["name"] for seat in recorded("end-of-codes")["players"]}
    for creature in frame["creatures"][::9]:
        x, y = creature["x"], creature["y"]
        hover(page, middle(page, x + 0.5, frame["H"] - y - 0.5, size, 30))
        bubble = page.locator("#bubble")
        expect(bubble).to_be_visible()
        expect(bubble).to_contain_text(names[creature["userid"]])
        expect(bubble).to_contain_text(f"id {creature['creatureid']}")
        expect(bubble).to_contain_text(f"{creature['hp']} hit points")
        expect(bubble).to_contain_text(f"({x}, {y})")
    hover(page, middle(page, 0.5, frame["H"] - 0.5, size, 30))
    assert "(0, 0)" in spot(page)


@pytest.mark.thorough
def test_the_keyboard_points_at_cells_too(opened: Open) -> None:
    page = opened("end-of-codes")
    frame = frames("end-of-codes")[0]
    board = page.get_by_role("group", name="Board")
    page.locator("#title").focus()
    while not board.evaluate("(one) => one === document.activeElement"):
        page.keyboard.press("Tab")
    for key, times in (("ArrowLeft", frame["W"]), ("ArrowDown", frame["H"])):
        for _ in range(times):
            page.keyboard.press(key)
    assert "(0, 0)" in spot(page)
    ids = set()
    for _ in range(frame["W"]):
        for way in ("ArrowUp", "ArrowDown"):
            for _ in range(frame["H"]):
                text = page.evaluate(BUBBLE)
                ids.add(text and int(text.partition("id ")[2].split()[0]))
                page.keyboard.press(way)
        page.keyboard.press("ArrowRight")
    assert ids - {None} == {one["creatureid"] for one in frame["creatures"]}
    expect(page.locator("#turn")).to_have_text("0")
    page.keyboard.press("Tab")
    expect(page.locator("#bubble")).to_be_hidden()


@pytest.mark.thorough
def test_small_things_of_different_players_differ_in_shape(opened: Open) -> None:
    page = opened("code-battle")
    transports = page.evaluate(
        """async () => {
          const { pathOf, COLOURS } = await import("/static/viewer/palette.js");
          return COLOURS.map((_, seat) => {
            const canvas = Object.assign(document.createElement("canvas"), { width: 7, height: 7 });
            const ctx = canvas.getContext("2d");
            ctx.translate(3.5, 3.5);
            ctx.scale(3.2, 3.2);
            ctx.fill(pathOf(seat));
            return Array.from(ctx.getImageData(0, 0, 7, 7).data).filter((_, at) => at % 4 === 3);
          });
        }"""
    )
    for seat, shape in enumerate(transports):
        for other in transports[:seat]:
            # The ink by which they differ is at least that of five full pixels of the 49.
            assert sum(abs(one - two) for one, two in zip(shape, other, strict=True)) > 5 * 255
    marks = page.locator("#players .mark path").evaluate_all(
        "(paths) => paths.map((path) => path.getAttribute('d'))"
    )
    assert len(set(marks)) == len(MATCHES["code-battle"][0])


@pytest.mark.thorough
def test_a_cross_fades_where_a_creature_died(opened: Open) -> None:
    page = opened("end-of-codes")
    known = frames("end-of-codes")
    # A death on a cell that stays empty for the next rounds.
    turn_of, cell = next(
        (turn, (new["x"], new["y"]))
        for turn in range(1, len(known) - 3)
        for old, new in zip(known[turn - 1]["creatures"], known[turn]["creatures"], strict=True)
        if old["hp"] > 0 >= new["hp"]
        and not any(
            creature["hp"] > 0 and (creature["x"], creature["y"]) == (new["x"], new["y"])
            for later in known[turn : turn + 4]
            for creature in later["creatures"]
        )
    )
    size = (known[0]["W"], known[0]["H"])
    left, top = middle(page, cell[0] + 0.5, size[1] - cell[1] - 0.5, size, 30)
    at = (int(left), int(top))
    redness = []
    for turn in range(turn_of, turn_of + 4):
        page.evaluate("(turn) => { location.hash = `turn=${turn}`; }", turn)
        expect(page.locator("#turn")).to_have_text(str(turn))
        page.evaluate(DRAWN)
        picture = Image.open(BytesIO(page.locator("#board").screenshot())).convert("RGB")
        red, green, _ = picture.crop((*at, at[0] + 1, at[1] + 1)).tobytes()
        redness.append(red - green)
    assert redness == sorted(redness, reverse=True)
    assert redness[0] > 100
    assert redness[-1] == 0


@pytest.mark.thorough
def test_fog_hides_what_a_player_does_not_see(opened: Open) -> None:
    page = opened("code-battle")
    page.keyboard.press("f")
    page.evaluate(DRAWN)
    cores = frames("code-battle")[0]["cores"]
    for core in cores:
        hover(page, middle(page, core["col"] + 0.5, core["row"] + 0.5, (60, 60), WRAPPED))
        assert "core of" in spot(page)
    page.keyboard.press("1")
    for core in cores:
        hover(page, middle(page, core["col"] + 0.5, core["row"] + 0.5, (60, 60), WRAPPED))
        assert ("core of A" in spot(page)) == (core["owner"] == 0)
        assert ("not seen" in spot(page)) == (core["owner"] != 0)


@pytest.mark.thorough
def test_still_where_motion_is_unwelcome(opened: Open, watcher: Watcher) -> None:
    page = opened("code-battle", "#turn=100")
    later = """() => new Promise((done) => {
      let left = 20;
      const wait = () => {
        left -= 1;
        return left ? requestAnimationFrame(wait) : done(board.toDataURL());
      };
      wait();
    })"""
    assert page.evaluate(later) == page.evaluate(later)
    page.emulate_media(reduced_motion="no-preference")
    before = page.evaluate(PICTURE)
    page.wait_for_function("(before) => board.toDataURL() !== before", arg=before)


@pytest.mark.thorough
@pytest.mark.parametrize("game", MATCHES)
def test_the_picture_follows_the_theme(opened: Open, watcher: Watcher, game: str) -> None:
    page = opened(game, "#turn=10")
    light = page.evaluate(PICTURE)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    page.evaluate(DRAWN)
    dark = page.evaluate(PICTURE)
    # Code Battle is dark by day too.
    assert (dark == light) == (game == "code-battle")


# The address, and what is told


def test_the_address_carries_turn_speed_and_view(opened: Open) -> None:
    page = opened("code-battle", "#turn=30&speed=4&view=1")
    turn(page).to_have_text("30")
    expect(page.get_by_role("radio", name="4×", exact=True)).to_be_checked()
    expect(page.locator("#perspective")).to_have_value("1")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("+")
    page.keyboard.press("3")
    page.wait_for_url(re.compile(r"#turn=31&speed=8&view=2$"))
    page.reload()
    page.wait_for_selector(READY)
    turn(page).to_have_text("31")


@pytest.mark.thorough
@pytest.mark.parametrize("after", ["#turn=1e9&speed=3&view=zz", "#turn=-4&speed=%", "#%00"])
def test_an_address_that_says_nonsense(opened: Open, after: str) -> None:
    page = opened("hexagon", after)
    expect(page.get_by_role("radio", name="1×", exact=True)).to_be_checked()
    assert int(page.locator("#turn").inner_text()) in (0, len(recorded("hexagon")["turns"]))


@pytest.mark.thorough
def test_screen_readers_are_told_events(opened: Open) -> None:
    page = opened("circuit-wars")
    announcer = page.locator("[aria-live=polite]#announcer")
    page.keyboard.press("e")
    expect(announcer).to_have_text(re.compile(r"^Turn \d+: bot\d closed \d+ squares?\b"))
    page.keyboard.press("End")
    expect(announcer).to_have_text(
        re.compile(r" won\. The last free segment was drawn in turn \d+: ")
    )
    expect(page.get_by_role("img", name=re.compile("^Board of 5 by 5 squares"))).to_be_visible()


# Pages


def test_a_file_is_watched_without_being_sent(serve: Serve, folder: Path, watcher: Watcher) -> None:
    page = watcher.page
    page.goto(f"{serve(create_app(SiteSettings(timeout=3)))}/replays/")
    expect(page.get_by_text("This server shows no folder of replays")).to_be_visible()
    page.get_by_label("Watch a file").set_input_files(folder / "paint.json.gz")
    page.wait_for_selector(READY)
    expect(page.locator("#shelf")).to_be_hidden()
    page.keyboard.press("End")
    turn(page).to_have_text("40")
    assert {request.method for request in watcher.requests} == {"GET"}


@pytest.mark.thorough
def test_a_file_is_dropped(site: str, folder: Path, watcher: Watcher) -> None:
    page = watcher.page
    page.goto(f"{site}/replays/")
    page.evaluate(
        """(text) => {
          const data = new DataTransfer();
          data.items.add(new File([text], "hexagon.json"));
          document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
        }""",
        (folder / "hexagon.json").read_text(encoding="utf-8"),
    )
    page.wait_for_selector(READY)
    expect(page.locator("#subtitle")).to_contain_text("Hexagon")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "This file is not JSON."),
        (b"{}", "This file is not a replay."),
        (b"\x1f\x8bnothing", "This file cannot be decompressed."),
        (b'{"version": 2}', "This file is not a replay."),
        (b"[" * 100_000, "This file is not JSON."),
    ],
)
def test_a_file_that_is_no_replay(
    site: str, watcher: Watcher, content: bytes, message: str
) -> None:
    page = watcher.page
    page.goto(f"{site}/replays/")
    payload: Any = {"name": "x.json", "mimeType": "application/json", "buffer": content}
    page.get_by_label("Watch a file").set_input_files(payload)
    expect(page.get_by_role("alert")).to_have_text(message)
    expect(page.locator("#shelf")).to_be_visible()


def hostile(game: str) -> replay.Document:
    """Return a replay in which every text is one that would do harm as HTML."""
    document = recorded(game)
    players = [seat | {"name": HOSTILE, "bot": HOSTILE} for seat in document["players"]]
    seat = document["players"][0]["player"]
    faults = [{"turn": 0, "player": seat, "kind": HOSTILE, "detail": HOSTILE}]
    return document | {
        "players": players,
        "faults": faults,
        "date": HOSTILE,
        "options": {HOSTILE: HOSTILE},
        "hash": HOSTILE,
    }


@pytest.mark.thorough
@pytest.mark.parametrize("game", MATCHES)
def test_names_are_text(serve: Serve, watcher: Watcher, tmp_path: Path, game: str) -> None:
    (tmp_path / "bad.json").write_bytes(replay.encode(hostile(game), packed=False))
    site = serve(create_app(SiteSettings(timeout=3, replays=tmp_path)))
    watcher.server_leaves = True  # The browser complains of a picture that cannot be drawn.
    page = watcher.page
    page.goto(f"{site}/replays/")
    expect(page.locator("#main img[src=x]")).to_have_count(0)
    expect(page.get_by_role("region", name="List of replays")).to_contain_text("<img src=x")
    page.goto(f"{site}/replays/bad#turn=1")
    page.wait_for_selector(READY)
    expect(page.locator("#players .name").first).to_have_text(HOSTILE)
    expect(page.locator("#happened")).to_contain_text(HOSTILE)
    width, height = page.evaluate("[board.clientWidth, board.clientHeight]")
    for step in range(1, 20):
        hover(page, [width / 2, height * step / 20])
    expect(page.locator("#main img")).to_have_count(0)
    assert page.title() != "1"


def test_embedded_there_is_no_navigation(opened: Open, watcher: Watcher) -> None:
    page = opened("hexagon", "?embed=1#turn=3")
    turn(page).to_have_text("3")
    expect(page.get_by_role("navigation")).to_have_count(0)
    expect(page.locator(".details")).to_be_hidden()
    for width, height in ((640, 480), (320, 300), (1000, 700), (1300, 700)):
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(DRAWN)
        assert page.evaluate("board.clientWidth") > width - 40
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("document.documentElement.scrollHeight") <= height


@pytest.fixture
def offline(browser: Browser) -> Iterator[Watcher]:
    """Return a page without a network."""
    context = browser.new_context(offline=True)
    yield watch(context)
    context.close()


@pytest.mark.parametrize("game", first_is_fast(MATCHES))
def test_an_exported_file_works_from_disk(offline: Watcher, tmp_path: Path, game: str) -> None:
    file = tmp_path / "replay.html"
    file.write_bytes(html(hostile(game)))
    page = offline.page
    page.goto(f"{file.as_uri()}#turn=2")
    page.wait_for_selector(READY)
    turn(page).to_have_text("2")
    page.keyboard.press("End")
    expect(page.locator("#viewer")).to_have_attribute("data-ended", "true")
    expect(page.locator("#main img")).to_have_count(0)
    schemes = {request.url.partition(":")[0] for request in offline.requests}
    assert schemes <= {"file", "data"}
    assert offline.complaints == []


@pytest.mark.thorough
def test_axe_finds_nothing_serious_in_the_pages_of_replays(
    opened: Open, site: str, watcher: Watcher
) -> None:
    page = watcher.page
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{site}/replays/")
    assert on_each_screen(page, serious) == []
    for game in MATCHES:
        page.goto(f"{site}/replays/{game}?embed=1")
        page.wait_for_selector(READY)
        assert on_each_screen(page, serious) == [], game
    page.keyboard.press("?")
    assert on_each_screen(page, serious) == []


@pytest.mark.thorough
def test_axe_finds_nothing_at_all_in_the_viewer(opened: Open) -> None:
    for game in MATCHES:
        page = opened(game, "#turn=12&view=1")
        assert on_each_screen(page) == []
        page.keyboard.press("0")
        page.keyboard.press("End")
        assert on_each_screen(page) == []
        page.get_by_role("button", name="Share").click()
        assert on_each_screen(page) == []
