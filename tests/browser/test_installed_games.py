"""Games of other packages in a real browser: that of the documentation, and a new one."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from cw.new_game import NewGame, rendered
from cw.web.replay_export import html
from tests.browser.axe import on_each_screen
from tests.browser.conftest import Watcher
from tests.browser.test_live import Site, show, site, wait_for_turn, wait_until_sent
from tests.documented import installed, place
from tests.matches.playing import play_match

__all__ = ["site"]

DRAWN = """canvas => {
    // A copy is read: of a board that is read again and again the browser complains.
    const context = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
    context.drawImage(canvas, 0, 0);
    return context.getImageData(0, 0, canvas.width, canvas.height).data;
}"""
"""The pixels of the board."""

COLOURS = f"""(canvas) => {{
    const data = new Uint32Array(({DRAWN})(canvas).buffer);
    return new Set(data).size;
}}"""
"""How many colours are on the board."""


@pytest.fixture(scope="module")
def new_game(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with games that were made a moment ago."""
    folder = tmp_path_factory.mktemp("new")
    place(folder, dict(rendered(NewGame("quartet", 4, 4))))
    hiding = dict(rendered(NewGame("pictured", hidden=True)))
    place(folder, {name: text for name, text in hiding.items() if "viewer" not in name})
    return place(folder, dict(rendered(NewGame("walk", simultaneous=True))))


@pytest.fixture(autouse=True)
def with_games(new_game: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install it, and the games of the page."""
    monkeypatch.syspath_prepend(installed())
    monkeypatch.syspath_prepend(new_game)


def finish(page: Page, move: Callable[[], None]) -> None:
    """Play to the end."""
    while (turn := wait_for_turn(page)) is not None:
        move()
        wait_until_sent(page, turn["turn"])


def test_tron_is_played_by_hand_as_its_page_makes_it(site: Site, watcher: Watcher) -> None:
    page = show(watcher, site.begin("tron", bot="builtin:random", hand="1", size="9", seed="1"))
    expect(page.locator("#subtitle")).to_have_text("Tron, being played")
    turn = wait_for_turn(page)
    assert turn is not None
    assert turn["moves"] == ["Ride up", "Ride down", "Ride left", "Ride right"]
    # Only a picture has more colours than the empty ground.
    page.wait_for_function(f"() => ({COLOURS})(document.getElementById('board')) > 3")
    finish(page, page.get_by_role("button", name="Play move").click)
    expect(page.locator("#result")).to_contain_text("crashed")
    assert on_each_screen(page) == []


def test_a_new_game_for_four_is_watched_as_its_form_stands(site: Site, watcher: Watcher) -> None:
    watcher.page.goto(f"{site.address}/games/quartet/")
    watcher.page.get_by_role("button", name="Play and watch").click()
    watcher.page.wait_for_selector("#viewer[data-state=ready]")
    expect(watcher.page.locator("#players .card")).to_have_count(4)
    expect(watcher.page.locator("#trouble")).to_be_hidden()


@pytest.mark.thorough
def test_a_new_game_is_played_on_its_board(site: Site, watcher: Watcher) -> None:
    page = show(watcher, site.begin("walk", bot="builtin:random", hand="1", size="5", seed="1"))
    expect(page.locator("#subtitle")).to_have_text("Walk, being played")
    expect(page.get_by_text("Or choose from the list")).to_be_visible()
    wait_for_turn(page)
    page.locator("#board").focus()
    page.keyboard.press("ArrowRight")
    wait_until_sent(page, 0)
    finish(page, page.get_by_role("button", name="Play move").click)
    assert on_each_screen(page) == []


COINS = f"""(canvas) => {{
    const data = ({DRAWN})(canvas);
    let count = 0;
    for (let at = 0; at < data.length; at += 4) {{
        count += data[at] === 0xd9 && data[at + 1] === 0xa4 && data[at + 2] === 0;
    }}
    return count;
}}"""
"""How many pixels of the board are golden."""


@pytest.mark.parametrize("place_of_page", ["server", "file"])
def test_a_game_with_a_picture_alone_tells_scores_moves_and_what_players_see(
    place_of_page: str, site: Site, watcher: Watcher, tmp_path: Path
) -> None:
    address = site.begin("pictured", seat_1="builtin:greedy", seat_2="builtin:random", pace="all")
    page = show(watcher, address)
    expect(page.locator("#live")).to_be_hidden()
    if place_of_page == "file":
        match = site.matches.find(address.rpartition("/")[2])
        assert match is not None
        (tmp_path / "saved.html").write_bytes(html(match.result.result().replay))
        # Only that page is watched.
        watcher.requests.clear()
        page = show(watcher, (tmp_path / "saved.html").as_uri())
    page.wait_for_selector("#viewer[data-surveyed=true]")
    page.keyboard.press("Home")
    cards = page.locator("#players .card")
    coins = re.compile(r"(?<!\d)0 coins")
    expect(cards.first).to_contain_text(coins)
    page.keyboard.press("End")
    last = page.locator("#turn").inner_text()
    expect(cards.first).not_to_contain_text(coins)
    rows = page.locator("#standings tr")
    for name in ("greedy", "random"):
        score = rows.filter(has_text=name).locator("td").last.inner_text()
        number = cards.filter(has_text=name).locator(".number b").first
        expect(number).to_have_text(score)
    expect(page.locator("#happened .did").first).to_have_text(re.compile("played: Go "))
    expect(page.locator(f".turn-row[data-turn='{last}'] .turn-action").first).to_contain_text("Go ")

    page.keyboard.press("Home")
    page.wait_for_function(f"() => ({COINS})(document.getElementById('board')) > 0")
    everything = page.locator("#board").evaluate(COINS)
    page.select_option("#perspective", index=1)
    page.wait_for_function(
        f"(most) => {{ const seen = ({COINS})(document.getElementById('board'));"
        " return seen > 0 && seen < most / 2; }",
        arg=everything,
    )
    page.select_option("#perspective", index=0)
    page.wait_for_function(
        f"(all) => ({COINS})(document.getElementById('board')) === all", arg=everything
    )


@pytest.mark.thorough
@pytest.mark.parametrize("game", ["tron", "walk"])
def test_a_page_without_a_server_brings_all_that_draws_the_game(
    game: str, site: Site, watcher: Watcher, tmp_path: Path
) -> None:
    file = tmp_path / f"{game}.html"
    bots = ("a=builtin:random", "b=builtin:random")
    # The thread of a browser's test has an event loop already.
    with ThreadPoolExecutor(1) as thread:
        document = thread.submit(play_match, game, bots, 1, {"size": 9}).result().replay
    file.write_bytes(html(document))
    page = show(watcher, file.as_uri())
    page.wait_for_function(f"() => ({COLOURS})(document.getElementById('board')) > 3")
    page.keyboard.press("End")
    expect(page.locator("#turn")).not_to_have_text("0")
    assert all(request.url.startswith(("file:", "data:")) for request in watcher.requests)
