"""Another language is chosen for a draft on a hub in Chromium, and no work is lost unasked."""

from __future__ import annotations

from playwright.sync_api import expect

from hub.tests.bots.workshop.test_language_of_draft import VERSIONS, run_languages
from hub.tests.browser.test_hub_bots import check_page
from hub.tests.browser.test_hub_people import (
    Walk,
    hub,  # noqa: F401 - a fixture
    walk,  # noqa: F401 - a fixture
)
from tests.tools import NEEDS_BUBBLEWRAP

pytestmark = NEEDS_BUBBLEWRAP


def test_a_draft_goes_from_one_language_to_another(walk: Walk) -> None:  # noqa: F811
    walk.be("Ann")
    page = walk.open("/workshop/paint/")
    code, other = page.locator(".cm-content"), page.get_by_role("link", name="Other language")
    expect(code).to_contain_text("A bot for Paint")
    other.click()
    expect(page.get_by_text("No machine that runs programs is available right now")).to_be_visible()
    check_page(page)

    run_languages(walk.site, **VERSIONS)
    page.reload()
    check_page(page)
    page.get_by_role("radio", name="Go 1.22.0").check()
    page.get_by_role("button", name="Begin with this kit").click()
    expect(code).to_contain_text("package main")
    expect(page.get_by_role("tab", name="bot.go")).to_be_visible()
    check_page(page)

    code.click()
    page.keyboard.press("Control+Home")
    page.keyboard.insert_text("// mine\n")
    expect(page.locator("#saved")).to_have_text("Saved")
    other.click()
    expect(page.get_by_text("your whole draft is replaced")).to_be_visible()
    check_page(page)
    page.get_by_role("link", name="Back to the workshop").click()
    expect(code).to_contain_text("// mine")

    window = walk.context.new_page()
    window.goto(page.url)
    other.click()
    page.get_by_role("radio", name="Java 17.0.1").check()
    # Another window types on while the question stands there.
    window.locator(".cm-content").click()
    window.keyboard.press("Control+Home")
    window.keyboard.insert_text("// more\n")
    expect(window.locator("#saved")).to_have_text("Saved")
    replace = page.get_by_role("button", name="Replace my draft with the kit")
    replace.click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was replaced")
    check_page(page)
    window.close()
    page.get_by_role("radio", name="Java 17.0.1").check()
    replace.click()
    expect(page.get_by_role("tab", name="Bot.java")).to_be_visible()
    expect(code).not_to_contain_text("// mine")
    walk.accept_refusals()
