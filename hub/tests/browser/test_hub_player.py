"""A player's week: the bot dies and comes back, plays a series, and its matches are looked up."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest
from playwright.sync_api import Browser, Page, expect

from hub.tests.bots.test_player_bots import served
from hub.tests.browser.open_hub import Hub, Person, open_hub
from hub.tests.browser.test_hub_live import slow_bot
from hub.tests.browser.test_hub_newcomer import SLOWLY
from hub.tests.campaign import wait_until
from tests.browser.conftest import watch
from tests.ports import free_port

MINE, THEIRS = "Honeycomb", "Nanosecond"
PAGE = f"/bot/{MINE}?game=hexagon"
LOST = "/matches?of=lost"


def player(hub: Hub, name: str, bot: str, address: str) -> Person:
    """Return somebody with a confirmed address and an active bot."""
    person = hub.person(name)
    person.register("/bots")
    wait_until(lambda: person.email in hub.postbox.letters("Confirm your email"), "a mail")
    letters = hub.postbox.letters("Confirm your email")
    person.confirm(letters[person.email])
    new = {"game": "hexagon", "name": bot, "endpoint": address}
    person.fill("/bots/new", "/bots/new?kind=address", **new)
    wait_until(lambda: is_active(person, bot), f"{bot} to be active")
    return person


def is_active(person: Person, bot: str) -> bool:
    """Return whether the page of a bot calls it active."""
    return 'class="status active"' in person.visitor.open(f"/bot/{bot}?game=hexagon").text


def picture(page: Page, name: str) -> None:
    """Take a picture where somebody wants to look at the walk."""
    if folder := os.environ.get("CW_PICTURES"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


@contextmanager
def visiting(hub: Hub, browser: Browser, person: Person) -> Iterator[Page]:
    """Go on in Chromium; afterwards nothing went wrong there."""
    context = browser.new_context(
        base_url=hub.address, viewport={"width": 1280, "height": 900}, reduced_motion="reduce"
    )
    watcher = watch(context)
    watcher.page.set_default_timeout(SLOWLY)
    person.enter(context)
    yield watcher.page
    context.close()
    assert watcher.complaints == []


def wait_for_a_loss(hub: Hub, ann: Person) -> None:
    """Let rated matches of Hexagon be played until Ann's bot has lost one."""
    wait_until(lambda: "/match/m_" in ann.visitor.open(LOST).text, "a lost match")
    hub.operate("competition", "pause", "rated/hexagon")


def see_it_die(page: Page, hub: Hub) -> None:
    """Read on all pages that the bot is inactive, and in a mail what to do."""
    letters = hub.postbox.wait_for(f"Your bot {MINE} is inactive", 1)
    letter = letters["ann@example.org"]
    assert "Start it again" in letter
    match = re.search(rf"{re.escape(hub.address)}(/bot/\S+)", letter)
    assert match
    page.goto(match[1])
    expect(page.locator(".headed .status")).to_have_text("inactive")
    own = page.get_by_role("region", name="Your bot")
    expect(own.get_by_role("status")).to_contain_text("It is checked again")
    picture(page, "dead")
    expect(own.locator(".fine")).to_have_count(0)
    page.goto("/bots")
    expect(page.get_by_role("row").filter(has_text=MINE).locator(".status").first).to_have_text(
        "inactive"
    )


def bring_it_back(page: Page) -> None:
    """Press the button of the mail; the page says by itself that the bot is back."""
    page.goto(PAGE)
    page.get_by_role("button", name="Test now").click()
    expect(page.locator(".headed .status")).to_have_text("active", timeout=SLOWLY)
    picture(page, "back")


def play_a_series(page: Page, hurry: Event) -> None:
    """Challenge a public bot, watch a match of the series live, and see how it ends."""
    hurry.clear()
    page.goto(f"/bot/{THEIRS}?game=hexagon")
    page.get_by_role("button", name="Play a series of 10").click()
    expect(page.get_by_role("heading", name=f"{MINE} against {THEIRS}")).to_be_visible()
    series = page.url
    matches = page.get_by_role("group", name="Matches of the challenge").locator("tbody tr")
    seats = matches.locator("td:nth-child(2)")
    expect(seats).to_have_text([MINE, THEIRS] * 5)
    matches.first.get_by_role("link").click()
    expect(page.locator("#turns")).to_have_text(re.compile(r"^([2-9]|\d\d)$"))
    expect(page.locator(".live-sentence")).to_contain_text("Live")
    picture(page, "live")
    hurry.set()
    expect(page.get_by_role("heading", name="Places")).to_be_visible()
    page.goto(series)
    expect(page.get_by_role("heading", name="Result")).to_be_visible(timeout=SLOWLY)
    expect(page.get_by_role("status").filter(has_text=MINE)).to_contain_text(THEIRS)
    picture(page, "series")


def look_the_matches_up(page: Page) -> None:
    """Find the lost match in the list, by the filters."""
    page.goto("/")
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Matches").click()
    page.locator("select[name=of]").select_option("my bots, lost since yesterday")
    page.locator("select[name=game]").select_option("hexagon")
    page.get_by_role("button", name="Show").click()
    lost = page.get_by_role("group", name="Matches").locator("tbody tr")
    expect(lost).not_to_have_count(0)
    for row in lost.all():
        expect(row).to_contain_text(MINE)
    picture(page, "lost")
    lost.first.get_by_role("link").first.click()
    expect(page.get_by_role("heading", name="Places")).to_be_visible()


@pytest.mark.thorough
def test_a_player_looks_after_a_bot_for_a_week(tmp_path: Path, browser: Browser) -> None:
    port = str(free_port())
    with open_hub(tmp_path, CW_HEALTH_EVERY="3") as hub, slow_bot() as (address, hurry):
        hub.operate("competition", "new", "rated", "hexagon")
        hub.operate("competition", "resume", "rated/hexagon")
        hurry.set()
        with served("hexagon", "random", port=port) as mine:
            ann = player(hub, "Ann", MINE, mine)
            player(hub, "Bob", THEIRS, address)
            wait_for_a_loss(hub, ann)
        with visiting(hub, browser, ann) as page:
            see_it_die(page, hub)
            with served("hexagon", "random", port=port):
                bring_it_back(page)
                play_a_series(page, hurry)
            look_the_matches_up(page)
