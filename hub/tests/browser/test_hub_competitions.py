"""The pages of a hub's competitions in a real Chromium: axe, narrow screens, and Tab alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest
from playwright.sync_api import expect

from cw_hub.accounts import administration
from cw_hub.matches.jobs import Worker
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.store.models import Match
from hub.tests.browser.test_hub_people import (
    Walk,
    hub,  # noqa: F401 - a fixture
    look,
    walk,  # noqa: F401 - a fixture
    walk_by_tab,
)
from hub.tests.competitions.daily.test_daily_pages import play_game
from hub.tests.competitions.rated.test_rated import Arena
from hub.tests.sites import PASSWORD, Site

PLAYERS = 24
"""Enough for a gap between the top of the ranking and the rows around a player."""


def play_all(site: Site) -> list[str]:
    """Play a daily game and rated matches; return the pages that show them to everybody."""
    resources = site.resources
    arena = Arena(resources, site.clock, options={"max_turns": 5})
    arena.play(7, Random(1))
    arena.clock.advance(600)
    arena.plan()
    Worker("me", 1, MATCH_TYPES).play(resources, rated := arena.queued()[0])
    game = play_game(site, PLAYERS)
    with resources.database.reading() as session:
        name = session.query(Match.match_id).filter_by(id=rated).scalar()
    lists = ["/leaderboard", "/matches", "/bot/SwarmBot", "/user/player3"]
    return ["/", "/ranking", *lists, f"/match/{name}", f"/match/{game}"]


def played(site: Site) -> list[str]:
    """Play on another thread: in this one the browser has its loop."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(play_all, site).result()


def be_admin(walk: Walk) -> None:  # noqa: F811
    """Go on as a player who has just registered and was made an admin."""
    walk.be("Ada")
    with walk.site.resources.database.writing() as session:
        administration.set_role(session, "Ada", "admin")


MINE = (
    "/",
    "/ranking",
    "/bots/end-of-codes",
    "/bots",
    "/settings",
    "/bot/SwarmBot",
    "/admin",
    "/admin/people",
    "/admin/bots",
    "/admin/competitions",
    "/admin/matches",
    "/admin/mails",
    "/admin/log",
    "/competitions/new",
    "/competitions/new?format=rated&game=paint",
    "/competitions/rated/code-battle",
)


def test_pages_of_competitions_are_for_all(walk: Walk) -> None:  # noqa: F811
    pages = played(walk.site)
    assert len(pages) == 8
    for path in pages:
        look(walk, path)
    be_admin(walk)
    for path in (*MINE, *pages[-2:]):
        look(walk, path)


CUT_OFF = """
    [...document.querySelectorAll(".wide, .scroller")]
        .filter((list) => list.scrollWidth > list.clientWidth + 1)
        .map((list) => list.getAttribute("aria-label"))
"""


def test_a_form_survives_a_log_out_in_another_tab(walk: Walk) -> None:  # noqa: F811
    be_admin(walk)
    page, other = walk.open("/competitions/new?format=rated&game=paint"), walk.context.new_page()
    page.get_by_label("Title").fill("Paint for all")
    other.goto(f"{walk.site.address}/settings")
    other.get_by_role("button", name="Account menu").click()
    other.get_by_role("button", name="Log out").click()
    expect(other.get_by_role("link", name="Log in")).to_be_visible()
    page.get_by_role("button", name="Create a draft").click()
    expect(page.get_by_role("heading", name="Form expired")).to_be_visible()
    with walk.context.expect_page() as tab:
        page.get_by_role("link", name="Log in in a new tab").click()
    tab.value.get_by_label("Username").fill("Ada")
    tab.value.get_by_label("Password").fill(PASSWORD)
    tab.value.get_by_role("button", name="Log in").click()
    expect(tab.value.get_by_role("button", name="Account menu")).to_be_visible()
    page.get_by_role("button", name="Submit again").click()
    expect(page.get_by_text("You are logged in as Ada.")).to_be_visible()
    page.get_by_role("button", name="Submit again").click()
    expect(page.get_by_role("heading", name="Paint for all")).to_be_visible()
    walk.accept_refusals()


def test_back_after_a_form_leads_to_what_was_typed(walk: Walk) -> None:  # noqa: F811
    be_admin(walk)
    page = walk.open("/competitions/new?format=rated&game=paint")
    page.get_by_label("Title").fill("Paint for all")
    page.get_by_role("button", name="Create a draft").click()
    expect(page.get_by_role("heading", name="Paint for all")).to_be_visible()
    page.go_back()
    expect(page.get_by_label("Title")).to_have_value("Paint for all")
    page.get_by_role("button", name="Create a draft").click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_label("Title")).to_have_value("Paint for all")
    walk.accept_refusals()


def test_nothing_is_cut_off_on_a_phone(walk: Walk) -> None:  # noqa: F811
    pages = [path for path in played(walk.site) if path not in {"/", "/ranking"}]
    for path in pages:
        page = walk.open(path)
        page.set_viewport_size({"width": 390, "height": 800})
        assert page.evaluate(CUT_OFF) == [], path


@pytest.mark.thorough
def test_pages_of_competitions_are_walked_by_tab_alone(walk: Walk) -> None:  # noqa: F811
    pages = played(walk.site)
    for path in pages:
        walk_by_tab(walk, path)
    be_admin(walk)
    for path in MINE:
        walk_by_tab(walk, path)
