"""The pages of tournaments in a real Chromium: axe, what changes by itself, and the countdown."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

from playwright.sync_api import expect
from sqlalchemy import update

from cw_hub.pages.polls import Tags
from cw_hub.store.models import Match, MatchParticipant, Round
from hub.tests.browser.test_hub_people import (
    Walk,
    hub,  # noqa: F401 - a fixture
    look,
    walk,  # noqa: F401 - a fixture
)
from hub.tests.competitions.tournament.ladder_pages import DRAWN, ILLEGAL, WON, first_round
from hub.tests.ladder_rows import HEXAGON_5, Rows, duel
from hub.tests.sites import Site

PAGES = (
    "/t/",
    "/t/t1/",
    "/t/t1/grodno/",
    "/t/t1/grodno/beta?with=alpha",
    "/t/t1/events",
    "/match/m_00000001",
)


def begun(site: object) -> Rows:
    """Return a tournament in its second round."""
    rows = duel(site.resources.database, site.clock)  # type: ignore[attr-defined]
    first_round(rows, closed=True)
    rows.team("House", "GRODNO", out_of_competition=True)
    positions = {"Alpha": 1, "Beta": 2, "Gamma": 3, "House": 3}
    two = rows.round("GRODNO", 2, HEXAGON_5, positions=positions)
    rows.match(two, ("Beta", "Alpha"), WON)
    rows.match(two, ("Gamma", "Beta"), DRAWN)
    rows.match(two, ("House", "Beta"), ILLEGAL)
    rows.match(two, ("Alpha", "House"), state="in_progress")
    rows.match(two, ("Alpha", "Gamma"))
    rows.event("note", 4329, title="Larger boards", text="Up to size 7.")
    rows.card("Beta")
    return rows


def off_the_loop(work: object, *arguments: object) -> object:
    """Do something on another thread: in this one the browser has its loop."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work, *arguments).result()  # type: ignore[arg-type]


def test_pages_of_tournaments_are_for_all(walk: Walk) -> None:  # noqa: F811
    off_the_loop(begun, walk.site)
    for path in PAGES:
        look(walk, path)
    page = walk.open("/t/t1/grodno/")
    page.get_by_label("Login token").fill("abcd-efgh-jkmn-pqrs")
    page.get_by_role("button", name="Join the team").click()
    expect(page.get_by_role("link", name="MY TEAM")).to_be_visible()
    expect(page.locator("tr.own")).to_contain_text("Beta your team")
    look(walk, "/t/t1/grodno/")


PAGES_OF_HOST = ("", "/teams", "/events", "/rounds", "/log")


def with_faults(site: Site) -> None:
    """Let a bot have answered what was a fault, and its program have written something."""
    rows = begun(site)
    rows.card(None, "H" * 16)
    answer = '{"status":"ok","move_from":[0,2],"move_to":[0,3]}' * 20
    fault = {"kind": "illegal", "turn": 1, "battle": 1, "detail": "no chip", "answer": answer}
    rows.set_faults("m_00000001", 1, [fault])
    with site.resources.database.writing() as session:
        its = (MatchParticipant.match_id == 1, MatchParticipant.slot == 1)
        stats = {"outputs": ["Traceback\n  File bot.py, line 1\n" * 20]}
        session.execute(update(MatchParticipant).where(*its).values(stats=stats))


def test_pages_of_the_host_and_of_teams_are_for_all(walk: Walk) -> None:  # noqa: F811
    off_the_loop(with_faults, walk.site)
    page = walk.open("/t/t1/")
    for token in ("H" * 16, "abcd-efgh-jkmn-pqrs"):
        page.goto(f"{walk.site.address}/t/t1/")
        page.get_by_label("Login token").fill(token)
        page.get_by_role("button", name="Join the team").click()
        page.wait_for_url(lambda url: not url.endswith("/t/t1/"))
    for part in PAGES_OF_HOST:
        look(walk, f"/t/t1/host{part}")
    page.goto(f"{walk.site.address}/t/t1/host/teams")
    for path in ("/t/t1/my-team", "/games/hexagon/?tournament=t1&bot=own"):
        look(walk, path)
    look(walk, "/match/m_00000001")
    expect(page.locator("pre.answer").first).to_contain_text('"move_from":[0,2]')


def test_a_ladder_renews_itself_and_counts_down_by_the_clock_of_the_server(
    walk: Walk,  # noqa: F811
) -> None:
    site = walk.site
    rows = off_the_loop(begun, site)
    assert isinstance(rows, Rows)
    walk.context.clock.install(time="2031-01-01T02:00:00Z")
    page = walk.open("/t/t1/grodno/")
    counter = page.locator("#count")
    # The clock of this page, which is years ahead, goes on while this is looked at.
    expect(counter).to_have_text(re.compile(r"Larger boards in 01:1[12]:\d\d"))
    walk.context.clock.run_for(600_000)
    expect(counter).to_have_text(re.compile(r"Larger boards in 01:0[12]:\d\d"))
    counter.click()
    expect(page.locator("#happened")).to_contain_text("The duel begins")
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Beta", exact=True).focus()
    off_the_loop(finish, rows)
    site.app.extensions["tags"] = Tags()
    walk.context.clock.run_for(2_500)
    expect(page.locator(".top-lines")).to_contain_text("The next round starts in")
    expect(page.locator(".standings tbody tr").first).to_contain_text(
        re.compile(r"Beta\s+20\s+\+18")
    )
    expect(page.get_by_role("link", name="Beta", exact=True)).to_be_focused()


def finish(rows: Rows) -> None:
    """End the round that is open."""
    with rows.database.writing() as session:
        session.execute(update(Match).where(Match.state != "done").values(state="failed"))
        session.execute(update(Round).values(closed_at=rows.clock()))
        rows.rise(session)
    rows.score(2, {"Alpha": (0, 4, 2), "Beta": (18, 20, 1), "Gamma": (3, 3, 3), "House": (6, 6, 2)})
