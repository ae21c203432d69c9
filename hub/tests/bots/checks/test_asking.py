"""How often bots are asked: by host, owner and visitor, and in threads of their own."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from sqlalchemy import select, update

from cw_hub.accounts.mail_delivery import MAIL
from cw_hub.bots import checks
from cw_hub.bots import jobs as bots_jobs
from cw_hub.bots import service as bots_service
from cw_hub.bots.check_requests import UNCONFIRMED
from cw_hub.bots.checks import TooOften
from cw_hub.bots.service import NewBot
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.daily import bots
from cw_hub.competitions.daily import service as daily_service
from cw_hub.competitions.daily.bots import NOT_ASKED, PROBE, probe_bot
from cw_hub.competitions.daily.service import GAME
from cw_hub.competitions.rated import service as rated_service
from cw_hub.matches.jobs import Worker
from cw_hub.operation.queue import CHECKS, PROBES, CeleryQueue, JobTaker
from cw_hub.operation.resources import Resources
from cw_hub.operation.shared import RateCounts
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.site.processes import begin_site, do_jobs
from cw_hub.store.models import Bot, Match, MatchParticipant, User
from hub.tests.broken_bots import Broken, serving
from hub.tests.conftest import ON_SQLITE, StillClock
from hub.tests.program import program_of
from hub.tests.served_bots import serving_bots
from hub.tests.services import new_redis
from hub.tests.sites import Site, site_on, words_of

PATIENCE = 120
GRADER = "/bots/end-of-codes"
NOBODY = "http://127.0.0.1:9"


@pytest.fixture
def public_site(resources: Resources, hub_clock: StillClock) -> Iterator[Site]:
    """A hub that strangers reach, whose bots may be anywhere."""
    settings = replace(
        resources.settings,
        host="0.0.0.0",
        allow_http=True,
        bot_http=True,
        bot_network=("any",),
    )
    with site_on(replace(resources, settings=settings), hub_clock) as site:
        begin_site(site.resources)
        yield site


def registered(resources: Resources, user: str, number: int, url: str) -> list[int]:
    """Register bots of a new user; return their ids."""
    with resources.database.writing() as session:
        row = User(username=user, username_key=user, created_at=resources.clock())
        session.add(row)
        session.flush()
        ids = [
            bots_service.register(
                session,
                resources.sealer,
                row.id,
                NewBot("code-battle", f"{user}-{one}", url),
            ).id
            for one in range(number)
        ]
        for bot in ids:
            rated_service.enter(session, bot)
        return ids


# Requests to a host


@ON_SQLITE
def test_an_account_has_sixty_requests_an_hour_to_a_host_in_whatever_spelling(
    site: Site,
) -> None:
    counts, database = site.resources.rate_counts, site.resources.database
    urls = ("http://Bot.example:1/a", "https://bot.example./b", "http://bot.example")
    with database.reading() as session:
        for number in range(20):
            checks.claim(session, counts, "user 1", urls[number % 3], checks.CHECK)
        with pytest.raises(TooOften, match="60 per 1 hour"):
            checks.claim(session, counts, "user 1", urls[0], checks.ONE)
        assert checks.may_claim(session, counts, "user 1", "http://other.example", 1)
        assert checks.may_claim(session, counts, "user 2", urls[0], 1)
        site.clock.advance(3601)
        assert checks.may_claim(session, counts, "user 1", urls[0], 60)


@ON_SQLITE
def test_a_host_without_an_active_bot_has_three_hundred_requests_an_hour(site: Site) -> None:
    resources = site.resources
    url = "http://bot.example:3000"
    (bot,) = registered(resources, "ann", 1, url)
    with resources.database.reading() as session:
        for user in range(5):
            checks.claim(session, resources.rate_counts, f"user {user}", url, 60)
        with pytest.raises(TooOften, match="300 per 1 hour"):
            checks.claim(session, resources.rate_counts, "user 6", url, 1)
    with resources.database.writing() as session:
        session.get_one(Bot, bot).status = "ACTIVE"
    with resources.database.reading() as session:
        assert checks.may_claim(session, resources.rate_counts, "user 7", url, 1)
        # A bot at a host whose name only contains that one is none of it.
        for user in range(5):
            checks.claim(session, resources.rate_counts, f"user {user}", "http://example", 60)
        assert not checks.may_claim(session, resources.rate_counts, "user 8", "http://example", 1)


@pytest.mark.thorough
@ON_SQLITE
def test_edits_pages_and_the_api_count_together(site: Site) -> None:
    site.open_competition("code-battle")
    ann = site.player("Ann")
    program = program_of(site, "Ann", "bots")
    for name in ("One", "Two", "Three"):
        new = {"game": "code-battle", "name": name, "endpoint": NOBODY, "description": ""}
        assert ann.fill("/bots/new", **new).status_code == 200
    named = {bot["name"]: bot["bot_id"] for bot in program.ask("/users/Ann").json()["bots"]}
    codes: list[int] = []
    for number in range(9):
        form = {"endpoint": f"{NOBODY}/{number}", "description": ""}
        for name in ("One", "Two"):
            at = f"/bot/{name}/edit?game=code-battle"
            codes.append(ann.fill(at, "/bots/new", **form).status_code)
        codes.append(program.do(f"/bots/{named['Three']}", form, "PATCH").status_code)
    allowed = (checks.OF_OWNER.amount - 3 * checks.CHECK) // checks.CHECK
    assert [code != 429 for code in codes] == [True] * allowed + [False] * (len(codes) - allowed)
    refused = program.do(f"/bots/{named['Three']}/check")
    assert (refused.status_code, refused.json()["limit"]) == (429, "60 per 1 hour")
    assert ann.fill("/bot/One/check?game=code-battle", "/bots/new").status_code == 429
    ann.fill(GRADER, endpoint=NOBODY, form="urlencoded")
    site.queue.jobs.clear()
    assert ann.open(GRADER).status_code == 200
    assert site.queue.jobs == []


@ON_SQLITE
def test_edits_of_a_bot_are_limited_with_its_checks(site: Site) -> None:
    site.open_competition("code-battle")
    ann = site.player("Ann")
    new = {"game": "code-battle", "name": "One", "endpoint": NOBODY, "description": ""}
    ann.fill("/bots/new", **new)
    codes = [
        ann.fill(
            "/bot/One/edit?game=code-battle",
            "/bots/new",
            endpoint=f"http://127.0.0.{number + 2}",
            description="",
        ).status_code
        for number in range(12)
    ]
    assert codes == [303] * 10 + [429] * 2


@ON_SQLITE
def test_changes_by_a_program_are_limited_with_those_of_the_page(site: Site) -> None:
    site.open_competition("code-battle")
    ann = site.player("Ann")
    new = {"game": "code-battle", "name": "One", "endpoint": NOBODY, "description": ""}
    ann.fill("/bots/new", **new)
    program = program_of(site, "Ann", "bots")
    bot = program.ask("/users/Ann").json()["bots"][0]["bot_id"]
    form = {"endpoint": NOBODY, "description": "by hand"}
    at = "/bot/One/edit?game=code-battle"
    assert ann.fill(at, "/bots/new", **form).status_code == 303
    codes = [
        program.do(f"/bots/{bot}", {"description": f"number {number}"}, "PATCH").status_code
        for number in range(11)
    ]
    assert codes == [200] * 9 + [429] * 2


@ON_SQLITE
def test_a_sweep_asks_a_host_no_more_often_than_checks(
    resources: Resources, hub_clock: StillClock
) -> None:
    begin_site(resources)
    with serving(Broken("good", "", "")) as address:
        registered(resources, "ann", 10, address)
        owner = checks.owner_named(1)
        with resources.database.reading() as session:
            (user,) = {bot.user_id for bot in session.query(Bot).where(Bot.endpoint == address)}
            owner = checks.owner_named(user)
            checks.claim(session, resources.rate_counts, owner, address, 60 - 2 * checks.CHECK)
        bots_jobs.sweep_bots(resources)
    with resources.database.reading() as session:
        checked = [bot.checked_at for bot in session.query(Bot).where(Bot.endpoint == address)]
    assert len([at for at in checked if at is not None]) == 2


@ON_SQLITE
def test_a_daily_game_asks_no_host_more_often_than_may_be(resources: Resources) -> None:
    begin_site(resources)
    with serving_bots() as served:
        with resources.database.writing() as session:
            for name in ("ann", "bob", "cyd"):
                user = User(username=name, username_key=name, created_at=resources.clock())
                session.add(user)
                session.flush()
                sealer = resources.sealer
                bots.make(session, sealer, user.id, name)
                bots.save(session, user.id, served.at(name), "urlencoded")
        with resources.database.writing() as session:
            ids = {one.seat.name: one.user_id for one in daily_service.entrants(session, GAME)}
            session.execute(update(Bot).where(Bot.name == "bob").values(status="ACTIVE"))
            for name in ("ann", "bob"):
                owner, url = checks.owner_named(ids[name]), served.at(name)
                checks.claim(session, resources.rate_counts, owner, url, checks.OF_OWNER.amount)
            competition = competitions_service.find(session, "daily", GAME)
            assert competition is not None
            short = {"options": {"M": 5, "MAX_HP": 3, "max_rounds": 2}}
            competitions_service.set_values(session, competition.id, short)
            game = daily_service.begin(session, competition.id)
            match = session.scalars(select(Match.id).where(Match.match_id == game)).one()
        Worker("me", 1, MATCH_TYPES).play(resources, match)
        assert {asked.name for asked in served.asked} == {"bob", "cyd"}
    with resources.database.reading() as session:
        rows = session.query(MatchParticipant).where(MatchParticipant.match_id == match)
        reports = {row.name: row.faults[0]["text"] for row in rows if row.faults}
    assert reports == {"ann": NOT_ASKED}


# At once


@ON_SQLITE
def test_an_owner_and_a_visitor_have_few_checks_at_once(site: Site) -> None:
    hub = site.resources

    def is_sent(owner: str, visitor: str) -> bool:
        return checks.send(hub, "check_bot", 1, owner, visitor, CHECKS)

    assert [is_sent("user 1", f"v{number}") for number in range(4)] == [True] * 3 + [False]
    assert [is_sent(f"user {number}", "v") for number in range(2, 7)] == [True] * 4 + [False]
    assert len(site.queue.jobs) == 7
    # Who was refused has taken no place.
    assert [is_sent("user 6", "w") for _ in range(4)] == [True] * 3 + [False]
    checks.release(hub.rate_counts, "user 1", "v0")
    assert is_sent("user 1", "v9")
    site.clock.advance(121)
    assert is_sent("user 1", "v9")


@ON_SQLITE
def test_a_check_that_is_done_or_fails_makes_room(site: Site) -> None:
    hub = site.resources
    for job in (bots_jobs.check_bot, probe_bot):
        for _ in range(5):
            assert checks.send(hub, "check_bot", 10**6, "user 1", "v", CHECKS)
            job(hub, 10**6, "user 1", "v")
    closed = replace(hub, queue=Away())
    for _ in range(5):
        assert not checks.send(closed, "check_bot", 1, "user 1", "v", CHECKS)
    assert checks.send(hub, "check_bot", 1, "user 1", "v", CHECKS)


class Away:
    """A queue that nobody reaches."""

    def send(self, job: str, *arguments: int | str, queue: str = "jobs", after: float = 0) -> bool:
        return False

    def is_there(self) -> bool:
        return False


@ON_SQLITE
def test_an_unconfirmed_account_has_its_bots_first_probe_and_no_more(public_site: Site) -> None:
    site = public_site
    ada = site.player("Ada")

    def probes() -> int:
        return len([job for job, *_ in site.queue.jobs if job == PROBE])

    for number in range(5):
        ada.fill(GRADER, endpoint=f"{NOBODY}/{number}", form="urlencoded")
        ada.open(GRADER)
        site.clock.advance(10)
    assert probes() == 1
    (arguments_of_job,) = [arguments for job, arguments, _ in site.queue.jobs if job == PROBE]
    probe_bot(site.resources, *arguments_of_job)  # type: ignore[arg-type]
    site.clock.advance(7200)
    ada.fill(GRADER, endpoint=f"{NOBODY}/again", form="urlencoded")
    ada.open(GRADER)
    assert probes() == 1
    with site.resources.database.writing() as session:
        session.execute(update(User).values(email_verified_at=site.clock()))
    site.clock.advance(10)
    ada.open(GRADER)
    assert probes() == 2


@ON_SQLITE
def test_bots_of_an_account_that_is_unconfirmed_again_are_not_checked(public_site: Site) -> None:
    site = public_site
    ann = site.player("Ann")
    with site.resources.database.writing() as session:
        session.execute(update(User).values(email_verified_at=site.clock()))
    new = {"game": "code-battle", "name": "One", "endpoint": NOBODY, "description": ""}
    assert ann.fill("/bots/new", **new).status_code == 200
    with site.resources.database.writing() as session:
        session.execute(update(User).values(email_verified_at=None))
    refused = ann.fill("/bot/One/check?game=code-battle", "/settings")
    assert (refused.status_code, UNCONFIRMED in words_of(refused)) == (403, True)


# Threads


def test_mail_does_not_wait_for_checks_and_probes(resources: Resources) -> None:
    silent, mailed = Event(), Event()

    def wait(_: Resources, *_arguments: Any) -> None:
        silent.wait(PATIENCE)

    jobs = {bots_service.CHECK: wait, PROBE: wait, MAIL: lambda *_: mailed.set()}
    queue = CeleryQueue(resources.settings)
    try:
        do_jobs(JobTaker(resources, jobs), "me:1:2")
        for number in range(40):
            assert queue.send(PROBE, number, queue=PROBES)
            assert queue.send(bots_service.CHECK, number, queue=CHECKS)
        assert queue.send(MAIL, "reset", 1)
        assert mailed.wait(PATIENCE)
        assert not silent.is_set()
    finally:
        silent.set()


# Counts


def test_of_many_that_are_counted_at_once_as_many_are_taken_as_may_be() -> None:
    counts = RateCounts()
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: counts.take(checks.OF_OWNER, "x", cost=5), range(40)))
    assert answers.count(True) == 12


@pytest.mark.thorough
def test_counts_are_shared_in_redis_and_refused_without_it(tmp_path: Path) -> None:
    with new_redis(tmp_path) as url:
        first, second = RateCounts(url), RateCounts(url)
        assert first.take(checks.OF_OWNER, "x", cost=59)
        assert second.take(checks.OF_OWNER, "x")
        assert not second.take(checks.OF_OWNER, "x")
        first.give_back(checks.OF_OWNER, "x")
        assert second.take(checks.OF_OWNER, "x")
        assert second.ends(checks.OF_OWNER, "x") is not None
    away = RateCounts("redis://127.0.0.1:9/0")
    assert not away.take(checks.OF_OWNER, "x")
    assert away.ends(checks.OF_OWNER, "x") is None
    away.give_back(checks.OF_OWNER, "x")
