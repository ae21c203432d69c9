"""What the processes of a hub do: play, tick and do jobs; each role for itself, or all in one."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from typing import Final

import billiard
from celery.signals import worker_ready, worker_shutting_down
from filelock import FileLock, Timeout
from sqlalchemy.exc import DBAPIError

from cw.arena.processes import KILL
from cw.errors import Failure, UsageError
from cw.hub.jobs import backup
from cw.hub.jobs.app import JOBS, KINDS, JobTaker
from cw.hub.jobs.begin import begin_site
from cw.hub.jobs.clock_check import ClockCheck
from cw.hub.jobs.play import Worker, worker_name
from cw.hub.jobs.registry import jobs_of
from cw.hub.jobs.tick import Ticker
from cw.hub.jobs.upkeep import Daily
from cw.hub.resources import Resources
from cw.hub.services import matches, upkeep
from cw.hub.services.matches import PROGRAMS
from cw.hub.settings import HubSettings

SEEN: Final = 20.0
"""Seconds between two signs of life of a worker."""

LOOKS: Final = 60.0
"""Seconds between two looks whether the upkeep and the back-up of the day are due."""

JOBS_AT_ONCE: Final = 4
LAST_WORDS: Final = 1.0
"""Seconds that a worker has to give back what it plays: it is to be gone within two."""

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
            f"another process runs on the folder {settings.data}: end it, or set CW_DATA"
        ) from None


def new_worker(
    resources: Resources, slots: int, *, ends_itself: bool = False, runs_programs: bool = True
) -> Worker:
    """Return this process as a worker."""
    name = worker_name(os.getpid(), resources.clock())
    return Worker(
        name, slots, runs_programs=runs_programs, ends_itself=ends_itself, clock=ClockCheck()
    )


@contextmanager
def everything(resources: Resources, slots: int) -> Iterator[Worker]:
    """Play, tick and do jobs in threads of this process while the block runs.

    Afterwards what was played is given back, and the threads go on until the process ends.
    """
    worker, stopping = new_worker(resources, slots), Event()
    if resources.settings.is_embedded:
        begin_alone(resources)
    begin_site(resources)
    taker = JobTaker(resources, jobs_of(worker))
    taker.work_in_thread(f"matches@{worker.name}", (*KINDS, PROGRAMS), slots)
    taker.work_in_thread(f"jobs@{worker.name}", [JOBS], JOBS_AT_ONCE)
    repeat(lambda: see(resources, worker), SEEN, stopping)
    look_after(resources, stopping)
    try:
        yield worker
    finally:
        stopping.set()
        worker.leave(resources)


def begin_alone(resources: Resources) -> None:
    """Queue what the process before this one has left: nobody else can be playing it."""
    with resources.database.writing() as session:
        matches.reap_all(session, resources.clock)
        matches.requeue(session)
        matches.forget_messages(session)


def schedule(resources: Resources) -> None:
    """Tick, and do jobs, until the process is told to end."""
    stopping = Event()
    with resources.database.writing() as session:
        matches.forget_messages(session)
    begin_site(resources)
    doer = new_worker(resources, slots=0)
    taker = JobTaker(resources, jobs_of(doer))
    taker.work_in_thread(f"jobs@{doer.name}", [JOBS], JOBS_AT_ONCE)
    look_after(resources, stopping)
    stopping.wait()


def look_after(resources: Resources, stopping: Event) -> None:
    """Do in threads what is due from time to time, until told to stop."""
    ticker, daily = Ticker(), Daily()
    repeat(lambda: ticker.tick(resources), resources.settings.tick, stopping)
    repeat(lambda: daily.do(resources), LOOKS, stopping)
    repeat(lambda: backup.do_daily(resources), LOOKS, stopping)


def work(
    resources: Resources, slots: int, kinds: Sequence[str], *, runs_programs: bool = False
) -> None:
    """Play matches of these kinds until the process is told to end; then it gives them back.

    Where it runs programs, also those in which uploads play.
    """
    worker = new_worker(resources, slots, ends_itself=True, runs_programs=runs_programs)
    queues = (*kinds, PROGRAMS) if runs_programs else kinds

    def begin(**_: object) -> None:
        # Not before: what is started here would not live on in the processes that play.
        repeat(lambda: see(resources, worker), SEEN, Event())

    worker_ready.connect(begin, weak=False)
    # Celery says so from its first moment on, and would wait for what is played.
    worker_shutting_down.connect(lambda **_: end_now(resources, worker), weak=False)
    JobTaker(resources, jobs_of(worker)).work(f"matches@{worker.name}", queues, slots)


def end_now(resources: Resources, worker: Worker) -> None:
    """Give back what is played, and end this process with those that play for it."""
    for child in billiard.active_children():
        os.kill(child.pid, KILL)
    leaving = Thread(target=worker.leave, args=[resources], daemon=True)
    leaving.start()
    leaving.join(LAST_WORDS)
    os._exit(0)


def see(resources: Resources, worker: Worker) -> None:
    """Note that a worker lives."""
    with resources.database.writing() as session:
        upkeep.see_worker(session, resources.clock, worker.name, worker.version, worker.slots)


def repeat(do: Callable[[], object], seconds: float, stopping: Event) -> Thread:
    """Do something again and again in a thread; what fails is told, and tried the next time."""

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

    thread = Thread(target=run, daemon=True)
    thread.start()
    return thread
