"""People's pages in a real Chromium: a walk, the keyboard, cards, times, and axe on each page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from flask import Blueprint, render_template_string
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from cw.games.registry import game_entries
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import open_resources
from cw_hub.operation.settings import HubSettings
from cw_hub.pages.layout import relative
from hub.tests.conftest import StillClock
from hub.tests.sites import PASSWORD, Site, site_on
from tests.browser.axe import SCREENS, on_each_screen
from tests.browser.conftest import Watcher, watch

VECTORS = Path(__file__).parents[1] / "pages" / "times.json"

WALKS = (SCREENS[0], *(pytest.param(screen, marks=pytest.mark.thorough) for screen in SCREENS[1:]))
"""The fast suite walks on the first screen alone."""

LONG = "W" * 32
"""The longest name, of the widest letter."""

NAMES = """
{% extends "base.html" %}
{% from "hub/accounts/people.html" import user_link with context %}
{% block main %}
  <h1>Names</h1>
  <p>{{ user_link("Bob", None) }} and {{ user_link(None, None) }}, {{ ago(moment) }}</p>
{% endblock %}
"""
"""A page with user links, as rankings have them."""


@dataclass
class Walk:
    """A site and a browser that has been there."""

    site: Site
    context: BrowserContext
    watcher: Watcher

    @property
    def page(self) -> Page:
        return self.watcher.page

    def open(self, path: str) -> Page:
        """Open a page of the site."""
        self.page.goto(f"{self.site.address}{path}")
        return self.page

    def be(self, name: str) -> None:
        """Go on as a player who has just registered.

        The page is left first: what it polls may be for the player alone who was there before.
        """
        self.page.goto("about:blank")
        cookie = self.site.player(name).cookies["cw"]
        self.context.add_cookies([{"name": "cw", "value": cookie, "url": self.site.address}])

    def accept_refusals(self) -> None:
        """Forget what the browser says of answers that a test has provoked."""
        self.watcher.complaints = [
            text for text in self.watcher.complaints if "Failed to load resource" not in text
        ]


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Site]:
    clock = StillClock()
    settings = HubSettings(data=tmp_path / "data")
    resources = open_resources(settings, CeleryQueue(settings), clock)
    with site_on(resources, clock) as site:
        yield site
    resources.database.close()


@pytest.fixture
def walk(hub: Site, browser: Browser) -> Iterator[Walk]:
    """Walk on a wide screen; afterwards nobody else was asked and nothing went wrong."""
    yield from walking(hub, browser, 1280, "light")


@pytest.fixture(params=WALKS, ids=lambda screen: f"{screen[0]}-{screen[1]}")
def any_walk(hub: Site, browser: Browser, request: pytest.FixtureRequest) -> Iterator[Walk]:
    """Walk on each kind of screen."""
    scheme, width = request.param
    yield from walking(hub, browser, width, scheme)


def walking(hub: Site, browser: Browser, width: int, scheme: str) -> Iterator[Walk]:
    context = browser.new_context(
        viewport={"width": width, "height": 800},
        color_scheme=scheme,  # type: ignore[arg-type]
        reduced_motion="reduce",
    )
    walk = Walk(hub, context, watch(context))
    yield walk
    context.close()
    assert walk.watcher.complaints == []
    assert walk.watcher.origins() == {hub.address}


def add_names(hub: Site) -> None:
    """Add a page with user links to a site that has not answered yet."""
    names = Blueprint("names", __name__)
    moment = hub.clock()

    @names.get("/names")
    def page() -> str:
        return render_template_string(NAMES, moment=moment)

    hub.app.register_blueprint(names)


# Times


def test_the_script_says_what_the_server_says(walk: Walk) -> None:
    walk.open("/ranking")
    say = """async (pairs) => {
        const { relative } = await import("/static/hub/relative.js");
        return pairs.map(([moment, now]) => relative(moment * 1000, now * 1000));
    }"""
    vectors = json.loads(VECTORS.read_text(encoding="utf-8"))
    assert walk.page.evaluate(say, [[-seconds, 0] for seconds, _ in vectors]) == [
        words for _, words in vectors
    ]
    random, now = Random(1), walk.site.clock()
    distances = [int(random.choice((-1, 1)) * 10 ** random.uniform(0, 9)) for _ in range(2000)]
    moments = [now.timestamp() - distance for distance in distances]
    expected = [relative(now.fromtimestamp(moment, now.tzinfo), now) for moment in moments]
    pairs = [[moment, now.timestamp()] for moment in moments]
    assert walk.page.evaluate(say, pairs) == expected


def test_times_change_without_a_reload_by_the_clock_of_the_server(walk: Walk) -> None:
    add_names(walk.site)
    walk.site.clock.advance(40)
    walk.context.clock.install(time="2031-01-01T00:00:00Z")
    walk.context.clock.pause_at("2031-01-01T00:00:01Z")
    time = walk.open("/names").locator("main time")
    expect(time).to_have_text("40 seconds ago")
    walk.context.clock.run_for(25_000)
    expect(time).to_have_text("1 minute ago")
    assert re.fullmatch(r"2026-11-20 18:00 \S+", time.get_attribute("title") or "")


def countries(page: Page) -> Locator:
    """Return the list of countries."""
    return page.get_by_role("combobox", name="Country")


# Forms


def test_a_person_registers_sets_a_profile_and_leaves(any_walk: Walk) -> None:
    walk = any_walk
    page = walk.open("/")
    page.get_by_role("link", name="Register", exact=True).click()
    page.get_by_label("Username").fill("Ada")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password (repeat)").fill(PASSWORD)
    page.get_by_label("E-mail").fill("ada@example.org")
    page.get_by_role("button", name="Register").click()
    expect(page).to_have_url(f"{walk.site.address}/ranking")
    page.get_by_role("button", name=re.compile("Ada")).click()
    page.get_by_role("link", name="Settings", exact=True).click()
    countries(page).select_option("Switzerland")
    page.get_by_label("Date of Birth").fill("1990-12-10")
    page.get_by_role("button", name="Save settings").click()
    expect(page.get_by_role("status")).to_contain_text("Your settings were saved")
    expect(countries(page)).to_have_value("CH")
    page.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_role("status")).to_have_count(0)
    page.get_by_role("button", name="Delete account").click()
    modal = page.get_by_role("dialog")
    expect(modal).to_contain_text("Account deletion cannot be undone.")
    modal.get_by_label("Password").fill("wrong")
    modal.get_by_role("button", name="Delete account").click()
    expect(modal).to_contain_text("Your password is incorrect")
    expect(modal.get_by_label("Password")).to_be_focused()
    expect(modal.get_by_label("Password")).to_have_value("")
    walk.accept_refusals()
    modal.get_by_label("Password").fill(PASSWORD)
    modal.get_by_role("button", name="Delete account").click()
    expect(page.get_by_role("status")).to_contain_text("Your account was deleted")
    expect(page.get_by_role("link", name="Log in")).to_be_visible()


@pytest.mark.thorough
def test_the_focus_goes_to_the_first_field_that_is_wrong(walk: Walk) -> None:
    page = walk.open("/register")
    page.get_by_label("Username").fill("Ada")
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_label("Password", exact=True)).to_be_focused()
    expect(page.get_by_label("Password", exact=True)).to_have_accessible_description(
        "Please enter a new password"
    )
    walk.accept_refusals()


@pytest.mark.thorough
def test_the_password_is_changed_in_a_modal(walk: Walk) -> None:
    walk.be("Ada")
    page = walk.open("/settings")
    page.get_by_role("button", name="Change password...").click()
    modal = page.get_by_role("dialog")
    modal.get_by_role("button", name="Change password").click()
    expect(modal.get_by_text("Please enter your existing password")).to_be_visible()
    expect(modal.get_by_label("Old password")).to_be_focused()
    walk.accept_refusals()
    modal.get_by_label("Old password").fill(PASSWORD)
    modal.get_by_label("New password", exact=True).fill("123456")
    modal.get_by_label("New password (repeat)").fill("123456")
    modal.get_by_role("button", name="Change password").click()
    expect(page.get_by_role("status")).to_contain_text("Your password was changed successfully")
    expect(modal).to_be_hidden()


@pytest.mark.thorough
def test_a_picture_is_uploaded_as_soon_as_it_is_chosen(walk: Walk) -> None:
    walk.be("Ada")
    page = walk.open("/settings")
    page.get_by_label("Change profile picture...").set_input_files(
        Path(__file__).parents[3] / "static" / "games" / "paint.png"
    )
    expect(page.get_by_role("status")).to_contain_text("Your profile picture was changed")
    assert "/avatar/" in (page.locator(".picture img").get_attribute("src") or "")
    # It is fetched after the page that shows it.
    for side in ("naturalWidth", "naturalHeight"):
        expect(page.locator(".picture img")).to_have_js_property(side, 256)


@pytest.mark.thorough
def test_a_picture_that_is_too_large_is_not_sent(walk: Walk) -> None:
    walk.be("Ada")
    page = walk.open("/settings")
    page.get_by_label("Change profile picture...").set_input_files(
        {"name": "me.png", "mimeType": "image/png", "buffer": bytes(6 * 1024 * 1024)}
    )
    expect(page.get_by_role("alert")).to_contain_text("Please choose a PNG, JPEG or WebP image")
    assert {request.method for request in walk.watcher.requests} == {"GET"}


# The keyboard


@pytest.mark.thorough
def test_esc_closes_the_menu_and_gives_the_focus_back(walk: Walk) -> None:
    walk.be("Ada")
    page = walk.open("/ranking")
    opener = page.get_by_role("button", name=re.compile("Ada"))
    opener.focus()
    page.keyboard.press("Enter")
    menu = page.locator("#user-menu")
    expect(menu).to_be_visible()
    for name in ("Ada", "Settings", "Bots"):
        page.keyboard.press("Tab")
        expect(menu.get_by_role("link", name=name)).to_be_focused()
    page.keyboard.press("Tab")
    expect(menu.get_by_role("button", name="Log out")).to_be_focused()
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    expect(opener).to_be_focused()


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["Change password...", "Delete account"])
def test_esc_and_x_close_a_modal_and_give_the_focus_back(walk: Walk, name: str) -> None:
    walk.be("Ada")
    page = walk.open("/settings")
    opener = page.locator("main").get_by_role("button", name=name, exact=True).first
    modal = page.get_by_role("dialog")
    opener.focus()
    page.keyboard.press("Enter")
    expect(modal).to_be_visible()
    page.keyboard.press("Escape")
    expect(modal).to_be_hidden()
    expect(opener).to_be_focused()
    page.keyboard.press("Enter")
    modal.get_by_role("button", name="Cancel").click()
    expect(modal).to_be_hidden()
    expect(opener).to_be_focused()


@pytest.mark.thorough
def test_a_modal_that_was_cancelled_is_empty_when_it_opens_again(walk: Walk) -> None:
    walk.be("Ada")
    page = walk.open("/settings")
    page.get_by_role("button", name="Delete account").click()
    modal = page.get_by_role("dialog")
    modal.get_by_label("Password").fill("wrong")
    page.keyboard.press("Enter")
    expect(modal.get_by_text("Your password is incorrect")).to_be_visible()
    walk.accept_refusals()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Delete account").click()
    expect(modal.get_by_text("Your password is incorrect")).to_be_hidden()


@pytest.mark.thorough
def test_the_flag_of_the_country_follows_the_choice(walk: Walk) -> None:
    walk.be("Ada")
    page = walk.open("/settings")
    flag = page.locator("#country-flag")
    expect(flag).to_be_hidden()
    countries(page).focus()
    page.keyboard.type("greenl")
    expect(countries(page)).to_have_value("GL")
    expect(flag).to_have_attribute("src", re.compile(r"/gl\.svg$"))
    countries(page).select_option("")
    expect(flag).to_be_hidden()


# Cards


@pytest.mark.thorough
def test_a_card_opens_at_a_name_and_closes(walk: Walk) -> None:
    add_names(walk.site)
    walk.site.player("Bob").fill("/settings", country="CH")
    page = walk.open("/names")
    card = page.locator(".card-of-user")
    page.get_by_role("link", name="Bob").hover()
    expect(card).to_contain_text("Last game ranking: did not play")
    expect(card).to_contain_text("Switzerland")
    page.mouse.move(600, 600)
    expect(card).to_have_count(0)
    page.get_by_role("link", name="Bob").focus()
    expect(card).to_be_visible()
    page.keyboard.press("Escape")
    expect(card).to_have_count(0)
    expect(page.get_by_text("deleted player")).to_have_count(1)
    assert page.get_by_role("link", name="deleted player").count() == 0


# The pages by keyboard alone


FOCUSED = """() => {
    const one = document.activeElement;
    if (one === document.body) return null;
    // In a page within the page, what has the focus there is marked.
    const within = one.contentDocument?.activeElement ?? one;
    const box = within.getBoundingClientRect();
    const style = getComputedStyle(within);
    const after = getComputedStyle(within, "::after");
    const isSeen = box.width > 0 && box.height > 0;
    const isMarked = style.outlineStyle !== "none" || after.outlineStyle !== "none";
    const order = [...document.querySelectorAll("*")].indexOf(one);
    return { html: within.outerHTML.slice(0, 120), order, isSeen, isMarked };
}"""
"""What has the focus, where it stands in the document, and whether that is seen."""


@pytest.mark.thorough
def test_each_page_is_walked_by_tab_alone(walk: Walk) -> None:
    for path in ("/", "/login", "/register", "/forgot", "/ranking", "/games/", "/replays/"):
        walk_by_tab(walk, path)
    walk.be("Ada")
    for path in ("/", "/settings", "/user/Ada", "/bots", "/bots/new"):
        walk_by_tab(walk, path)


def walk_by_tab(walk: Walk, path: str) -> None:
    """Go through a page by Tab: every stop is seen and marked, in order, and none is a trap."""
    page = walk.open(path)
    page.evaluate("document.activeElement.blur()")
    stops: list[int] = []
    for _ in range(400):
        page.keyboard.press("Tab")
        focused = page.evaluate(FOCUSED)
        if focused is None or (stops and focused["order"] == stops[0]):
            break
        assert focused["isSeen"], (path, focused)
        assert focused["isMarked"], (path, focused)
        if focused["order"] not in stops[-1:]:
            stops.append(focused["order"])
    else:
        pytest.fail(f"no end of {path}: {stops}")
    assert len(stops) > 5, path
    start = stops.index(min(stops))
    assert stops[start:] + stops[:start] == sorted(stops), path


# Each page, on each screen


def look(walk: Walk, path: str) -> None:
    """Open a page, and find nothing wrong with it."""
    assert on_each_screen(walk.open(path)) == [], path


def test_pages_for_visitors_are_for_all(walk: Walk) -> None:
    add_names(walk.site)
    walk.site.player("Bob").fill("/settings", country="CH")
    walk.site.visitor().fill("/forgot", username="Bob")
    # Not in this thread, in which the browser has its loop.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(walk.site.do_jobs).result()
    for path in ("/", "/login", "/register", "/forgot", walk.site.link(), "/ranking"):
        look(walk, path)
    for path in ("/user/Bob", "/names", "/blog", "/contribute", "/games/", "/replays/"):
        look(walk, path)
    for game in game_entries():
        look(walk, f"/games/{game}/")
        look(walk, f"/games/{game}/rules")
    for path in ("/api", "/reset/x", "/nothing"):
        look(walk, path)
    walk.accept_refusals()


def test_pages_for_players_are_for_all(walk: Walk) -> None:
    walk.site.player(LONG)
    walk.be("Ada")
    for path in ("/", "/settings", "/user/Ada", f"/user/{LONG}", "/bots", "/bots/new"):
        look(walk, path)
    page = walk.open("/settings")
    page.locator(".user-button").click()
    assert on_each_screen(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Change password...").click()
    page.get_by_role("dialog").get_by_role("button", name="Change password").click()
    expect(page.get_by_text("Please enter your existing password")).to_be_visible()
    walk.accept_refusals()
    assert on_each_screen(page) == []
