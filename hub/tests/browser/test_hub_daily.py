"""The pages of the daily game in a real Chromium: by mouse and keyboard, on each kind of screen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from sqlalchemy import select, update

from cw.games.end_of_codes.protocol import PASSED, TEXTS
from cw_hub.accounts import tickets
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.daily import service as daily_service
from cw_hub.competitions.daily import standings as rankings
from cw_hub.competitions.daily.service import GAME
from cw_hub.matches.jobs import Worker
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import open_resources
from cw_hub.operation.settings import HubSettings
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.store.models import Bot, Match, MatchParticipant, User
from hub.bench import daily_history
from hub.bench.hub_server import cookie_of
from hub.tests.conftest import StillClock
from hub.tests.sites import Site, site_on
from tests.browser.axe import complaints, on_each_screen
from tests.browser.conftest import Watcher, watch

PLAYERS = 60
GAMES = 40
OWN = 45
"""The place of the player who looks, in the game that is looked at."""


@dataclass
class Played:
    """A site where many games were played, the last one with a map."""

    site: Site
    cookie: str
    """Of the player who looks."""
    middle: str
    """A game in which that player has a place in the middle."""
    last: str


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    clock = StillClock()
    settings = HubSettings(data=tmp_path_factory.mktemp("hub") / "data")
    # Not in this thread, in which the browser has its loop.
    with ThreadPoolExecutor(1) as thread:
        resources = open_resources(settings, CeleryQueue(settings), clock)
        middle, ticket, game = thread.submit(write, resources, clock).result()
        thread.submit(Worker("me", 1, MATCH_TYPES).play, resources, game).result()
    with resources.database.reading() as reading:
        last = reading.scalars(select(Match.match_id).where(Match.id == game)).one()
    with site_on(resources, clock) as site:
        yield Played(site, cookie_of(site.app, ticket), middle, last)
    resources.database.close()


def write(resources: Any, clock: StillClock) -> tuple[str, str, int]:
    """Write games, two of them on one day, and plan the last one, which is still to be played."""
    with resources.database.writing() as session:
        daily_history.write(session, PLAYERS, GAMES)
        me = session.query(User).filter_by(username="player1").one()
        bot = session.query(Bot).filter_by(user_id=me.id).one()
        middle = session.query(Match).order_by(Match.id.desc()).offset(4).first()
        assert middle is not None
        mine = session.query(MatchParticipant).filter_by(match_id=middle.id, bot_id=bot.id).one()
        other = session.query(MatchParticipant).filter_by(match_id=middle.id, rank=OWN).one()
        mine.rank, other.rank = other.rank, mine.rank
        noon = clock() - timedelta(days=1, hours=6)
        session.execute(update(Match).where(Match.id == GAMES - 1).values(at=noon))
        competition = competitions_service.named(session, f"{daily_service.FORMAT}/{GAME}")
        small = {"M": 2, "MAX_HP": 2, "max_rounds": 40}
        competitions_service.set_values(session, competition.id, {"options": small})
        daily_service.begin(session, competition.id)
        game = session.query(Match).order_by(Match.id.desc()).first()
        assert game is not None
        return (
            middle.match_id,
            tickets.issue_session(session, me.id, remembered=True),
            game.id,
        )


@dataclass
class Visit:
    """A browser on that site."""

    played: Played
    context: BrowserContext
    watcher: Watcher

    @property
    def page(self) -> Page:
        return self.watcher.page

    def open(self, path: str) -> Page:
        self.page.goto(f"{self.played.site.address}{path}")
        return self.page

    def log_in(self) -> None:
        site = self.played.site
        self.context.add_cookies([{"name": "cw", "value": self.played.cookie, "url": site.address}])


@contextmanager
def visiting(
    played: Played, browser: Browser, width: int = 1280, scheme: str = "light"
) -> Iterator[Visit]:
    context = browser.new_context(
        viewport={"width": width, "height": 800},
        color_scheme=scheme,  # type: ignore[arg-type]
        reduced_motion="reduce",
    )
    visit = Visit(played, context, watch(context))
    yield visit
    context.close()
    assert visit.watcher.complaints == []
    assert visit.watcher.origins() == {played.site.address}


@pytest.fixture
def visit(played: Played, browser: Browser) -> Iterator[Visit]:
    """A visitor on a wide screen."""
    with visiting(played, browser) as visit:
        yield visit


@pytest.fixture
def player(visit: Visit) -> Visit:
    """The player who looks, on a wide screen."""
    visit.log_in()
    return visit


def positions(page: Page) -> list[int]:
    """Return the positions of the rows that are shown, and 0 for a gap."""
    return [
        int(row.get_attribute("data-position") or 0)
        for row in page.locator("#ranking tbody tr").all()
    ]


# Which game


def test_a_game_is_chosen_from_the_calendar(visit: Visit) -> None:
    page = visit.open("/ranking")
    expect(page.locator(".picker")).to_contain_text("Last game")
    expect(page.get_by_role("link", name="Next game")).to_have_count(0)
    date = page.get_by_role("button", name="Choose a game")
    date.click()
    calendar = page.locator("#calendar")
    expect(calendar).to_contain_text("November 2026")
    days = calendar.locator("td button")
    expect(days).to_have_text([str(day) for day in range(1, 21) if day != 18])
    expect(calendar.locator("[aria-current=date]")).to_have_text("20")
    # Two games were played on the 19th.
    calendar.get_by_role("button", name="19", exact=True).click()
    expect(calendar.locator(".times button")).to_have_count(2)
    calendar.locator(".times button").first.click()
    expect(page.locator(".picker")).to_contain_text("Game from")
    expect(page.get_by_role("link", name="Next game")).to_be_visible()
    assert "?match=" in page.url


@pytest.mark.thorough
def test_the_keyboard_alone_reaches_the_first_game(visit: Visit) -> None:
    page = visit.open("/ranking")
    page.get_by_role("button", name="Choose a game").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Previous month").focus()
    page.keyboard.press("Enter")
    calendar = page.locator("#calendar")
    expect(calendar).to_contain_text("October 2026")
    expect(page.get_by_role("button", name="Previous month")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(calendar.locator("td button").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".picker")).to_contain_text("Game from")
    for name, number in (("Previous game", 0), ("Next game", 1)):
        expect(page.get_by_role("link", name=name)).to_have_count(number)
    page.get_by_role("button", name="Choose a game").click()
    page.keyboard.press("Escape")
    expect(calendar).to_be_hidden()


# The table


def test_a_gap_opens_from_both_ends_until_there_is_none(player: Visit) -> None:
    page = player.open(f"/ranking?match={player.played.middle}")
    first = OWN - 5
    around = list(range(first, first + 11))
    assert positions(page) == [*range(1, 11), 0, *around]
    own = page.locator("#ranking tr.own")
    expect(own).to_contain_text("you")
    assert own.get_attribute("data-position") == str(OWN)
    sizes = [
        float(row.evaluate("row => parseFloat(getComputedStyle(row).fontSize)"))
        for row in (own, page.locator("#ranking tbody tr").first)
    ]
    assert sizes[0] == 1.25 * sizes[1]
    assert own.evaluate("row => getComputedStyle(row).backgroundColor") == "rgb(255, 243, 191)"
    friends = page.locator("#ranking tr.friend")
    expect(friends.first).to_contain_text("friend")
    top = page.get_by_role("button", name="Show 10 more from the top")
    bottom = page.get_by_role("button", name="Show 10 more from the bottom")
    plain = top.evaluate("one => getComputedStyle(one).backgroundColor")
    top.hover()
    # Colors change over 0.15 s: they are waited for.
    expect(top).not_to_have_css("background-color", plain)
    expect(bottom).to_have_css("background-color", plain)
    top.click()
    expect(page.locator("#ranking tbody tr")).to_have_count(32)
    assert positions(page) == [*range(1, 21), 0, *around]
    bottom.focus()
    expect(bottom).not_to_have_css("background-color", plain)
    page.keyboard.press("Enter")
    expect(page.locator("#ranking tbody tr")).to_have_count(42)
    assert positions(page) == [*range(1, 21), 0, *range(first - 10, first + 11)]
    page.keyboard.press("Enter")
    expect(page.locator("#ranking tr.gap")).to_have_count(0)
    assert positions(page) == list(range(1, first + 11))
    expect(page.locator("#ranking a:focus")).to_have_count(1)


CLICKED = """async (gaps) => {
    const { partsOf } = await import("/static/hub/ranking_gap.js");
    const walk = (top, bottom, [first, last]) => {
        if (last < first) return [[...top, ...bottom]];
        return [true, false].flatMap((fromTop) => {
            const { opening: [begin, end], remainder } = partsOf(first, last, fromTop);
            const rows = Array.from({ length: end - begin + 1 }, (_, row) => begin + row);
            if (rows.length < 1 || rows.length > 10) throw new Error(`${rows.length} rows`);
            return fromTop
                ? walk([...top, ...rows], bottom, remainder)
                : walk(top, [...rows, ...bottom], remainder);
        });
    };
    const isWhole = (rows, [first, last]) =>
        rows.length === last - first + 1 && rows.every((row, index) => row === first + index);
    return gaps.every((gap) => walk([], [], gap).every((rows) => isWhole(rows, gap)));
}"""
"""Whether all orders of clicks show all that a gap hides, each row once and in its place."""


@pytest.mark.thorough
def test_any_order_of_clicks_shows_what_a_plain_list_has(visit: Visit) -> None:
    windows = {
        tuple(rankings.windows(number, own))
        for number in range(61)
        for own in (None, *range(1, number + 1))
    }
    gaps = sorted({(one[0][1] + 1, one[1][0] - 1) for one in windows if len(one) > 1})
    assert gaps[0] == (11, 11)
    assert gaps[-1] == (11, 49)
    visit.open("/ranking")
    assert visit.page.evaluate(CLICKED, gaps)


@pytest.mark.thorough
def test_a_country_that_was_chosen_is_remembered(visit: Visit) -> None:
    page = visit.open("/ranking")
    chooser = page.get_by_label("Filter by country")
    chooser.select_option(label="Greece")
    expect(page).to_have_url(re.compile(r"country=GR"))
    expect(page.locator("#ranking .country")).to_have_text(["Greece"] * 3)
    ranks = [int(text) for text in page.locator("#ranking td.rank").all_inner_texts()]
    assert ranks == sorted(ranks)
    assert ranks[-1] > 3
    page = visit.open("/ranking")
    expect(page.get_by_label("Filter by country")).to_have_value("GR")
    page.get_by_label("Filter by country").focus()
    page.keyboard.press("Home")
    expect(page).to_have_url(re.compile(r"country=all"))
    expect(page.locator("#ranking tbody tr")).to_have_count(10)
    assert positions(page) == list(range(1, 11))


# The graph

INKED = """() => {
    const canvas = document.querySelector("#plot canvas");
    const probe = document.body.appendChild(document.createElement("span"));
    probe.style.color = "var(--accent)";
    const [red, green, blue] = getComputedStyle(probe).color.match(/[\\d.]+/g).map(Number);
    const { width, height } = canvas;
    const pixels = canvas.getContext("2d").getImageData(0, 0, width, height).data;
    const rows = [];
    for (let at = 0; at < pixels.length; at += 4) {
        const off = [red, green, blue].map((ink, part) => Math.abs(pixels[at + part] - ink));
        if (pixels[at + 3] > 200 && Math.max(...off) < 5) rows.push(Math.floor(at / 4 / width));
    }
    return [rows.length, Math.min(...rows) / height, Math.max(...rows) / height];
}"""
"""How many pixels the line has, and the highest and the lowest of them, from 0 to 1."""


@pytest.mark.thorough
def test_the_graph_reaches_from_the_best_rank_to_the_worst(player: Visit) -> None:
    page = player.open("/ranking")
    expect(page.get_by_role("heading", name="Your recent ranking")).to_be_visible()
    number, top, bottom = page.evaluate(INKED)
    assert number > 200
    assert top < 0.08
    # Below are the numbers of the days.
    assert 0.7 < bottom < 0.9
    page.get_by_text("Show as table").click()
    expect(page.locator("#points tr")).to_have_count(11)
    chooser = page.get_by_label("Period")
    expect(chooser.locator("option")).to_have_text(["Last 10 days", "Last month", "All time"])
    chooser.focus()
    page.keyboard.press("End")
    expect(page.locator("#points tr")).to_have_count(GAMES + 1)
    assert page.evaluate(INKED)[0] > number


# The map


@pytest.mark.thorough
def test_the_map_begins_at_round_0_and_the_address_keeps_the_round(visit: Visit) -> None:
    page = visit.open("/ranking")
    page.get_by_role("link", name="Go to game map").click()
    expect(page.locator("#viewer")).to_have_attribute("data-state", "ready")
    expect(page.locator("#turn")).to_have_text("0")
    expect(page.locator("#play")).to_have_attribute("data-playing", "false")
    expect(page.locator("footer.bottom")).to_have_count(0)
    players = page.locator("#players .card")
    expect(players).to_have_count(PLAYERS)
    expect(players.nth(1)).to_contain_text("player2")
    expect(players.nth(1)).to_contain_text("rank ")
    expect(players.nth(1).locator("img.flag")).to_have_count(1)
    board, list_of_players = page.locator("#board").bounding_box(), page.locator("#players")
    box = list_of_players.bounding_box()
    assert board is not None
    assert box is not None
    assert box["x"] > board["x"] + board["width"]
    slider = page.get_by_role("slider", name="Turn")
    slider.focus()
    page.keyboard.press("End")
    last = page.locator("#turns").inner_text()
    expect(page.locator("#turn")).to_have_text(last)
    expect(page).to_have_url(re.compile(rf"#turn={last}\b"))
    page.reload()
    expect(page.locator("#turn")).to_have_text(last)
    begin = page.get_by_role("slider", name="Turn").bounding_box()
    assert begin is not None
    page.mouse.click(begin["x"] + 2, begin["y"] + begin["height"] / 2)
    expect(page.locator("#turn")).to_have_text("0")


SPOTTED = """() => {
    const board = document.querySelector("#board").getBoundingClientRect();
    return [board.x, board.y, board.width, board.height];
}"""


@pytest.mark.thorough
def test_a_bubble_tells_of_the_creature_that_is_pointed_at(visit: Visit) -> None:
    page = visit.open(f"/match/{visit.played.last}")
    expect(page.locator("#viewer")).to_have_attribute("data-state", "ready")
    bubble = page.locator("#bubble")
    left, top, width, height = page.evaluate(SPOTTED)
    lines: list[str] = []
    for step in range(1, 400):
        page.mouse.move(left + width * (step % 20) / 20 + 3, top + height * (step // 20) / 20 + 3)
        page.evaluate("() => new Promise(requestAnimationFrame)")
        if bubble.is_visible():
            lines = bubble.locator("span").all_inner_texts()
            if len(lines) == 5:
                break
    assert re.search(r"player\d+", lines[0])
    assert bubble.locator("img.flag").count() == 1
    assert re.fullmatch(r"id \d+", lines[2])
    assert lines[3] == "2 hit points"
    assert re.fullmatch(r"\(\d+, \d+\)", lines[4])


# How a bot stands

STANDINGS: dict[str, dict[str, Any]] = {
    "no_url": {"endpoint": "", "checks": []},
    "not_probed": {"endpoint": "http://127.0.0.1:1", "checks": []},
    "passed": {
        "endpoint": "http://127.0.0.1:1",
        "checks": [{"step": one, "ok": True} for one in PASSED],
    },
    "failed": {
        "endpoint": "http://127.0.0.1:1",
        "checks": [
            {"step": PASSED[0], "ok": True},
            {"step": PASSED[1], "ok": True},
            {"step": TEXTS[2], "ok": False, "problem": TEXTS[2], "fix": ""},
        ],
    },
}  # fmt: skip
SEEN = {"request": "GET /bot", "code": None, "ms": 3, "expected": "", "actual": ""}

SENTENCES = {
    "no_url": (
        ("bad", "You have not set up your bot yet."),
        ("bad", "You have not set up your bot yet.", "Configure bot now"),
        ("", ""),
    ),
    "not_probed": (
        ("plain", "Your bot is being checked"),
        ("", "Your bot is being checked", "Configure bot"),
        ("", "Your bot is being checked"),
    ),
    "passed": (
        ("good", "Your bot is working correctly"),
        ("good", "Your bot is set up to play the next game", "Configure bot"),
        ("good", "Your bot is correctly configured"),
    ),
    "failed": (
        ("bad", TEXTS[2]),
        ("bad", "You have set up a bot, but it doesn't seem to work", "Reconfigure bot"),
        ("bad", "Your bot is incorrectly configured"),
    ),
}
"""The mood and the words of the notice on Ranking, the block on Settings, the status."""


def stand(played: Played, standing: str) -> None:
    """Let the bot of the player who looks stand in this way."""
    about = STANDINGS[standing]
    checks = [dict(check) for check in about["checks"]]
    if checks:
        checks[-1]["seen"] = SEEN
    # Seen just now, it is not asked again.
    at = played.site.clock() if checks else None
    values = {"kind": "url", "endpoint": about["endpoint"], "checks": checks, "checked_at": at}
    with played.site.resources.database.writing() as session:
        me = select(User.id).where(User.username == "player1").scalar_subquery()
        session.execute(update(Bot).where(Bot.user_id == me).values(values))


@pytest.mark.thorough
@pytest.mark.parametrize("standing", list(STANDINGS))
def test_each_standing_of_a_bot_is_told_on_three_pages(
    player: Visit, standing: str, request: pytest.FixtureRequest
) -> None:
    player.open("/bots/end-of-codes")  # The first visit makes the key.
    stand(player.played, standing)
    request.addfinalizer(lambda: stand(player.played, "passed"))
    notice, block, status = SENTENCES[standing]
    page = player.open("/ranking")
    notice_box = page.locator("main > .notice").first
    expect(notice_box).to_contain_text(notice[1])
    expect(notice_box).to_have_class(f"notice {notice[0]}")
    assert complaints(page) == []
    notice_box.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_text(notice[1])).to_have_count(0)
    page.reload()
    page.locator("main > .notice a").first.click()
    expect(page.get_by_role("heading", name="Bot settings")).to_be_visible()
    expect(page.locator("#status .words")).to_have_count(1 if status[1] else 0)
    if status[1]:
        expect(page.locator("#status .words")).to_contain_text(status[1])
        expect(page.locator("#status .words")).to_have_class(f"words {status[0]}".strip())
    expect(page.locator("#status li")).to_have_count(len(STANDINGS[standing]["checks"]))
    assert complaints(page) == []
    page = player.open("/settings")
    expect(page.locator(".standing .words")).to_have_class(f"words {block[0]}".strip())
    expect(page.locator(".standing .words")).to_contain_text(block[1])
    expect(page.locator(".standing .endpoint")).to_have_count(1 if standing != "no_url" else 0)
    page.get_by_role("link", name=block[2], exact=True).click()
    expect(page).to_have_url(re.compile("/bots/end-of-codes$"))


# Each page, on each screen


def test_the_pages_are_for_all(played: Played, player: Visit) -> None:
    for path in (
        f"/ranking?match={played.middle}",
        "/user/player2",
        "/bots/end-of-codes",
        f"/match/{played.last}",
    ):
        page = player.open(path)
        if "/match/" in path:
            expect(page.locator("#viewer")).to_have_attribute("data-state", "ready")
        assert on_each_screen(page) == [], path
    page = player.open("/ranking")
    page.get_by_role("button", name="Choose a game").click()
    expect(page.locator("#calendar td button").first).to_be_visible()
    assert on_each_screen(page) == []
