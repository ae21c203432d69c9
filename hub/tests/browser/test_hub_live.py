"""Matches that a worker plays are watched in a real Chromium, one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

import pytest
from playwright.sync_api import Browser, expect
from sqlalchemy import select

from cw_hub.competitions.rated import service as rated_service
from cw_hub.matches import planning
from cw_hub.matches.planning import Plan, Seat
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import Resources, opened
from cw_hub.operation.settings import read_settings
from cw_hub.store.database import Database
from cw_hub.store.migrations import upgrade
from cw_hub.store.models import Bot, Match
from hub.tests import patience
from hub.tests.bots.test_player_bots import served
from hub.tests.browser.test_hub_bots import check_page
from hub.tests.browser.test_hub_ladder import off_the_loop
from hub.tests.browser.test_hub_people import Walk, walking
from hub.tests.campaign import Role, on_services, roles
from hub.tests.competitions.tournament.test_play_online import Ear, Heard
from hub.tests.conftest import StillClock
from hub.tests.services import new_postgresql, new_redis
from hub.tests.sites import site_on

PAUSE = 0.3
"""Seconds that a bot takes for each move, so that its match can be watched."""

Begin = Callable[[], str]
"""Begins a match and returns its name."""


@contextmanager
def slow_bot() -> Iterator[tuple[str, Event]]:
    """Serve a bot of Hexagon that is slow until it is told to hurry; gives its address."""
    with served("hexagon", "greedy") as bot:
        hurry = Event()

        class SlowEar(Ear):
            heard = Heard(bot)

            def pass_on(self) -> None:
                hurry.wait(PAUSE)
                super().pass_on()

            do_GET = do_POST = do_PUT = do_DELETE = pass_on  # noqa: N815

        with ThreadingHTTPServer(("127.0.0.1", 0), SlowEar) as server:
            Thread(target=server.serve_forever, args=[0.05], daemon=True).start()
            yield f"http://127.0.0.1:{server.server_port}", hurry
            server.shutdown()


def two_bots(resources: Resources, address: str) -> tuple[int, tuple[Seat, ...]]:
    """Let two bots of the house be rated, of which the first is at an address."""
    with resources.database.writing() as session:
        competition = rated_service.begin(session, "hexagon", "Hexagon")
        bots = session.scalars(select(Bot).where(Bot.game == "hexagon").order_by(Bot.id)).all()[:2]
        bots[0].kind, bots[0].endpoint = "url", address
        return competition, tuple(Seat(bot.name, bot.id) for bot in bots)


def begin(resources: Resources, competition: int, seats: tuple[Seat, ...]) -> str:
    """Plan a rated match and send it to the worker; return its name."""
    plan = Plan("rated", "", "hexagon", seats, {"size": 7}, competition, level=1500)
    with resources.database.writing() as session:
        match = planning.plan(session, plan)
        name = session.scalars(select(Match.match_id).where(Match.id == match)).one()
    resources.queue.send("play_match", match, queue="rated")
    return name


@pytest.mark.thorough
def test_a_running_match_is_watched_to_its_end_and_the_next_one_follows(
    browser: Browser, tmp_path: Path
) -> None:
    with new_postgresql() as url, new_redis(tmp_path) as broker, slow_bot() as (address, hurry):
        with closing(Database(url)) as empty:
            upgrade(empty)
        environment = on_services(tmp_path / "data", url, broker)
        settings = read_settings(environment)
        clock = StillClock()
        with (
            opened(settings, CeleryQueue(settings)) as resources,
            site_on(resources, clock) as site,
            roles(
                Role(
                    ["worker"],
                    environment,
                    tmp_path / "worker.log",
                    program=patience.PROGRAM[1:],
                )
            ),
        ):
            competition, seats = two_bots(resources, address)
            for walk in walking(site, browser, 1280, "light"):
                watch_two(walk, hurry, lambda: begin(resources, competition, seats))


def watch_two(walk: Walk, hurry: Event, begin_one: Begin) -> None:
    """See a match become its result, and another one take its place at /live."""
    first = off_the_loop(begin_one)
    page = walk.open(f"/match/{first}")
    expect(page.locator("#turns")).to_have_text(re.compile(r"^([2-9]|\d\d)$"))
    expect(page.locator(".live-sentence")).to_contain_text("Live")
    hurry.set()
    expect(page.get_by_role("heading", name="Places")).to_be_visible()
    walk.open("/")
    page.get_by_role("link", name="Live", exact=True).click()
    expect(page.locator("#live-words")).to_contain_text("No match is live right now")
    hurry.clear()
    second = off_the_loop(begin_one)
    expect(page.locator(f'#live-words[data-match="{second}"]')).to_contain_text("strongest")
    check_page(page)
    hurry.set()
    expect(page.locator("#live-words")).to_contain_text("No match is live right now")
