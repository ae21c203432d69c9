"""Tasks of the workshop in real workers: many at once, and workers that are killed meanwhile."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from cw_hub.accounts import service as accounts_service
from cw_hub.bots import workshop
from cw_hub.bots.workshop import DO, Draft, New, Task
from cw_hub.operation.queue import WORKSHOP, CeleryQueue
from cw_hub.operation.resources import Resources, opened
from cw_hub.operation.settings import read_settings
from cw_hub.players import packages
from cw_hub.store.database import Database
from cw_hub.store.migrations import upgrade
from cw_hub.store.models import TaskKind, WorkshopTask
from hub.tests import patience
from hub.tests.bots.workshop.test_workshop_runs import SLOW, gone, programs
from hub.tests.campaign import Role, on_services, roles, wait_until
from hub.tests.services import new_postgresql, new_redis
from tests.tools import NEEDS_BUBBLEWRAP
from tests.web.workshop.test_runs import STUBBORN, WALK, paint

pytestmark = [
    pytest.mark.thorough,
    NEEDS_BUBBLEWRAP,
]

SLOTS = 4
TASKS = SLOTS // 2
"""Those that are run at once: a competition is running, for which the other half is kept."""

MANY = 100
RUN: Mapping[str, Any] = {"opponent": "random", "seat": 1, "seed": 1, "language": "python"}
SERIES = {"opponent": "random", "matches": 400, "language": "python", "seed": 1}
BUILD = {**RUN, "language": "cpp"}
WALKER = {"bot.py": paint(f"return {WALK}")}


@dataclass
class RealHub:
    """A hub of several processes, all of which are really there."""

    resources: Resources
    worker: Role

    def person(self, name: str) -> Draft:
        with self.resources.database.writing() as session:
            user = accounts_service.register(session, name, f"{name}@example.org", "x")[0]
        return Draft(user, "paint")

    def begin(
        self, draft: Draft, files: Mapping[str, str], kind: TaskKind, request: Mapping[str, Any]
    ) -> None:
        """Ask for a task as a page does, with the files of a kit beside those that are given."""
        kit = {each.name: each.text for each in workshop.from_kit("paint")}
        both = {**kit, **files} if "bot.py" in files else files
        source = packages.pack({name: text.encode() for name, text in both.items()})
        with self.resources.database.writing() as session:
            new = New(draft, kind, dict(request), "0" * 64, source)
            workshop.begin_task(session, new)
        assert self.resources.queue.send(DO, queue=WORKSHOP)

    def task(self, draft: Draft, kind: TaskKind = "run") -> Task:
        with self.resources.database.reading() as session:
            task = workshop.find_task(session, draft, kind)
        assert task is not None
        return task

    def wait_for(self, draft: Draft, state: str, kind: TaskKind = "run") -> Task:
        wait_until(lambda: self.task(draft, kind).state == state, f"{kind} {state}")
        return self.task(draft, kind)


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealHub]:
    tmp_path: Path = tmp_path_factory.mktemp("hub")
    with new_postgresql() as database, new_redis(tmp_path) as broker:
        with closing(Database(database)) as empty:
            upgrade(empty)
        environment = on_services(tmp_path / "data", database, broker)
        playing = ["worker", "--programs", "--slots", str(SLOTS)]
        settings = read_settings(environment)
        with opened(settings, CeleryQueue(settings)) as resources:
            log = tmp_path / "worker.log"
            worker = Role(playing, environment, log, program=patience.PROGRAM[1:])
            scheduler = Role(["scheduler"], environment, tmp_path / "scheduler.log")
            with roles(worker, scheduler):
                yield RealHub(resources, worker)


def test_a_hundred_runs_at_once_begin_in_their_order_and_all_end(hub: RealHub) -> None:
    authors = [
        hub.person(f"author{chr(97 + number // 10)}{chr(97 + number % 10)}")
        for number in range(MANY)
    ]
    for author in authors:
        hub.begin(author, WALKER, "run", RUN)

    def have_ended() -> bool:
        table = WorkshopTask
        with hub.resources.database.reading() as session:
            rows = session.execute(select(table.id, table.state, table.cause)).all()
        last_begun = max((row.id for row in rows if row.state != "queued"), default=0)
        overtaken = [row.id for row in rows if row.state == "queued" and row.id < last_begun]
        # Each lane may be about to begin one.
        assert len(overtaken) <= TASKS
        return len([row for row in rows if row.state == "done" and not row.cause]) == MANY

    wait_until(have_ended, "the runs")


def test_what_a_killed_worker_did_is_lost_and_can_be_done_again(hub: RealHub) -> None:
    running, building = hub.person("running"), hub.person("building")
    hub.begin(running, {"bot.py": paint(STUBBORN)}, "run", RUN)
    hub.begin(building, {"bot.cpp": SLOW}, "run", BUILD)
    for author in (running, building):
        hub.wait_for(author, "running")
    worker = hub.worker.process.pid
    wait_until(lambda: len(programs(worker)) > TASKS, "the program and the compiler")
    sandboxes = programs(worker)
    hub.worker.kill()
    wait_until(lambda: gone(sandboxes), "the end of the sandboxes")
    for author in (running, building):
        assert hub.wait_for(author, "lost").cause == workshop.GONE
    hub.worker.start()
    hub.begin(running, WALKER, "run", RUN)
    assert "won" in hub.wait_for(running, "done").report["words"]


def test_a_series_of_a_worker_that_is_told_to_end_is_lost_at_once(hub: RealHub) -> None:
    author = hub.person("serial")
    hub.begin(author, WALKER, "series", SERIES)
    wait_until(lambda: bool((hub.task(author, "series").report or {}).get("matches")), "a match")
    hub.worker.process.send_signal(signal.SIGTERM)
    lost = hub.wait_for(author, "lost", "series")
    assert lost.cause == workshop.LEFT
    assert lost.report["matches"]
    hub.worker.process.wait()
    hub.worker.start()
