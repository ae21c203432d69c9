"""The lobby in a real browser: rooms come, games go on and end, and a new room is opened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from cw.web.settings import SiteSettings
from tests.browser.axe import on_each_screen, serious
from tests.browser.conftest import Game, Host, Watcher
from tests.games.circuit_wars.examples import BOUNDARY, SEED_MOVES


@pytest.fixture
def lobby(host: Host, tmp_path: Path) -> Game:
    return host(SiteSettings(timeout=3, replays=tmp_path, save=True))


def room_of(game: Game, name: str) -> Game:
    return Game(game.app, game.clock, game.address, f"/rooms/{name}")


def show(watcher: Watcher, game: Game) -> Any:
    watcher.page.goto(f"{game.address}/rooms/")
    watcher.page.wait_for_selector("#lobby[data-state=ready]")
    return watcher.page


def test_a_game_is_followed_from_its_first_player_to_its_replay(
    lobby: Game, watcher: Watcher
) -> None:
    page, table = show(watcher, lobby), room_of(lobby, "table-4")
    expect(page.locator("#summary")).to_have_text("0 rooms of 256, 0 matches being played")
    table.register("alice")
    card = page.locator("#rooms > li", has=page.get_by_role("link", name="table-4", exact=True))
    expect(card.locator(".state")).to_have_text("alice waits for an opponent.")
    table.register("bob")
    expect(card.locator(".side.one")).to_contain_text("to move")
    for turn, move in enumerate(SEED_MOVES):
        table.get(f"move/{('alice', 'bob')[turn % 2]}/{move}")
    expect(card.locator(".state")).to_have_text("18 moves played")
    expect(card.locator(".score")).to_have_text(["3", "4"])
    lobby.clock.advance(4)
    expect(card.locator(".state")).to_have_text("bob won: time-out by alice in turn 19.")
    row = page.locator("#ended tr")
    expect(row).to_contain_text("bob won: time-out by alice")
    row.get_by_role("link", name="Watch").click()
    page.wait_for_selector("#viewer[data-state=ready]")
    expect(page.locator("#reason")).to_contain_text("bob won.")


@pytest.mark.thorough
def test_the_monitor_leads_to_the_replay(lobby: Game, watcher: Watcher) -> None:
    table = room_of(lobby, "table-1")
    table.register("alice", "bob")
    page = watcher.open(f"{lobby.address}/rooms/table-1/")
    expect(page.locator("#replay")).to_be_hidden()
    for turn, move in enumerate(BOUNDARY):
        table.get(f"move/{('alice', 'bob')[turn % 2]}/{move}")
    page.get_by_role("link", name="Watch the replay").click()
    page.wait_for_selector("#viewer[data-state=ready]")
    expect(page.locator("#reason")).to_contain_text("bob won.")


@pytest.mark.thorough
def test_a_room_is_opened_and_says_how_to_join(lobby: Game, watcher: Watcher) -> None:
    room_of(lobby, "table-1").register("alice")
    page = show(watcher, lobby)
    place = f"{lobby.address}/rooms/"
    expect(page.locator("#room")).to_have_attribute("placeholder", "table-2")
    expect(page.locator(".joining")).to_contain_text(f'SERVER = "{place}table-2"')
    page.get_by_label("Name of the room").fill("my-room")
    expect(page.locator(".joining")).to_contain_text(f"cw bots join {place}my-room greedy")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{place}my-room/")
    expect(page.locator("#join")).to_contain_text(f"cw bots join {place}my-room greedy")


@pytest.mark.thorough
def test_an_unchanged_lobby_costs_a_304(lobby: Game, watcher: Watcher) -> None:
    page = show(watcher, lobby)
    page.wait_for_event("response", lambda answer: answer.status == 304)


@pytest.mark.thorough
def test_a_server_that_is_gone_is_told(lobby: Game, watcher: Watcher) -> None:
    page = show(watcher, lobby)
    watcher.server_leaves = True
    page.route("**/list.json", lambda route: route.abort())
    expect(page.locator("#gone")).to_be_visible()
    page.unroute("**/list.json")
    expect(page.locator("#gone")).to_be_hidden()


def test_it_fits_and_has_no_serious_violation(lobby: Game, watcher: Watcher) -> None:
    room_of(lobby, "table-1").play(BOUNDARY)
    room_of(lobby, "a" * 32).play(SEED_MOVES, ("W" * 10, "M" * 10))
    room_of(lobby, "table-3").register("W" * 10)
    assert on_each_screen(show(watcher, lobby), serious) == []
