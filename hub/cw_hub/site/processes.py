"""The processes of a site, with the jobs, ticks and daily chores of all its packages."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Thread
from typing import Any, Final

import billiard
from celery.signals import worker_ready, worker_shutting_down
from filelock import FileLock, Timeout
from sqlalchemy import and_, or_, select
from sqlalchemy.exc import DBAPIError

from cw import __version__
from cw.arena.processes import KILL
from cw.errors import Failure, UsageError
from cw_hub.accounts import administration, known_places, mail, mail_delivery
from cw_hub.accounts.avatars import unused_pictures
from cw_hub.accounts.mail_delivery import MAIL, send_mail
from cw_hub.accounts.service import release_names
from cw_hub.bots import checks, health, programs, shares, workshop
from cw_hub.bots import jobs as bots_jobs
from cw_hub.bots.health import SWEEP
from cw_hub.bots.programs import report_limits
from cw_hub.bots.service import CHECK
from cw_hub.bots.versions import unused_uploads
from cw_hub.competitions import maps
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.format import Format, format_named, hosting_by, match_types
from cw_hub.competitions.service import END, IS_PLANNED, PROBLEM, START
from cw_hub.matches import friendly_ticks, planning, results, stored_replays
from cw_hub.matches.jobs import Worker, worker_name
from cw_hub.matches.match_types import MatchTypes
from cw_hub.matches.planning import PLAY
from cw_hub.operation import backups, doctor, heartbeats, scheduler
from cw_hub.operation.doctor import ClockCheck
from cw_hub.operation.heartbeats import NO_PROGRAMS, Figures, Process, Role
from cw_hub.operation.queue import LANES, PROGRAMS, SWEEPS, WORKSHOP, Job, JobTaker
from cw_hub.operation.resources import Resources
from cw_hub.operation.scheduler import Chores, Daily, Step, Steps, Ticker, delete_unnamed, do_chores
from cw_hub.operation.settings import HubSettings
from cw_hub.site.formats import FORMATS, MATCH_TYPES
from cw_hub.store.database import Session, is_away
from cw_hub.store.models import Competition, CompetitionState, Event


def jobs_of(worker: Worker, formats: Sequence[Format] = FORMATS) -> Mapping[str, Job]:
    """Return the job that handles each message."""
    own = {name: job for format_ in formats for name, job in format_.jobs.items()}
    name, experiments = worker.name, worker.kinds.experiments
    check = partial(
        bots_jobs.check_bot, hosting_of=hosting_by(formats), worker=name, experiments=experiments
    )
    return {
        PLAY: freeing(worker, worker.play),
        CHECK: freeing(worker, check),
        SWEEP: bots_jobs.sweep_bots,
        MAIL: send_mail,
        workshop.DO: freeing(
            worker, partial(bots_jobs.do_next_task, worker=name, experiments=experiments)
        ),
        **own,
    }


def freeing(worker: Worker, run: Callable[..., bool]) -> Job:
    """Return a job that afterwards retries whatever waited for a program slot.

    It does not do so after being refused itself: it would be retried immediately, endlessly.
    """

    def job(resources: Resources, *arguments: int | str) -> None:
        has_run = True
        try:
            has_run = run(resources, *arguments)
        finally:
            if has_run:
                send_waiting(resources, worker.kinds)

    return job


def send_waiting(resources: Resources, kinds: MatchTypes) -> None:
    """Send what is waiting for a program slot, as one is now free.

    While the database is unavailable, this is left to the next tick.
    """
    try:
        bots_jobs.send_next_task(resources)
        bots_jobs.send_waiting(resources)
        planning.send_refused(resources, tuple(kinds.sendings))
        planning.send_own(resources, kinds.sendings_at_ends)
    except DBAPIError as error:
        if not is_away(error):
            raise


def chores_of(formats: Sequence[Format]) -> Chores:
    """Return the daily cleanup chores for a site with these formats."""
    own = {name: chore for format_ in formats for name, chore in format_.chores.items()}
    return {
        "replays": partial(stored_replays.prune, kinds=match_types(formats)),
        "strays": partial(delete_unnamed, prefix="replays", unnamed=stored_replays.strays),
        "pictures": partial(delete_unnamed, prefix="avatars", unnamed=unused_pictures),
        "uploads": partial(delete_unnamed, prefix="bots", unnamed=unused_uploads),
        "names of deleted accounts": release_names,
        "runs of drafts": workshop.forget_old,
        **own,
    }


def keep_in_order(resources: Resources, formats: Sequence[Format] = FORMATS) -> None:
    """Run the daily chores once."""
    do_chores(resources, chores_of(formats))


def begin_site(
    resources: Resources, formats: Sequence[Format] = FORMATS, /, **settings: Any
) -> None:
    """Create the initial competitions of a site with `settings`, and store their maps.

    Idempotent, also for concurrent callers: existing ones stay as they are.
    """
    values = {"same_owner": resources.settings.is_local, **settings}
    on_maps = [format_.name for format_ in formats if format_.has_maps]
    with resources.database.writing() as session:
        for format_ in formats:
            format_.begin(session, values)
        played = competitions_service.everything(session)
    for game in sorted({row.game for row in played if row.format in on_maps}):
        store_maps(resources, game)


def store_maps(resources: Resources, game: str) -> None:
    """Put a game's maps into the store, then into the table, so that a listed map is complete."""
    with resources.database.reading() as session:
        stored = maps.stored_names(session, game)
    missing = [map_ for map_ in maps.library(game) if map_.map_id not in stored]
    for map_ in missing:
        resources.objects.put_new(map_.key, map_.data)
    with resources.database.writing() as session:
        maps.put(session, missing)


