"""Tasks of the workshop as rows: who is served next, what replaces what, and what is lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from datetime import timedelta
from threading import Barrier, Thread

import pytest
from sqlalchemy import select

from cw_hub.accounts import service as accounts_service
from cw_hub.bots import workshop
from cw_hub.bots.workshop import Claim, Draft, New, Task
from cw_hub.operation.resources import Resources
from cw_hub.players.messages import News, Piece
from cw_hub.store.models import TaskKind, WorkshopPiece
from hub.tests.conftest import StillClock


class Desk:
    """What pages and workers do with rows."""

    def __init__(self, resources: Resources) -> None:
        self.resources = resources

    def person(self, name: str) -> Draft:
        """Return the draft of somebody who has just registered."""
        with self.resources.database.writing() as session:
            user = accounts_service.register(session, name, f"{name}@example.org", "x")[0]
        return Draft(user, "paint")

    def begin(self, draft: Draft, kind: TaskKind = "run") -> int:
        with self.resources.database.writing() as session:
            new = New(draft, kind, {"opponent": "random"}, "0" * 64, b"zip")
            return workshop.begin_task(session, new)

    def claim(self, worker: str = "w") -> Claim | None:
        with self.resources.database.writing() as session:
            return workshop.claim_task(session, worker)

    def claimed(self, worker: str = "w") -> Claim:
        claim = self.claim(worker)
        assert claim is not None
        return claim

    def beat(self, claim: Claim, *pieces: Piece) -> bool:
        with self.resources.database.writing() as session:
            return workshop.beat(session, claim, News({"words": ""}, pieces))

    def finish(self, claim: Claim) -> bool:
        with self.resources.database.writing() as session:
            return workshop.finish(session, claim, News({"words": "won"}))

    def find(self, draft: Draft, kind: TaskKind = "run") -> Task:
        with self.resources.database.reading() as session:
            task = workshop.find_task(session, draft, kind)
        assert task is not None
        return task

    def ahead_of(self, draft: Draft, kind: TaskKind = "run") -> int:
        with self.resources.database.reading() as session:
            return workshop.ahead_of(session, kind, self.find(draft, kind))

    def keeps_others_waiting(self) -> bool:
        with self.resources.database.reading() as session:
            return workshop.keeps_others_waiting(session)

    def sweep(self) -> None:
        with self.resources.database.writing() as session:
            workshop.sweep(session)


@pytest.fixture
def desk(resources: Resources) -> Desk:
    return Desk(resources)


def test_people_are_served_in_the_order_in_which_they_asked(desk: Desk) -> None:
    ann, ben, cleo = map(desk.person, ("ann", "ben", "cleo"))
    tasks = [desk.begin(ann), desk.begin(ben), desk.begin(cleo)]
    assert [desk.ahead_of(each) for each in (ann, ben, cleo)] == [0, 1, 2]
    assert [desk.claimed().id for _ in tasks] == tasks
    assert desk.claim() is None


def test_a_task_whose_message_is_sent_again_keeps_its_turn(
    desk: Desk, hub_clock: StillClock
) -> None:
    first, _ = desk.begin(desk.person("ann")), desk.begin(desk.person("ben"))
    hub_clock.advance(60)
    with ThreadPoolExecutor(1) as thread:
        with desk.resources.database.writing() as session:
            assert workshop.take_due(session) == 2
            claim = thread.submit(desk.claimed)
            # The scheduler has its rows, and has not written them yet.
            wait([claim], timeout=1)
        assert claim.result().id == first


def test_series_are_served_last_and_give_way(desk: Desk, hub_clock: StillClock) -> None:
    ann, ben, cleo = map(desk.person, ("ann", "ben", "cleo"))
    desk.begin(ann, "series")
    series = desk.claimed()
    desk.begin(ben, "series")
    run = desk.begin(cleo)
    assert (desk.ahead_of(ben, "series"), desk.ahead_of(cleo)) == (1, 0)
    assert not desk.keeps_others_waiting()
    hub_clock.advance(2)
    assert desk.keeps_others_waiting()
    assert desk.beat(series)
    with desk.resources.database.writing() as session:
        workshop.give_way(session, series)
    assert not desk.beat(series)
    assert desk.claimed().id == run
    assert not desk.keeps_others_waiting()
    again = desk.claimed()
    assert (again.id, again.report, again.source) == (series.id, {"words": ""}, series.source)


def test_who_has_a_place_waits_with_all_else_and_others_do_not(desk: Desk) -> None:
    ann, ben = desk.person("ann"), desk.person("ben")
    desk.begin(ann, "series")
    series = desk.claimed()
    run, other = desk.begin(ann), desk.begin(ben)
    assert desk.claimed().id == other
    assert desk.claim() is None
    with desk.resources.database.reading() as session:
        assert workshop.own_running(session, ann.user) == "series"
    assert desk.finish(series)
    assert desk.claimed().id == run


def test_a_new_run_replaces_the_one_before_with_all_that_it_has_told(desk: Desk) -> None:
    ann = desk.person("ann")
    desk.begin(ann)
    before = desk.claimed()
    assert desk.beat(before, Piece("match", 0, 0, b"head"))
    desk.begin(ann, "check")
    later = desk.begin(ann)
    assert not desk.beat(before, Piece("match", 1, 1, b"line"))
    assert not desk.finish(before)
    with desk.resources.database.reading() as session:
        assert session.scalars(select(WorkshopPiece.data)).all() == []
    assert desk.find(ann).id == later > before.id
    assert desk.claimed().kind == "check"


@pytest.mark.parametrize("is_claimed", [False, True])
def test_what_is_stopped_goes_on_no_more(desk: Desk, is_claimed: bool) -> None:
    ann = desk.person("ann")
    desk.begin(ann)
    claim = desk.claimed() if is_claimed else None
    with desk.resources.database.writing() as session:
        workshop.stop_task(session, ann, "run", "you have stopped it")
    assert desk.claim() is None
    assert claim is None or not desk.beat(claim)
    assert (desk.find(ann).state, desk.find(ann).cause) == ("stopped", "you have stopped it")


def test_a_worker_that_is_silent_for_too_long_has_lost_its_task(
    desk: Desk, hub_clock: StillClock
) -> None:
    ann = desk.person("ann")
    desk.begin(ann)
    claim = desk.claimed()
    hub_clock.advance(workshop.LOST_AFTER.total_seconds() - 1)
    desk.sweep()
    assert desk.beat(claim)
    hub_clock.advance(workshop.LOST_AFTER.total_seconds() - 1)
    desk.sweep()
    assert desk.find(ann).state == "running"
    hub_clock.advance(2)
    desk.sweep()
    assert (desk.find(ann).state, desk.find(ann).cause) == ("lost", workshop.GONE)
    assert not desk.finish(claim)


def test_a_worker_that_is_told_to_end_gives_up_its_own_tasks_alone(desk: Desk) -> None:
    ann, ben = desk.person("ann"), desk.person("ben")
    desk.begin(ann)
    desk.begin(ben)
    desk.claimed("one")
    desk.claimed("two")
    with desk.resources.database.writing() as session:
        workshop.lose_all_of(session, "one")
    assert [desk.find(each).state for each in (ann, ben)] == ["lost", "running"]


def test_messages_that_may_be_lost_are_sent_again_once(desk: Desk, hub_clock: StillClock) -> None:
    desk.begin(desk.person("ann"))
    desk.begin(desk.person("ben"))

    def take_due() -> int:
        with desk.resources.database.writing() as session:
            return workshop.take_due(session)

    assert take_due() == 0
    hub_clock.advance(workshop.SENT_AGAIN / timedelta(seconds=1))
    assert [take_due(), take_due()] == [2, 0]
    with desk.resources.database.writing() as session:
        workshop.forget_messages(session)
    assert take_due() == 2


def test_what_is_over_is_kept_for_a_week(desk: Desk, hub_clock: StillClock) -> None:
    ann, ben = desk.person("ann"), desk.person("ben")
    desk.begin(ann)
    assert desk.finish(desk.claimed())
    desk.begin(ben)
    hub_clock.advance(workshop.RETENTION / timedelta(seconds=1))
    assert workshop.forget_old(desk.resources) == 0
    hub_clock.advance(1)
    assert [
        workshop.forget_old(desk.resources),
        workshop.forget_old(desk.resources),
    ] == [1, 0]
    assert desk.find(ben).state == "queued"


def test_many_workers_at_once_take_each_task_once_and_one_of_a_person(desk: Desk) -> None:
    drafts = [desk.person(name) for name in ("ann", "ben", "cleo")]
    kinds: tuple[TaskKind, ...] = ("run", "series", "check")
    for draft in drafts:
        for kind in kinds:
            desk.begin(draft, kind)
    claims: list[Claim | None] = []
    barrier = Barrier(8)

    def take() -> None:
        barrier.wait()
        claims.append(desk.claim())

    threads = [Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    served = [claim.draft.user for claim in claims if claim is not None]
    assert len(served) == len(set(served)) >= 1
    # Whoever found none came too early: the next message is for the one that waits.
    while (claim := desk.claim()) is not None:
        served.append(claim.draft.user)
    assert sorted(served) == sorted(draft.user for draft in drafts)
