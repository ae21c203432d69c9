"""The pages of replays: every game, addresses, files, what screen readers are told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from cw.replays import document as replays_document
from cw.web import create_app
from cw.web.replay_export import html
from cw.web.settings import SiteSettings
from tests.browser.axe import on_each_screen, serious
from tests.browser.conftest import Watcher, watch
from tests.browser.recorded import MATCHES, frames, recorded
from tests.browser.viewer.viewing import (
    DRAWN,
    HOSTILE,
    PICTURE,
    READY,
    Open,
    hover,
    turn,
)
from tests.effort import first_is_fast
from tests.fixtures import Serve

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
    assert frames_on(page, game) == frames(game)
    document = replays_document.decode(replays_document.encode(recorded(game), packed=False))
    assert actions_on(page, game) == [turn["actions"] for turn in document["turns"]]
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


def frames_on(page: Page, game: str) -> Any:
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


def actions_on(page: Page, game: str) -> Any:
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
    expect(page.get_by_text("This server has no replay folder")).to_be_visible()
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
    expect(page.get_by_role("alert")).to_be_in_viewport(ratio=1)
    expect(page.locator("#shelf")).to_be_visible()


def hostile(game: str) -> replays_document.Document:
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
    (tmp_path / "bad.json").write_bytes(replays_document.encode(hostile(game), packed=False))
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
