"""The roles of a hub's processes: play, tick and run jobs; one each, or all in one."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Thread
from typing import Final

import billiard
from celery.signals import worker_ready, worker_shutting_down
from filelock import FileLock, Timeout
from sqlalchemy.exc import DBAPIError

from cw import __version__
from cw.arena.processes import KILL
from cw.errors import Failure, UsageError
from cw_hub.accounts import deletion_notes
from cw_hub.accounts.mails import delivery
from cw_hub.bots import programs
from cw_hub.bots.limits import report_limits
from cw_hub.bots.shares import checks as program_checks
from cw_hub.bots.versions import languages
from cw_hub.bots.workshop import tasks as workshop_tasks
from cw_hub.matches import interruptions, sending
from cw_hub.matches.playing.worker import Worker, worker_name
from cw_hub.operation import upkeep
from cw_hub.operation.backup import backup_job as backup
from cw_hub.operation.health import certificate, counts, heartbeats
from cw_hub.operation.health.clock_check import ClockCheck
from cw_hub.operation.health.heartbeats import NO_PROGRAMS, Figures, Process, Role
from cw_hub.operation.queue import LANES, PROGRAMS, WORKSHOP, JobTaker
from cw_hub.operation.resources import Resources
from cw_hub.operation.settings import HubSettings
from cw_hub.operation.tick import Ticker
from cw_hub.operation.upkeep_job import Daily
from cw_hub.site.formats import FORMATS, KINDS
from cw_hub.site.processes.begin import begin_site
from cw_hub.site.processes.jobs import jobs_of
from cw_hub.site.processes.ticks import steps_of
from cw_hub.site.processes.upkeep import chores_of

COUNTED: Final = 20.0
"""Seconds between writes of the counts."""

LOOKS: Final = 60.0
"""Seconds between checks whether the daily upkeep and back-up are due."""

logger = logging.getLogger(__name__)


@contextmanager
def folder_locked(settings: HubSettings) -> Iterator[None]:
    """Lock the data folder while the block runs, if everything is stored in it.

    Raises UsageError if another process holds the lock.
    """
    if not settings.is_sqlite:
        yield
        return
    try:
        with FileLock(settings.data / "lock", timeout=0):
            yield
    except Timeout:
        raise UsageError(
            f"another process uses the folder {settings.data}: stop it, or set CW_DATA"
        ) from None


def new_worker(resources: Resources, slots: int, *, runs_programs: bool = True) -> Worker:
    """Return a worker for this process."""
    name = worker_name(os.getpid(), resources.clock())
    return Worker(name, slots, KINDS, runs_programs=runs_programs, clock=ClockCheck())


def begin_heartbeat(
    resources: Resources, *roles: Role, name: str = "", runs: Figures = NO_PROGRAMS
) -> None:
    """Start the heartbeat of this process: its roles and programs; a worker has its own name."""
    now = resources.clock()
    process = Process(name or worker_name(os.getpid(), now), __version__, roles, now, runs)
    repeat(resources, "heartbeat", lambda: process.beat(resources), heartbeats.EVERY)


@contextmanager
def everything(resources: Resources, slots: int) -> Iterator[Worker]:
    """Tick, run jobs and play matches in threads of this process while the block runs.

    Afterwards its matches are released, but the threads run until the process ends.
    """
    settings = resources.settings
    # An embedded hub has no other worker: it takes every match, and says why one cannot be played.
    runs_programs = settings.is_embedded or programs.can_run(settings)
    worker = new_worker(resources, slots, runs_programs=runs_programs)
    if resources.settings.is_embedded:
        begin_alone(resources)
    begin_site(resources)
    taker = JobTaker(resources, jobs_of(worker))
    resources.threads.last_words = lambda: give_back(resources, worker)
    taker.work_in_thread(f"matches@{worker.name}", queues_of(KINDS.names(), worker), slots)
    do_jobs(taker, worker.name)
    repeat(resources, "signs of life", lambda: see(resources, worker), heartbeats.EVERY)
    can_run = programs.can_run(settings)
    runs = of_programs(slots, KINDS.names()) if can_run else NO_PROGRAMS
    begin_heartbeat(resources, *heartbeats.ROLES, name=worker.name, runs=runs)
    look_after(resources, taker)
    try:
        yield worker
    finally:
        resources.threads.stopping.set()
        worker.leave(resources)


def of_programs(slots: int, kinds: Sequence[str]) -> Figures:
    """Return a process's report on programs: how many at once, and beside which matches."""
    return Figures(program_slots=slots, program_kinds=tuple(kinds), languages=languages.installed())


def queues_of(kinds: Sequence[str], worker: Worker) -> tuple[str, ...]:
    """Return the queues of a worker for matches of some kinds, and for programs if it runs them."""
    return (*kinds, PROGRAMS, WORKSHOP) if worker.runs_programs else tuple(kinds)


