"""A bot is written on a hub in Chromium: kept, saved as a version, and watched in a match."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from cw_hub.bots import workshop
from hub.tests.bots.workshop.test_workshop_runs import working
from hub.tests.browser.test_hub_bots import check_page, do_jobs
from hub.tests.browser.test_hub_people import (
    Walk,
    hub,  # noqa: F401 - a fixture
    walk,  # noqa: F401 - a fixture
)
from tests.browser.axe import on_each_screen
from tests.browser.test_workshop import type_over
from tests.tools import NEEDS_BUBBLEWRAP

pytestmark = [NEEDS_BUBBLEWRAP, pytest.mark.usefixtures("patient_painters")]


def test_a_bot_is_typed_kept_saved_and_played(walk: Walk) -> None:  # noqa: F811
    walk.site.open_competition("paint")
    walk.be("Ann")
    page = walk.open("/games/paint/")
    page.get_by_role("link", name="Write a bot here").click()
    code = page.locator(".cm-content")
    expect(code).to_contain_text("A bot for Paint")
    check_page(page)

    code.click()
    page.keyboard.press("Control+Home")
    page.keyboard.insert_text("# mine\n")
    expect(page.locator("#saved")).to_have_text("Saved")
    page.reload()
    expect(code).to_contain_text("# mine")

    other = walk.context.new_page()
    other.goto(page.url)
    expect(other.locator(".cm-content")).to_contain_text("# mine")
    walk.context.set_offline(True)
    for window, words in ((page, "# here\n"), (other, "# there\n")):
        window.locator(".cm-content").click()
        window.keyboard.press("Control+Home")
        window.keyboard.insert_text(words)
    walk.context.set_offline(False)
    page_with_dialog = page if is_asked(page, other) else other
    page_with_dialog.get_by_role("button", name="Keep my version").click()
    expect(page_with_dialog.locator("#saved")).to_have_text("Saved")
    other.close()
    page.reload()

    code.click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.insert_text("raise SystemExit(1)\n")
    page.get_by_role("tab", name="Save").click()
    page.locator("#bot").fill("Painter")
    page.get_by_role("button", name="Save and play").click()
    version = page.locator("#version")
    expect(version).to_contain_text("is being checked")
    do_jobs(walk.site)
    expect(version).to_contain_text("has failed its check at")
    check_page(page)

    code.click()
    for _ in range(2):
        page.keyboard.press("Control+z")
    page.get_by_label("First match against").select_option("walker")
    page.get_by_label("Note").fill("plays")
    page.get_by_role("button", name="Save and play").click()
    expect(version).to_contain_text("Version 2 of Painter is saved")
    do_jobs(walk.site)
    expect(version).to_contain_text("Version 2 has passed its check")
    page.get_by_role("link", name="watch the match").click()
    do_jobs(walk.site)
    expect(page.locator(".viewer, .embedded, iframe").first).to_be_visible()
    walk.accept_refusals()


SLOW = "import time; time.sleep(0.2); return ('walk', (0, 1))"


@pytest.mark.thorough
def test_a_bot_is_run_without_a_version(walk: Walk) -> None:  # noqa: F811
    walk.be("Ann")
    page = walk.open("/workshop/paint/")
    code = page.locator(".cm-content")
    expect(code).to_contain_text("A bot for Paint")
    with working(walk.site):
        page.keyboard.press("Control+Enter")
        expect(page.locator("#viewer[data-state=ready]")).to_be_visible()
        expect(page.locator("#run[aria-busy]")).to_have_count(0)
        expect(page.locator("#words")).to_contain_text("in turn 100")
        assert on_each_screen(page) == []

        type_over(page, "return random.choice(ACTIONS)", "raise KeyError(7)")
        page.keyboard.press("Control+Enter")
        expect(page.locator(".cm-mark-words").first).to_have_text("KeyError: 7")
        expect(page.locator(".cm-mark-words").first).to_be_in_viewport(ratio=1)
        expect(page.locator("#cause")).to_contain_text("bot.py, line")
        expect(page.locator("#cause")).to_contain_text("KeyError: 7")
        expect(page.locator("#cause")).to_be_in_viewport(ratio=1)
        expect(page.locator("#run-marks button").first).to_contain_text("bot.py, line")
        page.get_by_role("tab", name="Turn").click()
        expect(page.locator("#asked")).to_contain_text("It was asked")
        assert on_each_screen(page) == []

        type_over(page, "raise KeyError(7)", SLOW)
        page.keyboard.press("Control+Enter")
        expect(page.locator("#turn")).not_to_have_text("0")
        page.get_by_role("button", name="Stop").first.click()
        expect(page.locator("#words")).to_contain_text("you have stopped it")

    page.keyboard.press("Control+Enter")
    expect(page.locator("#words")).to_contain_text("waits")
    with walk.site.resources.database.writing() as session:
        workshop.claim_task(session, "a worker that is killed")
    walk.site.clock.advance(60)
    with walk.site.resources.database.writing() as session:
        workshop.sweep(session)
    expect(page.locator("#words")).to_contain_text("is gone")
    assert on_each_screen(page) == []
    with working(walk.site):
        page.get_by_role("button", name="Run again").click()
        expect(page.locator("#turn")).not_to_have_text("0")
    walk.accept_refusals()


def is_asked(page: Page, other: Page) -> bool:
    """Return whether it is the first of two windows that is asked what to keep."""
    conflict = "() => !document.getElementById('conflict').hidden"
    for _ in range(300):
        if page.evaluate(conflict) or other.evaluate(conflict):
            break
        page.wait_for_timeout(200)
    return bool(page.evaluate(conflict))
