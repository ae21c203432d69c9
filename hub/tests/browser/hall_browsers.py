"""The browsers of a hall: that of its organiser, the phones of people, and the big screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from hub.tests.browser.hall import HOME, Hall, Team
from hub.tests.browser.open_hub import Person
from tests.browser.conftest import SLOW, Watcher, watch

CUT_ROWS = """() => {
    const { bottom } = document.getElementById("live").getBoundingClientRect();
    return [...document.querySelectorAll(".screen-table tbody tr:not([hidden])")]
        .filter((row) => row.getBoundingClientRect().bottom > bottom + 1)
        .map((row) => row.textContent);
}"""
"""The rows of the big screen that it has no room for."""


@dataclass
class Walk:
    """An organiser's browser at the hall."""

    hall: Hall
    context: BrowserContext
    watcher: Watcher
    number: int = 0
    """Of the last picture."""
    link: str = ""
    """Of the invitation."""
    teams: list[Team] = field(default_factory=list)
    groups: Sequence[str] = ()
    """The names of the groups in which all play before the final."""

    @property
    def page(self) -> Page:
        return self.watcher.page

    def open(self, path: str) -> Page:
        """Open a page of the site."""
        self.page.goto(f"{self.hall.hub.address}{path}")
        return self.page

    def lead(self, part: str) -> Page:
        """Go to a page of the host by its link."""
        self.page.get_by_role("navigation", name="Host").get_by_role("link", name=part).click()
        expect(self.page.locator("nav.parts [aria-current]")).to_have_text(part)
        return self.page

    def picture(self, name: str, page: Page | None = None, *, whole: bool = True) -> None:
        """Take a picture of a page."""
        self.number += 1
        path = self.hall.pictures / f"{self.number:02}-{name}.png"
        (page or self.page).screenshot(path=path, full_page=whole)

    def press(self, name: str, within: Locator | None = None) -> None:
        """Press a button, and see that nothing was refused."""
        (within or self.page.locator("main")).get_by_role("button", name=name, exact=True).click()
        expect(self.page.locator(".error:not([hidden])")).to_have_count(0)


@contextmanager
def organising(hall: Hall, browser: Browser) -> Iterator[Walk]:
    """Open the browser of an organiser; afterwards nothing went wrong there."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    walk = Walk(hall, context, watch(context))
    yield walk
    context.close()
    # What was refused on purpose.
    assert [text for text in walk.watcher.complaints if "422" not in text] == []


@contextmanager
def phone_of(walk: Walk, person: Person, path: str) -> Iterator[Page]:
    """Open a page on the phone of a person."""
    browser = walk.context.browser
    assert browser is not None
    context = browser.new_context(viewport={"width": 390, "height": 844})
    person.enter(context)
    page = context.new_page()
    page.goto(f"{walk.hall.hub.address}{path}")
    yield page
    context.close()


def look_at(walk: Walk, person: Person, path: str, name: str) -> None:
    """See a page on the phone of a person."""
    with phone_of(walk, person, path) as page:
        walk.picture(f"{name}-390", page)


def watch_the_screen(walk: Walk) -> None:
    """See ladder and match of the big screen, on a browser of its own."""
    browser = walk.context.browser
    assert browser is not None
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    context.set_default_timeout(SLOW)
    screen = context.new_page()
    screen.goto(f"{walk.hall.hub.address}{HOME}?screen=1")
    expect(screen.locator("#count")).to_contain_text("End in")
    expect(screen.locator(".screen-table tbody tr:visible")).not_to_have_count(0)
    viewer = screen.frame_locator("#shown iframe")
    expect(viewer.locator("#viewer[data-state=playing], #viewer[data-ended]")).to_be_visible()
    assert screen.evaluate(CUT_ROWS) == []
    walk.picture("big-screen", screen, whole=False)
    context.close()
