"""What the processes of a hub do: play, tick and do jobs; each role for itself, or all in one."""

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
from cw.hub.accounts import deletion_notes
from cw.hub.accounts.mails import delivery
from cw.hub.bots import programs
from cw.hub.bots.limits import report_limits
from cw.hub.bots.shares import checks as program_checks
from cw.hub.bots.versions import languages
from cw.hub.bots.workshop import tasks as workshop_tasks
from cw.hub.matches import interruptions, sending
from cw.hub.matches.playing.worker import Worker, worker_name
from cw.hub.operation import upkeep
from cw.hub.operation.backup import backup_job as backup
from cw.hub.operation.health import certificate, counts, heartbeats
from cw.hub.operation.health.clock_check import ClockCheck
from cw.hub.operation.health.heartbeats import NO_PROGRAMS, Figures, Process, Role
from cw.hub.operation.queue import LANES, PROGRAMS, WORKSHOP, JobTaker
from cw.hub.operation.resources import Resources
from cw.hub.operation.settings import HubSettings
from cw.hub.operation.tick import Ticker
from cw.hub.operation.upkeep_job import Daily
from cw.hub.site.formats import FORMATS, KINDS
from cw.hub.site.processes.begin import begin_site
from cw.hub.site.processes.jobs import jobs_of
from cw.hub.site.processes.ticks import steps_of
from cw.hub.site.processes.upkeep import chores_of

COUNTED: Final = 20.0
"""Seconds after which what was counted is written down."""

LOOKS: Final = 60.0
"""Seconds between two looks whether the upkeep and the back-up of the day are due."""

logger = logging.getLogger(__name__)


@contextmanager
def folder_locked(settings: HubSettings) -> Iterator[None]:
    """Hold the data folder while the block runs, where all is kept in it.

    Raises UsageError if another process holds it.
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
    """Return this process as a worker."""
    name = worker_name(os.getpid(), resources.clock())
    return Worker(name, slots, KINDS, runs_programs=runs_programs, clock=ClockCheck())


def begin_heartbeat(
    resources: Resources, *roles: Role, name: str = "", runs: Figures = NO_PROGRAMS
) -> None:
    """Report this process repeatedly: its roles, and what it runs; a worker by its own name."""
    now = resources.clock()
    process = Process(name or worker_name(os.getpid(), now), __version__, roles, now, runs)
    repeat(resources, "heartbeat", lambda: process.beat(resources), heartbeats.EVERY)


@contextmanager
def everything(resources: Resources, slots: int) -> Iterator[Worker]:
    """Tick, do jobs and let players play while the block runs, in threads of this process.

    Afterwards what was played is given back, and the threads go on until the process ends.
    """
    settings = resources.settings
    # Alone, it takes all there is, and says of what cannot be played why.
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
    """Return what a process reports that runs programs: how many at once, beside which matches."""
    return Figures(program_slots=slots, program_kinds=tuple(kinds), languages=languages.installed())


def queues_of(kinds: Sequence[str], worker: Worker) -> tuple[str, ...]:
    """Return the queues from which a worker takes matches of some kinds, and what runs programs."""
    return (*kinds, PROGRAMS, WORKSHOP) if worker.runs_programs else tuple(kinds)


def begin_alone(resources: Resources) -> None:
    """Queue what the process before this one has left: nobody else can be playing it."""
    with resources.database.writing() as session:
        interruptions.reap_all(session, resources.clock)
        interruptions.requeue(session)
        sending.forget_messages(session)
        workshop_tasks.lose_all(session, resources.clock)
        program_checks.leave(session)
        workshop_tasks.forget_messages(session)


def schedule(resources: Resources) -> None:
    """Tick, and do jobs, until the process is told to end."""
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
    """Do in threads what is not a match, each kind in threads of its own."""
    for queue, threads in LANES.items():
        taker.work_in_thread(f"{queue}@{name}", [queue], threads)


def look_after(resources: Resources, taker: JobTaker) -> None:
    """Do in threads what is due from time to time, until told to stop."""
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
    """Play matches of these kinds until the process is told to end; then it gives them back.

    Where it runs programs, also those in which uploads play.
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
        # Not before: what is started here would not live on in the processes that play.
        repeat(resources, "signs of life", lambda: see(resources, worker), heartbeats.EVERY)
        runs = of_programs(slots, kinds) if runs_programs else NO_PROGRAMS
        begin_heartbeat(resources, "worker", name=worker.name, runs=runs)
        repeat(resources, "counts", lambda: taker.counts.write(resources.database), COUNTED)

    worker_ready.connect(begin, weak=False)
    # Celery says so from its first moment on, and would wait for what is played: machines that are
    # taken away grant seconds (decisions 0008).
    worker_shutting_down.connect(lambda **_: threads.leave(0), weak=False)
    name = f"matches@{worker.name}"
    taker.work(name, queues, slots)
    threads.end(name)


def give_back(resources: Resources, worker: Worker) -> None:
    """Give back what is played, as this process ends, and those that play for it with it."""
    for child in billiard.active_children():
        # First the children, so that none of them renews a lease that is given back.
        os.kill(child.pid, KILL)
    worker.leave(resources)
    if resources.threads.ended:
        ended = counts.Counts()
        ended.add(counts.ENDED)
        ended.write(resources.database)


def see(resources: Resources, worker: Worker) -> None:
    """Note that a worker lives."""
    with resources.database.writing() as session:
        upkeep.see_worker(session, resources.clock, worker.name, worker.version, worker.slots)


def repeat(resources: Resources, name: str, do: Callable[[], object], seconds: float) -> Thread:
    """Do something again and again in a thread; what fails is told, and tried the next time."""
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