ACTOR: Final = "timetable"
"""The actor's name in the audit log."""

CAN_OCCUR: Final = or_(
    and_(Event.kind == START, Competition.state == "planned"),
    and_(Event.kind == END, Competition.state.in_(("running", "paused"))),
)


def sweep(session: Session, formats: Sequence[Format]) -> None:
    """Start and end competitions that are due. Idempotent, also when called concurrently.

    A competition that cannot start becomes a draft again, and its page says why. Formats with their
    own events handle these themselves.
    """
    session.actor = ACTOR
    names = [format_.name for format_ in formats if not format_.has_events]
    due = (
        select(Event.id)
        .join(Competition, Competition.id == Event.competition_id)
        .where(Competition.format.in_(names), *IS_PLANNED, Event.at <= session.now(), CAN_OCCUR)
        .order_by(Event.at, Event.id)
    )
    for event in session.scalars(due).all():
        apply(session, formats, event)


def apply(session: Session, formats: Sequence[Format], event_id: int) -> None:
    """Apply an event, unless another caller just did."""
    row = competitions_service.lock(session, session.get_one(Event, event_id).competition_id)
    event = session.get(Event, event_id, populate_existing=True)
    format_ = format_named(formats, row.format)
    if event is None or event.applied_at is not None or format_ is None:
        return
    state: CompetitionState = "running" if event.kind == START else "over"
    try:
        with session.begin_nested():
            format_.steer(session, competitions_service.facts_of(row), state)
    except UsageError as error:
        event.applied_at, event.data = session.now(), {PROBLEM: str(error)}
        competitions_service.set_state(session, row.id, "draft")


def steps_of(formats: Sequence[Format]) -> Steps:
    """Return the steps of a tick for a site with these formats."""
    own = match_types(formats).sendings
    plans = [in_transaction(format_.plan) for format_ in formats]
    return Steps(
        [in_transaction(results.reap)],
        [
            in_transaction(results.requeue),
            in_transaction(scheduler.sweep),
            in_transaction(known_places.sweep),
            in_transaction(mail.sweep),
            in_transaction(lambda session: sweep(session, formats)),
            *plans,
            in_transaction(friendly_ticks.sweep),
            lambda resources: planning.send_due(resources, own),
            sweep_bots,
            checks.send_again,
            in_transaction(workshop.sweep),
            bots_jobs.send_lost_tasks,
            bots_jobs.send_waiting,
        ],
    )


def in_transaction(verb: Callable[[Session], object]) -> Step:
    """Return a function as a step in its own transaction, safe for concurrent ticks."""

    def step(resources: Resources) -> None:
        with resources.database.writing() as session:
            verb(session)

    return step


def sweep_bots(resources: Resources) -> None:
    """Request the sweep of the bots whose health check is due."""
    with resources.database.reading() as session:
        is_due = health.any_due(session)
    if is_due:
        resources.queue.send(health.SWEEP, queue=SWEEPS)


def tick(resources: Resources, formats: Sequence[Format] = FORMATS, *, reaps: bool = True) -> None:
    """Run all steps once."""
    steps_of(formats).do(resources, reaps=reaps)


COUNTED: Final = 20.0
"""Seconds between writes of the counts."""

LOOKS: Final = 60.0
"""Seconds between checks whether the daily upkeep and backup are due."""

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
    return Worker(name, slots, MATCH_TYPES, runs_programs=runs_programs, clock=ClockCheck())


def begin_heartbeat(
    resources: Resources, *roles: Role, name: str = "", runs: Figures = NO_PROGRAMS
) -> None:
    """Start this process's heartbeat with its roles and programs; a worker passes its name."""
    now = resources.clock()
    process = Process(name or worker_name(os.getpid(), now), __version__, roles, now, runs)
    repeat(resources, "heartbeat", lambda: process.beat(resources), heartbeats.EVERY)


