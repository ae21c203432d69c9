"""A newcomer's walk on a fresh hub with its worker: a bot is written in the browser, and competes.

From the home page to a program that was typed on the page, beats random, and is seen in a rated
match: for each of the five games. With Paint it goes on to a daily game and a tournament.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import func, select

from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.daily import service as daily_service
from cw_hub.competitions.rated import service as rated_service
from cw_hub.competitions.tournament.people import invite
from cw_hub.competitions.tournament.service import TournamentConfig, create
from cw_hub.competitions.tournament.teams import NewTeam
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import Resources, opened
from cw_hub.operation.settings import read_settings
from cw_hub.site.processes import begin_site
from cw_hub.store.models import Bot, Match, MatchParticipant
from hub.tests import patience
from hub.tests.campaign import HASTY, Role, roles, run, wait_until
from hub.tests.sites import PASSWORD
from tests.browser.conftest import Watcher, watch
from tests.tools import NEEDS_BUBBLEWRAP

pytestmark = NEEDS_BUBBLEWRAP

ROOT = Path(__file__).resolve().parents[3]
SLOWLY = 240_000
"""Milliseconds in which what the hub does must be seen."""

NAME = "Ada"


@dataclass(frozen=True)
class Course:
    """What a newcomer writes a bot for, and how matches are kept short."""

    game: str
    title: str
    options: Mapping[str, Any]
    random: str = "random"
    """The built-in strategy that plays at random."""
    bot: str = "Newcomer"
    """What the bot is called."""

    @property
    def program(self) -> str:
        """Return the bot that the tutorial ends with, which beats random."""
        text = (ROOT / "docs" / "first-bot.md").read_text(encoding="utf-8")
        part = text.split(f"\n## {self.title}\n")[1]
        block = re.search(r"```python\n(.*?)```", part, re.DOTALL)
        assert block
        return block[1]


COURSES: Final = (
    Course("paint", "Paint", {"turns": 40}),
    Course("hexagon", "Hexagon", {"size": 3}),
    Course("circuit-wars", "Circuit Wars", {}),
    Course("code-battle", "Code Battle", {"max_turns": 60}),
    Course("end-of-codes", "End of Codes", {"M": 8, "MAX_HP": 2}, random="sample", bot=NAME),
)


@dataclass
class Walk:
    """A hub that is served with its worker, a browser there, and what the operator does."""

    course: Course
    resources: Resources
    environment: dict[str, str]
    address: str
    page: Page

    def open(self, path: str) -> Page:
        self.page.goto(f"{self.address}{path}")
        return self.page

    def operate(self, *arguments: str) -> None:
        """Type a command of the hub, as its operator does; no page plays a match meanwhile."""
        self.page.goto("about:blank")
        answer = run(*arguments, **self.environment)
        assert answer.returncode == 0, answer.stderr

    def done(self, kind: str) -> str | None:
        """Return the name of a match of this kind that the program has played to its end."""
        names = (
            select(Match.match_id)
            .join(MatchParticipant, MatchParticipant.match_id == Match.id)
            .join(Bot, Bot.id == MatchParticipant.bot_id)
            .where(Match.kind == kind, Match.state == "done")
            .where(Bot.kind == "program", MatchParticipant.version == 1)
            # Of a daily game with too few seats a bot has a row, and no rank.
            .where(MatchParticipant.rank.is_not(None))
            .order_by(Match.id)
        )
        with self.resources.database.reading() as session:
            return session.scalars(names.limit(1)).first()

    def number_over(self, kind: str) -> int:
        """Return how many matches of a kind have been played to their end."""
        over = select(func.count()).where(Match.kind == kind, Match.state == "done")
        with self.resources.database.reading() as session:
            return session.scalars(over).one()

    def begin_daily_game(self) -> None:
        """Let the operator begin a daily game; wait for its end."""
        before = self.number_over("daily")
        self.operate("competition", "run", f"daily/{self.course.game}")
        wait_until(lambda: self.number_over("daily") > before, "a daily game")

    def wait_for(self, kind: str) -> str:
        """Wait until the program has played a match of this kind; return the name of the match."""
        wait_until(lambda: self.done(kind) is not None, f"a {kind} match")
        return self.done(kind) or ""

    def faults(self, match: str) -> list[Any]:
        """Return the faults of the program in a match."""
        query = (
            select(MatchParticipant.faults)
            .join(Match, Match.id == MatchParticipant.match_id)
            .where(Match.match_id == match, MatchParticipant.version == 1)
        )
        with self.resources.database.reading() as session:
            return [fault for faults in session.scalars(query) for fault in faults]


def prepare(resources: Resources, course: Course) -> None:
    """Let a game be played daily, and in a rated season that begins later."""
    game = course.game
    begin_site(resources)
    with resources.database.writing() as session:
        first = competitions_service.named(session, "rated/code-battle")
        competitions_service.set_state(session, first.id, "paused")
        how = {"options": dict(course.options), "rest": 0}
        rated_service.begin(session, game, course.title, **how)
        competition = rated_service.of_game(session, game)
        assert competition is not None
        competitions_service.set_values(session, competition.id, how)
        # A bot that plays a rated match practises when that is over.
        competitions_service.set_state(session, competition.id, "paused")
        daily_service.begin_site(session)
        standing = competitions_service.find(session, daily_service.FORMAT, game)
        every_day = standing or competitions_service.new(session, daily_service.FORMAT, game)
        competitions_service.set_state(session, every_day.id, "running")
        competitions_service.set_values(session, every_day.id, {"options": dict(course.options)})


def new_tournament(resources: Resources, course: Course) -> str:
    """Create a tournament; return the code that invites to it."""
    settings = {
        "boards": [{"options": {**course.options, "board": "duel"}}],
        "hosting": "sandboxed",
        "round_every": 3600,
    }
    house = NewTeam("House", "MAIN", bot=f"builtin:{course.random}")
    of_teams = TournamentConfig("t1", course.game, "Duel", 1, settings, teams=[house])
    with resources.database.writing() as session:
        return invite(session, create(session, of_teams).id)


@contextmanager
def walking(folder: Path, browser: Browser, course: Course) -> Iterator[Walk]:
    """Walk on a hub of its own, which is served by a process."""
    environment = {"CW_DATA": str(folder / "data"), **HASTY}
    settings = read_settings(environment)
    with opened(settings, CeleryQueue(settings)) as resources:
        prepare(resources, course)
        log = folder / "hub.log"
        role = Role(["serve", "--port", "0"], environment, log, program=patience.PROGRAM[1:])
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        watcher: Watcher = watch(context)
        watcher.page.set_default_timeout(SLOWLY)
        with roles(role):
            wait_until(lambda: "Hub: " in role.log.read_text(), "the hub")
            address = re.search(r"Hub: (\S+)/", role.log.read_text())
            assert address
            yield Walk(course, resources, environment, address[1], watcher.page)
            context.close()
        assert watcher.complaints == []


def write_a_bot(walk: Walk) -> None:
    """Go from the home page to a program that was typed in the browser and beats random."""
    course, page = walk.course, walk.open("/")
    page.get_by_role("link", name=f"Write a bot for {course.title}").click()
    page.get_by_role("main").get_by_role("link", name="Register").click()
    page.get_by_label("Username").fill(NAME)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password (repeat)").fill(PASSWORD)
    page.get_by_label("E-mail").fill("ada@example.org")
    page.get_by_role("button", name="Register").click()
    code = page.locator(".cm-content")
    expect(code).to_contain_text("A bot for")
    code.click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(course.program)
    expect(page.locator("#saved")).to_have_text("Saved")
    page.get_by_role("tab", name="Save").click()
    if page.locator("#bot").is_editable():
        page.locator("#bot").fill(course.bot)
    page.get_by_label("First match against").select_option(course.random)
    page.get_by_role("button", name="Save and play").click()
    version = page.locator("#version")
    expect(version).to_contain_text("Version 1 has passed its check", timeout=SLOWLY)
    page.get_by_role("link", name="watch the match").click()
    expect(page.locator("#reason")).to_contain_text(f"{course.bot} won", timeout=SLOWLY)


def see_a_rated_match(walk: Walk) -> None:
    """See the bot in a rated match, which its page leads to, once the season has begun."""
    walk.operate("competition", "resume", f"rated/{walk.course.game}")
    match = walk.wait_for("rated")
    assert walk.faults(match) == []
    page = walk.open(f"/match/{match}")
    expect(page.get_by_role("link", name=walk.course.bot, exact=True).first).to_be_visible()
    if walk.course.game != "end-of-codes":
        page = walk.open(f"/bot/{walk.course.bot}?game={walk.course.game}")
        expect(page.get_by_role("heading", name="Recent matches")).to_be_visible()


def see_a_daily_game(walk: Walk) -> None:
    """See the bot in the table of a daily game, which the operator begins.

    A game for two draws who plays it: then there are games until the bot has played one.
    """
    while walk.done("daily") is None:
        walk.begin_daily_game()
    match = walk.done("daily") or ""
    assert walk.faults(match) == []
    page = walk.open(f"/ranking?game={walk.course.game}")
    expect(page.locator("#ranking")).to_contain_text(NAME)


def see_a_tournament(walk: Walk, invitation: str) -> None:
    """Form a team by an invitation, let it play with the bot, and see that in the tournament."""
    page = walk.open(f"/join/{invitation}")
    page.get_by_label("Name of the team").fill("Aces")
    page.get_by_role("button", name="Form the team").click()
    choice = page.get_by_label("Or a bot of your own")
    expect(choice.locator("option")).to_have_text(f"{walk.course.bot}, version 1, Python")
    page.get_by_role("button", name="Play with a copy").click()
    expect(page.get_by_text(f"version 1 is {walk.course.bot}, version 1")).to_be_visible()
    walk.operate("competition", "event", "t1", "start")
    match = walk.wait_for("tournament")
    assert walk.faults(match) == []
    page = walk.open("/t/t1/main/aces")
    expect(page.get_by_role("main")).to_contain_text("House")
    expect(page.locator(f"a[href*='{match}']").first).to_be_visible()


@pytest.mark.thorough
def test_a_newcomer_writes_a_bot_for_paint_that_competes(tmp_path: Path, browser: Browser) -> None:
    with walking(tmp_path, browser, COURSES[0]) as walk:
        write_a_bot(walk)
        see_a_rated_match(walk)
        walk.operate("competition", "pause", "rated/paint")
        see_a_daily_game(walk)
        see_a_tournament(walk, new_tournament(walk.resources, walk.course))


@pytest.mark.thorough
@pytest.mark.parametrize("course", COURSES[1:], ids=lambda course: course.game)
def test_a_newcomer_writes_a_bot_for_each_other_game(
    tmp_path: Path, browser: Browser, course: Course
) -> None:
    with walking(tmp_path, browser, course) as walk:
        write_a_bot(walk)
        see_a_rated_match(walk)
