"""The board of the viewer: moved, pointed at, coloured."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Watcher
from tests.browser.recorded import MATCHES, frames, recorded
from tests.browser.viewer.viewing import (
    COLOURS,
    DRAWN,
    PICTURE,
    PIXELS,
    READY,
    WRAPPED,
    Open,
    hover,
    middle,
    spot,
)

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
    boards = frames("end-of-codes")
    # A death on a cell that stays empty for the next rounds.
    turn_of, cell = next(
        (turn, (new["x"], new["y"]))
        for turn in range(1, len(boards) - 3)
        for old, new in zip(boards[turn - 1]["creatures"], boards[turn]["creatures"], strict=True)
        if old["hp"] > 0 >= new["hp"]
        and not any(
            creature["hp"] > 0 and (creature["x"], creature["y"]) == (new["x"], new["y"])
            for later in boards[turn : turn + 4]
            for creature in later["creatures"]
        )
    )
    size = (boards[0]["W"], boards[0]["H"])
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