@contextmanager
def everything(resources: Resources, slots: int) -> Iterator[Worker]:
    """Tick, run jobs and play matches in threads of this process while the block runs.

    Afterwards its matches are released, but the threads run until the process ends.
    """
    settings = resources.settings
    # An embedded hub has no other worker: it takes every match, and reports why one cannot be
    # played.
    runs_programs = settings.is_embedded or programs.can_run(settings)
    worker = new_worker(resources, slots, runs_programs=runs_programs)
    if resources.settings.is_embedded:
        begin_alone(resources)
    begin_site(resources)
    taker = JobTaker(resources, jobs_of(worker))
    resources.threads.last_words = lambda: give_back(resources, worker)
    taker.work_in_thread(f"matches@{worker.name}", queues_of(MATCH_TYPES.names(), worker), slots)
    do_jobs(taker, worker.name)
    repeat(resources, "signs of life", lambda: see(resources, worker), heartbeats.EVERY)
    can_run = programs.can_run(settings)
    runs = of_programs(slots, MATCH_TYPES.names()) if can_run else NO_PROGRAMS
    begin_heartbeat(resources, *heartbeats.ROLES, name=worker.name, runs=runs)
    look_after(resources, taker)
    try:
        yield worker
    finally:
        resources.threads.stopping.set()
        worker.leave(resources)


def of_programs(slots: int, kinds: Sequence[str]) -> Figures:
    """Return what a process reports about programs: slots, kinds of matches, and languages."""
    return Figures(program_slots=slots, program_kinds=tuple(kinds), languages=programs.installed())


def queues_of(kinds: Sequence[str], worker: Worker) -> tuple[str, ...]:
    """Return the queues of a worker for matches of some kinds, and for programs if it runs them."""
    return (*kinds, PROGRAMS, WORKSHOP) if worker.runs_programs else tuple(kinds)


def begin_alone(resources: Resources) -> None:
    """Requeue the unfinished work of the previous process: no other process can be doing it."""
    with resources.database.writing() as session:
        results.reap_all(session)
        results.requeue(session)
        planning.forget_messages(session)
        workshop.lose_all(session)
        shares.leave(session)
        workshop.forget_messages(session)


def schedule(resources: Resources) -> None:
    """Tick and run jobs until the process is signalled to stop."""
    with resources.database.writing() as session:
        planning.forget_messages(session)
        workshop.forget_messages(session)
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
    """Run the periodic tasks in threads, until signalled to stop."""
    ticker, daily = Ticker(steps_of(FORMATS)), Daily(chores_of(FORMATS))
    repeat(resources, "ticks", lambda: ticker.tick(resources), resources.settings.tick)
    repeat(resources, "mails", lambda: mail_delivery.send_due(resources), mail_delivery.EVERY)
    repeat(resources, "upkeep", lambda: daily.do(resources), LOOKS)
    repeat(resources, "backups", lambda: backups.do_daily(resources), LOOKS)
    repeat(resources, "certificate", lambda: doctor.note(resources), doctor.CERTIFICATE_EVERY)
    repeat(resources, "deletions", lambda: administration.note_new(resources), LOOKS)
    repeat(resources, "counts", lambda: taker.counts.write(resources.database), COUNTED)


def work(
    resources: Resources, slots: int, kinds: Sequence[str], *, runs_programs: bool = False
) -> None:
    """Play matches of these kinds until the process is signalled to stop; then release them.

    `runs_programs` adds matches with uploaded programs.
    """
    if runs_programs:
        report_limits(resources.settings)
        # Another worker may be able to run programs if this one cannot.
        runs_programs = programs.can_run(resources.settings)
    worker = new_worker(resources, slots, runs_programs=runs_programs)
    queues = queues_of(kinds, worker)
    taker, threads = JobTaker(resources, jobs_of(worker)), resources.threads
    threads.last_words = lambda: give_back(resources, worker)

    def begin(**_: object) -> None:
        # Not earlier: threads started before would not survive in the child processes that play.
        repeat(resources, "signs of life", lambda: see(resources, worker), heartbeats.EVERY)
        runs = of_programs(slots, kinds) if runs_programs else NO_PROGRAMS
        begin_heartbeat(resources, "worker", name=worker.name, runs=runs)
        repeat(resources, "counts", lambda: taker.counts.write(resources.database), COUNTED)

    worker_ready.connect(begin, weak=False)
    # Celery sends this signal immediately, and would then wait for the matches, but hosts that are
    # reclaimed grant only seconds (decisions 0008).
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
        ended = heartbeats.Counts()
        ended.add(heartbeats.ENDED)
        ended.write(resources.database)


def see(resources: Resources, worker: Worker) -> None:
    """Record that a worker is alive."""
    with resources.database.writing() as session:
        scheduler.see_worker(session, worker.name, worker.version, worker.slots)


def repeat(resources: Resources, name: str, do: Callable[[], object], seconds: float) -> Thread:
    """Run a function periodically in a thread; log failures and retry the next time."""
    stopping = resources.threads.stopping

    def run() -> None:
        while not stopping.is_set():
            try:
                do()
            except DBAPIError as error:
                logger.warning("the database cannot be reached: %s", error.orig)
            except Failure as error:
                logger.warning("%s", error)
            except Exception:
                logger.exception("a task that runs every %g s has failed", seconds)
            stopping.wait(seconds)

    return resources.threads.start(name, run)