def begin_alone(resources: Resources) -> None:
    """Queue the unfinished work of the previous process: nobody else can be doing it."""
    with resources.database.writing() as session:
        interruptions.reap_all(session, resources.clock)
        interruptions.requeue(session)
        sending.forget_messages(session)
        workshop_tasks.lose_all(session, resources.clock)
        program_checks.leave(session)
        workshop_tasks.forget_messages(session)


def schedule(resources: Resources) -> None:
    """Tick and run jobs until the process is told to stop."""
    with resources.database.writing() as session:
        sending.forget_messages(session)
        workshop_tasks.forget_messages(session)
    begin_site(resources)
    doer = new_worker(resources, slots=0)
    taker = JobTaker(resources, jobs_of(doer))
    resources.threads.last_words = lambda: give_back(resources, doer)
    do_jobs(taker, doer.name)
    begin_heartbeat(resources, "scheduler")
    look_after(resources, taker)
    resources.threads.wait()


def do_jobs(taker: JobTaker, name: str) -> None:
    """Run the jobs other than matches, each queue in its own threads."""
    for queue, threads in LANES.items():
        taker.work_in_thread(f"{queue}@{name}", [queue], threads)


def look_after(resources: Resources, taker: JobTaker) -> None:
    """Run the periodic tasks in threads, until told to stop."""
    ticker, daily = Ticker(steps_of(FORMATS)), Daily(chores_of(FORMATS))
    repeat(resources, "ticks", lambda: ticker.tick(resources), resources.settings.tick)
    repeat(resources, "mails", lambda: delivery.send_due(resources), delivery.EVERY)
    repeat(resources, "upkeep", lambda: daily.do(resources), LOOKS)
    repeat(resources, "back-ups", lambda: backup.do_daily(resources), LOOKS)
    repeat(resources, "certificate", lambda: certificate.note(resources), certificate.EVERY)
    repeat(resources, "deletions", lambda: deletion_notes.note_new(resources), LOOKS)
    repeat(resources, "counts", lambda: taker.counts.write(resources.database), COUNTED)


def work(
    resources: Resources, slots: int, kinds: Sequence[str], *, runs_programs: bool = False
) -> None:
    """Play matches of these kinds until the process is told to stop; then release them.

    With `runs_programs` also those with uploaded programs.
    """
    if runs_programs:
        report_limits(resources.settings)
        # Another worker may have what this one lacks.
        runs_programs = programs.can_run(resources.settings)
    worker = new_worker(resources, slots, runs_programs=runs_programs)
    queues = queues_of(kinds, worker)
    taker, threads = JobTaker(resources, jobs_of(worker)), resources.threads
    threads.last_words = lambda: give_back(resources, worker)

    def begin(**_: object) -> None:
        # Only now: threads started earlier would not survive in the child processes that play.
        repeat(resources, "signs of life", lambda: see(resources, worker), heartbeats.EVERY)
        runs = of_programs(slots, kinds) if runs_programs else NO_PROGRAMS
        begin_heartbeat(resources, "worker", name=worker.name, runs=runs)
        repeat(resources, "counts", lambda: taker.counts.write(resources.database), COUNTED)

    worker_ready.connect(begin, weak=False)
    # Celery sends this signal at once, and would then wait for the matches: machines that are taken
    # away grant only seconds (decisions 0008).
    worker_shutting_down.connect(lambda **_: threads.leave(0), weak=False)
    name = f"matches@{worker.name}"
    taker.work(name, queues, slots)
    threads.end(name)


def give_back(resources: Resources, worker: Worker) -> None:
    """Release the matches of this ending process, and end the children that play for it."""
    for child in billiard.active_children():
        # Children first, so that none of them renews a released lease.
        os.kill(child.pid, KILL)
    worker.leave(resources)
    if resources.threads.ended:
        ended = counts.Counts()
        ended.add(counts.ENDED)
        ended.write(resources.database)


def see(resources: Resources, worker: Worker) -> None:
    """Record that a worker is alive."""
    with resources.database.writing() as session:
        upkeep.see_worker(session, resources.clock, worker.name, worker.version, worker.slots)


def repeat(resources: Resources, name: str, do: Callable[[], object], seconds: float) -> Thread:
    """Run a function periodically in a thread; failures are logged and retried the next time."""
    stopping = resources.threads.stopping

    def run() -> None:
        while not stopping.is_set():
            try:
                do()
            except DBAPIError as error:
                logger.warning("the database is away: %s", error.orig)
            except Failure as error:
                logger.warning("%s", error)
            except Exception:
                logger.exception("what is done every %g s has failed", seconds)
            stopping.wait(seconds)

    return resources.threads.start(name, run)
