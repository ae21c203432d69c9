"""Shares of the places as workers get them: matches, checks and tasks, one at a time or at once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Barrier, Thread
from typing import TypeVar

import pytest
from sqlalchemy import select, update

from cw_hub.accounts import service as accounts_service
from cw_hub.bots import service as bots_service
from cw_hub.bots import shares, workshop
from cw_hub.bots.service import NewBot
from cw_hub.bots.workshop import Draft, New
from cw_hub.matches.jobs import Worker
from cw_hub.matches.planning import Plan, Seat, plan
from cw_hub.operation.heartbeats import Figures, Process
from cw_hub.operation.resources import Resources
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.store.database import Session
from cw_hub.store.models import Competition, Match, ProgramCheck, TaskKind, WorkshopTask
from hub.tests.sites import by_clock

T = TypeVar("T")

WORKER = Worker("me", 4, MATCH_TYPES)


class Site:
    """A site with some places, and what people want to run there."""

    def __init__(self, resources: Resources) -> None:
        self.resources = resources
        self.planned = 0

    def offer(self, count: int, *kinds: str) -> None:
        """Let the worker report its places, and which matches without programs it plays."""
        programs = Figures(program_slots=count, program_kinds=tuple(kinds))
        Process("me", "1", ("worker",), self.resources.clock(), programs).beat(self.resources)

    def write(self, verb: Callable[[Session], T]) -> T:
        with self.resources.database.writing() as session:
            return verb(session)

    def person(self, name: str) -> int:
        return self.write(
            lambda session: accounts_service.register(session, name, f"{name}@example.org", "x")[0]
        )

    def program(self, user: int, name: str) -> int:
        def add(session: Session) -> int:
            bot = bots_service.new_bot(session, user, NewBot("paint", name, ""), "program")
            bots_service.added(session, bot)
            return bot.id

        return self.write(add)

    def plan(self, bot: int) -> int:
        """Plan a practice match of a program, and send its message."""
        self.planned += 1
        seats = (Seat(f"p{bot}", bot_id=bot), Seat("walker", spec="builtin:walker"))

        def add(session: Session) -> int:
            key = f"match {self.planned}"
            match = plan(session, Plan("practice", key, "paint", seats))
            sent = update(Match).where(Match.id == match).values(sent_at=self.resources.clock())
            session.execute(sent)
            return match

        return self.write(add)

    def play(self, match: int) -> bool:
        """Return whether a worker may begin a match."""
        claim = self.write(lambda session: WORKER.claim_in(session, self.resources, match))
        return claim is not None

    def is_sent(self, match: int) -> bool:
        return self.write(lambda session: session.get_one(Match, match).sent_at is not None)

    def ask(self, user: int, kind: TaskKind = "run") -> int:
        new = New(Draft(user, "paint"), kind, {"opponent": "random"}, "0" * 64, b"zip")
        return self.write(lambda session: workshop.begin_task(session, new))

    def task(self) -> int | None:
        """Begin the task that is next; return its number."""
        claim = self.write(lambda session: workshop.claim_task(session, "me"))
        return None if claim is None else claim.id

    def end_task(self, number: int) -> None:
        ended = update(WorkshopTask).where(WorkshopTask.id == number).values(state="done")
        self.write(lambda session: session.execute(ended))

    def end_match(self, match: int) -> None:
        ended = update(Match).where(Match.id == match).values(state="done", lease_until=None)
        self.write(lambda session: session.execute(ended))

    def check(self, bot: int) -> bool:
        return self.write(lambda session: shares.begin(session, bot, "me", ()))


@pytest.fixture
def site(resources: Resources) -> Site:
    return Site(resources)


def test_an_owner_has_no_more_than_half_of_the_places_while_others_wait(site: Site) -> None:
    site.offer(4)
    ann, ben = site.person("ann"), site.person("ben")
    of_ann, of_ben = site.program(ann, "A"), site.program(ben, "B")
    first, second, third = (site.plan(of_ann) for _ in range(3))
    assert site.play(first)
    assert site.play(second)
    other = site.plan(of_ben)
    assert not site.play(third)
    assert not site.is_sent(third)
    assert site.play(other)
    assert site.play(third)


def test_matches_and_tests_of_an_owner_count_together(site: Site) -> None:
    site.offer(4)
    ann, ben = site.person("ann"), site.person("ben")
    bot = site.program(ann, "A")
    site.ask(ann)
    assert site.task() is not None
    assert site.check(bot)
    site.ask(ben)
    match = site.plan(bot)
    assert not site.play(match)
    assert site.task() is not None
    assert site.play(match)


def test_tests_of_many_people_leave_half_of_the_places_to_matches(site: Site) -> None:
    site.offer(2)
    users = [site.person(name) for name in ("ann", "ben", "cleo", "dan")]
    for user in users[:3]:
        site.ask(user)
    bot = site.program(users[3], "D")
    match = site.plan(bot)
    assert site.task() is not None
    assert site.task() is None
    assert not site.check(bot)
    assert site.play(match)


def test_a_running_competition_keeps_places_for_matches_that_are_not_planned_yet(
    site: Site,
) -> None:
    site.offer(2)
    for name in ("ann", "ben"):
        site.ask(site.person(name))
    rated = Competition(
        slug="paint",
        game="paint",
        format="rated",
        title="Paint",
        seed=1,
        state="running",
        created_at=site.resources.clock(),
    )
    site.write(lambda session: session.add(rated))
    assert site.task() is not None
    assert site.task() is None
    over = update(Competition).values(state="over")
    site.write(lambda session: session.execute(over))
    assert site.task() is not None


def test_matches_of_one_account_do_not_keep_another_ones_run_waiting(site: Site) -> None:
    site.offer(2)
    ann, ben = site.person("ann"), site.person("ben")
    bot = site.program(ann, "A")
    matches = [site.plan(bot) for _ in range(4)]
    assert site.play(matches[0])
    site.ask(ben)
    assert not site.play(matches[1])
    assert site.task() is not None


def test_with_one_place_matches_and_tests_take_turns(site: Site) -> None:
    site.offer(1)
    ann, ben = site.person("ann"), site.person("ben")
    bot = site.program(ann, "A")
    first, second = site.plan(bot), site.plan(bot)
    site.ask(ann)
    site.ask(ben)
    run = site.task()
    assert run is not None
    site.end_task(run)
    assert site.task() is None
    assert site.play(first)
    site.end_match(first)
    site.write(workshop.take_refused)
    assert not site.play(second)
    other = site.task()
    assert other is not None
    assert other != run


def test_a_series_gives_way_to_a_match_where_there_is_one_place(site: Site) -> None:
    site.offer(1)
    ann, ben = site.person("ann"), site.person("ben")
    site.ask(ann, "series")
    assert site.task() is not None

    def keeps() -> bool:
        return site.write(workshop.keeps_others_waiting)

    assert not keeps()
    site.plan(site.program(ben, "B"))
    assert keeps()
    site.offer(2)
    assert not keeps()


def test_a_check_runs_once_and_is_forgotten_at_its_end(site: Site) -> None:
    site.offer(2)
    bot = site.program(site.person("ann"), "A")
    assert site.check(bot)
    assert not site.check(bot)
    site.write(lambda session: shares.end(session, bot))
    # It was asked for again meanwhile.
    assert site.write(shares.take_due) == [bot]
    assert site.check(bot)
    site.write(lambda session: shares.end(session, bot))
    rows = site.write(lambda session: session.scalars(select(ProgramCheck.bot_id)).all())
    assert rows == []


def test_a_check_that_was_refused_or_lost_its_worker_is_sent_again(site: Site) -> None:
    site.offer(2)
    ann, ben = site.person("ann"), site.person("ben")
    bot = site.program(ann, "A")
    site.ask(ben)
    assert site.task() is not None
    site.plan(bot)
    assert not site.check(bot)

    def due() -> list[int]:
        return site.write(shares.take_due)

    assert [due(), due()] == [[bot], []]
    site.write(lambda session: session.execute(update(WorkshopTask).values(state="done")))
    assert site.check(bot)
    assert due() == []
    site.write(lambda session: shares.leave(session, "me"))
    assert due() == [bot]


def test_workers_that_claim_at_once_exceed_no_share(site: Site) -> None:
    """Eight threads take tests at the same moment: two of four places stay with matches."""
    site.offer(4)
    users = [site.person(f"user{letter}") for letter in "abcdefgh"]
    for user in users:
        site.ask(user)
    site.plan(site.program(users[0], "A"))
    begun: list[int | None] = []
    barrier = Barrier(len(users))

    def take() -> None:
        barrier.wait()
        begun.append(site.task())

    threads = [Thread(target=take) for _ in users]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(begun) == len(users)
    assert len([number for number in begun if number is not None]) == 2


def test_the_places_of_a_worker_that_is_gone_do_not_count(site: Site) -> None:
    site.offer(2)
    assert site.write(shares.count) == 2
    site.write(lambda session: shares.leave(session, "me"))
    assert site.write(shares.count) == 0
    site.offer(3)

    def later() -> datetime:
        return site.resources.clock() + timedelta(seconds=61)

    assert Site(by_clock(site.resources, later)).write(shares.count) == 0


def test_matches_that_only_other_workers_play_do_not_keep_tests_waiting(site: Site) -> None:
    site.offer(1)
    run = site.ask(site.person("ann"))
    assert site.task() == run
    site.end_task(run)
    seats = (Seat("walker", spec="builtin:walker"), Seat("random", spec="builtin:random"))
    built_in = Plan("practice", "built-in", "paint", seats)
    site.write(lambda session: plan(session, built_in))
    site.write(
        lambda session: session.execute(update(Match).values(sent_at=site.resources.clock()))
    )
    other = site.ask(site.person("ben"))
    assert site.task() == other
    site.end_task(other)
    site.offer(1, "practice")
    site.ask(site.person("cleo"))
    assert site.task() is None


def test_a_match_says_what_its_owner_uses_while_others_wait(site: Site) -> None:
    site.offer(2)
    ann, ben = site.person("ann"), site.person("ben")
    bot = site.program(ann, "A")
    first, second = site.plan(bot), site.plan(bot)
    assert site.play(first)

    def why() -> shares.Used | None:
        def read(session: Session) -> shares.Used | None:
            name = session.get_one(Match, second).match_id
            return shares.why_match_waits(session, name, ())

        return site.write(read)

    assert why() is None
    site.plan(site.program(ben, "B"))
    assert why() == (1, 2)
