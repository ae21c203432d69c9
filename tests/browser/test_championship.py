"""The page of a championship in a browser: renewed without a reload, and kept at its end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Response, expect

from cw.championship.config import ChampionshipSettings, begin
from cw.championship.journal import Journal, Progress, opened
from cw.championship.report import write_report
from cw.championship.report_document import snapshot
from cw.league.fixtures import Fixture, open_fixtures
from cw.line_files import alone
from cw.server.wsgi import listen, serving
from cw.web.championship import championship_app
from tests.browser.axe import on_each_screen, serious
from tests.browser.conftest import Watcher
from tests.championship.contests import built_in, run_in_background
from tests.championship.test_report import by_name
from tests.effort import first_is_fast

LONG = "a-team-whose-name-is-very-long"
TEAMS = ("ada", "alan", "barbara", "donald", "edsger", "grace", "ken", LONG)


REST = 5000
"""Milliseconds between two questions of a page while nothing is being played."""


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Begin a championship of two groups in which the name that comes first always wins."""
    settings = ChampionshipSettings(TEAMS, "teams", game="paint", groups=2)
    begin(tmp_path / "out", settings)
    return tmp_path / "out"


def settings() -> ChampionshipSettings:
    return ChampionshipSettings(TEAMS, "teams", game="paint", groups=2)


def play(out: Path, most: int = 1000, **more: Any) -> None:
    """Write down matches as a runner does."""
    with opened(out, settings()) as journal:
        for fixture in upcoming(journal, most):
            journal.add(by_name(fixture))
        Progress(**more).save(out)
        write_report(out / "report", snapshot(journal), journal.settings, Progress())


def upcoming(journal: Journal, most: int) -> Iterator[Fixture]:
    contest = journal.settings.contest()
    for _ in range(most):
        left = open_fixtures(contest.rounds(journal.results), journal.results)
        if not left:
            return
        yield left[0]


class Site:
    """A server of the championship that can be ended before the test is."""

    def __init__(self, out: Path) -> None:
        """Serve."""
        self.out = out
        self.stack = ExitStack()
        self.address = self.stack.enter_context(
            serving(championship_app(out), listen("127.0.0.1", 0))
        )

    def end(self) -> None:
        """Serve no more."""
        self.stack.close()


@pytest.fixture
def site(out: Path) -> Iterator[Site]:
    site = Site(out)
    yield site
    site.end()


def heading(page: Page) -> Any:
    return page.get_by_role("heading", level=1)


def is_unchanged(answer: Response) -> bool:
    """Return whether a page was told that it shows how a championship stands."""
    return answer.url.endswith("/stand") and answer.status == 304


def test_the_page_is_renewed_without_a_reload(out: Path, site: Site, watcher: Watcher) -> None:
    page = watcher.page
    running = {Fixture("group", "A", 2, ("ada", "ken")): "http://127.0.0.1:4711"}
    page.clock.install()
    with alone(out):
        with page.expect_response(is_unchanged):
            page.goto(f"{site.address}/championship/")
        expect(heading(page)).to_have_text("0 of 30 matches played")
    page.clock.run_for(REST)
    expect(page.get_by_text("cw championship resume out")).to_be_visible()
    page.locator("summary", has_text="edsger").click()
    page.evaluate("window.same = document.querySelector('#team-edsger')")
    play(out, 9, running=running, seconds_left=200.0)
    with alone(out):
        page.clock.run_for(REST)
        expect(heading(page)).to_have_text("9 of 30 matches played")
        expect(page.get_by_text("1 being played, 20 to come: about 3 min left.")).to_be_visible()
        live = page.get_by_role("link", name="Watch live: ada against ken")
        expect(live).to_have_attribute("href", "http://127.0.0.1:4711")
    play(out)
    page.clock.run_for(REST)
    expect(heading(page)).to_have_text("a-team-whose-name-is-very-long is the champion")
    expect(page).to_have_title(f"{LONG} is the champion | Championship")
    best = page.get_by_role("list", name="The best teams")
    expect(best.get_by_role("listitem")).to_have_count(3)
    assert page.evaluate("window.same.isConnected && window.same.open")
    expect(page.locator("#team-edsger table")).to_be_visible()
    assert [answer.url for answer in watcher.responses].count(f"{site.address}/championship/") == 1


@pytest.mark.thorough
def test_the_page_stays_when_the_server_ends(out: Path, site: Site, watcher: Watcher) -> None:
    watcher.server_leaves = True
    page = watcher.page
    play(out)
    page.goto(f"{site.address}/championship/")
    expect(heading(page)).to_contain_text("is the champion")
    site.end()
    notice = page.locator("#notice")
    expect(notice).to_contain_text("no longer updated")
    expect(notice).to_contain_text("cw serve --replays out")
    expect(heading(page)).to_contain_text("is the champion")
    assert "gone" not in page.locator("body").inner_text()


@pytest.mark.parametrize("matches", first_is_fast([9, 1000]))
def test_axe_finds_nothing_serious_and_nothing_is_too_wide(
    site: Site, watcher: Watcher, matches: int
) -> None:
    page = watcher.page
    page.emulate_media(reduced_motion="reduce")
    failed = {Fixture("group", "A", 2, ("ada", "ken")): "no room"}
    play(site.out, matches, failed=failed, warnings=["ada: it has no walls"])
    page.goto(f"{site.address}/championship/")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert on_each_screen(page, serious) == []


@pytest.mark.thorough
def test_the_keyboard_reaches_bracket_tables_and_teams(
    out: Path, site: Site, watcher: Watcher
) -> None:
    play(out)
    page = watcher.page
    page.goto(f"{site.address}/championship/")
    for name in ("Bracket", "Table: Group A", "Cross table: Group B"):
        page.get_by_role("group", name=name, exact=True).focus()
        expect(page.get_by_role("group", name=name, exact=True)).to_be_focused()
    summary = page.locator("summary", has_text="The bracket as a table")
    summary.focus()
    page.keyboard.press("Enter")
    table = page.get_by_role("group", name="Bracket as a table").get_by_role("row")
    expect(table).to_have_count(4)
    expect(table.nth(3)).to_contain_text("on wins")


def test_the_report_is_a_page_by_itself(out: Path, browser: Browser) -> None:
    play(out)
    context = browser.new_context(viewport={"width": 390, "height": 800})
    page = context.new_page()
    addresses: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: addresses.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.goto((out / "report" / "index.html").as_uri())
    expect(heading(page)).to_contain_text("is the champion")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert len(addresses) == 1
    assert complaints == []
    context.close()


@pytest.mark.thorough
def test_a_result_of_the_report_leads_to_its_replay_from_disk(
    tmp_path: Path, browser: Browser
) -> None:
    file = built_in(tmp_path / "teams.toml", ("random", "greedy"))
    out = tmp_path / "out"
    arguments = ("--format", "round-robin", "--game", "paint", "--option", "turns=5")
    assert run_in_background(file, out, *arguments).wait(120) == 0
    context = browser.new_context()
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto((out / "report" / "index.html").as_uri())
    page.locator("td.cell a").first.click()
    expect(page.locator("#viewer[data-state=ready]")).to_be_visible()
    expect(page.locator("#players")).to_contain_text("greedy")
    page.get_by_role("link", name="Back to the championship").click()
    expect(heading(page)).to_contain_text("is the champion")
    assert complaints == []
    context.close()
