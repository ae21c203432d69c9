"""A player's bots in a real Chromium: registered, checked, sent into practice, and watched."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import Page, expect

from cw_hub.accounts import administration
from cw_hub.matches.jobs import Worker
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.site.processes import jobs_of
from hub.tests.bots.test_player_bots import NOBODY, served
from hub.tests.browser.test_hub_people import (
    Walk,
    hub,  # noqa: F401 - a fixture
    walk,  # noqa: F401 - a fixture
)
from hub.tests.matches.test_comparisons import (
    WON,
    end_match,
    new_bot,
    sweep,
    view_of,
    waiting,
)
from hub.tests.program import make_admin
from hub.tests.sites import Site
from tests.browser.axe import on_each_screen


def do_jobs(site: Site) -> None:
    """Do what was sent to the queue; not in this thread, in which the browser has its loop."""
    waiting, site.queue.jobs[:] = list(site.queue.jobs), []
    with ThreadPoolExecutor(1) as thread:
        for job, arguments, _ in waiting:
            do = jobs_of(Worker("me", 1, MATCH_TYPES))[job]
            thread.submit(do, site.resources, *arguments).result()


def check_page(page: Page) -> None:
    """Hold a page to what each page must be: no complaint of axe, and nothing beside the screen."""
    assert on_each_screen(page) == [], page.url


def test_a_bot_is_registered_checked_and_watched(walk: Walk) -> None:  # noqa: F811
    walk.site.open_competition("hexagon")
    walk.be("Ann")
    page = walk.open("/bots")
    expect(page.get_by_text("You have no bots yet.")).to_be_visible()
    check_page(page)
    page.get_by_role("link", name="Register Bot").click()
    check_page(page)
    page.get_by_role("link", name="A web service").click()
    page.get_by_role("button", name="Register bot").click()
    expect(page.get_by_text("Please enter a bot name")).to_be_visible()
    assert page.evaluate("document.activeElement.id") == "name"
    check_page(page)
    walk.accept_refusals()
    with served("hexagon", "greedy") as address:
        page.get_by_label("Game").select_option("hexagon")
        page.get_by_label("Bot name").fill("Honeycomb")
        page.get_by_label("Endpoint URL").fill(address)
        page.get_by_role("button", name="Register bot").click()
        expect(page.get_by_text("Copy it now. It is shown only once.")).to_be_visible()
        check_page(page)
        page.get_by_role("link", name="I have saved it").click()
        expect(page.get_by_text("The bot is being checked.")).to_be_visible()
        do_jobs(walk.site)
        # The page has asked for itself, and shows what the check has found.
        expect(page.get_by_text("The bot takes part in matches.")).to_be_visible()
        check_page(page)
        page.get_by_label("Opponent").select_option("random")
        page.get_by_role("button", name="Play a test match").click()
        expect(page.get_by_text("This match is waiting for a worker.")).to_be_visible()
        check_page(page)
        do_jobs(walk.site)
    # The page has asked for itself, and shows the match.
    expect(page.locator("#reason")).to_contain_text("Honeycomb won")
    expect(page.get_by_role("cell", name="built-in")).to_be_visible()
    check_page(page)
    walk.open("/")
    expect(page.get_by_role("link", name="Honeycomb - random")).to_be_visible()
    check_page(page)
    walk.open("/bots")
    check_page(page)


@pytest.mark.thorough
def test_the_home_page_is_for_visitors_too(walk: Walk) -> None:  # noqa: F811
    page = walk.open("/")
    expect(page.get_by_text("Nothing is being played right now.")).to_be_visible()
    check_page(page)


@pytest.mark.thorough
def test_a_bot_that_fails_its_check_says_at_which_step(walk: Walk) -> None:  # noqa: F811
    walk.site.open_competition("hexagon")
    walk.be("Ann")
    page = walk.open("/bots/new?kind=address")
    page.get_by_label("Game").select_option("hexagon")
    page.get_by_label("Bot name").fill("Absent")
    page.get_by_label("Endpoint URL").fill(NOBODY)
    page.get_by_role("button", name="Register bot").click()
    expect(page.get_by_text("Copy it now. It is shown only once.")).to_be_visible()
    do_jobs(walk.site)
    walk.open("/bot/Absent")
    expect(page.get_by_role("listitem").filter(has_text="takes POST /games")).to_be_visible()
    check_page(page)


def test_versions_are_compared_and_the_verdict_shows_itself(walk: Walk) -> None:  # noqa: F811
    walk.be("Ann")
    resources = walk.site.resources
    with resources.database.reading() as session:
        ann = administration.find(session, "Ann").id
    bot = new_bot(resources, ann)
    page = walk.open("/bot/Painter?game=paint")
    check_page(page)
    page.get_by_role("button", name="Compare versions").click()
    expect(page.get_by_text("No match is planned yet.")).to_be_visible()
    check_page(page)
    sweep(resources)
    for match in waiting(resources):
        end_match(resources, match, *WON)
    sweep(resources)
    # The page has asked for itself.
    expect(page.get_by_role("status")).to_contain_text("8 matches, score 100.0%")
    while view_of(resources, bot, 1).row.state == "running":
        end_match(resources, waiting(resources)[0], *WON)
        sweep(resources)
    expect(page.get_by_text("Painter-2 is stronger than Painter-1")).to_be_visible()
    check_page(page)
    page.get_by_role("link", name="Painter", exact=True).click()
    expect(page.get_by_text("Painter-2 is stronger than Painter-1")).to_be_visible()
    check_page(page)


@pytest.mark.thorough
def test_a_comparison_is_stopped_and_admins_see_those_that_go_on(walk: Walk) -> None:  # noqa: F811
    walk.be("Ann")
    resources = walk.site.resources
    with resources.database.reading() as session:
        ann = administration.find(session, "Ann").id
    new_bot(resources, ann)
    page = walk.open("/bot/Painter?game=paint")
    page.get_by_label("against").select_option("built-in walker")
    page.get_by_role("button", name="Compare versions").click()
    expect(page.get_by_role("status")).to_have_text("No match is over yet")
    running = page.url.removeprefix(walk.site.address)
    walk.open("/bot/Painter?game=paint")
    page.get_by_role("button", name="Compare versions").click()
    expect(page.get_by_text("You are comparing versions already.")).to_be_visible()
    check_page(page)
    cookies = walk.context.cookies()
    walk.be("Bob")
    make_admin(walk.site, "Bob")
    walk.open("/admin/matches")
    going_on = page.get_by_role("region", name="Running comparisons")
    expect(going_on.get_by_role("row")).to_have_count(2)
    expect(going_on.get_by_role("row").last).to_contain_text("Painter-2 against walker")
    expect(going_on.get_by_role("row").last).to_contain_text("0 of 400")
    check_page(page)
    walk.context.add_cookies(cookies)  # type: ignore[arg-type]
    walk.open(running)
    sweep(resources)
    end_match(resources, waiting(resources)[0], *WON)
    sweep(resources)
    expect(page.get_by_role("status")).to_contain_text("2 matches, score 100.0%")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped, as its owner wished: undecided after 2")).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    expect(page.get_by_text("called off").first).to_be_visible()
    assert waiting(resources) == []
    check_page(page)
    page.get_by_role("link", name="Painter", exact=True).click()
    expect(page.get_by_role("button", name="Compare versions")).to_be_visible()
    check_page(page)
