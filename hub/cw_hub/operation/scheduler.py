"""Periodic maintenance: the steps of a tick, the daily chores, and the worker registry."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Final, TypeAlias

from sqlalchemy import delete, func, select
from sqlalchemy.exc import DBAPIError

from cw.errors import Failure
from cw_hub import context
from cw_hub.context import Clock
from cw_hub.operation import heartbeats, logs
from cw_hub.operation.doctor import ClockCheck
from cw_hub.operation.heartbeats import GONE, LIVE
from cw_hub.operation.resources import Resources
from cw_hub.store.database import Session, is_away
from cw_hub.store.models import MailCount, Ticket, Worker

logger = logging.getLogger(__name__)

Step: TypeAlias = Callable[[Resources], object]
"""A step of a tick, which does what is due in transactions of its own.

Each step documents what happens if it runs twice, late, or concurrently.
"""


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a tick, in execution order."""

    reaping: Sequence[Step]
    """Steps that revoke leases not renewed in time; they run first."""
    steps: Sequence[Step]

    def do(self, resources: Resources, *, reaps: bool = True) -> None:
        """Run all steps; a failed step does not stop the others.

        Each tick has its own request id, which everything it plans and sends refers to. Raises
        Failure after the last step if any has failed, but database errors immediately.
        """
        with logs.about(request_id=context.new_id()):
            steps = (*self.reaping, *self.steps) if reaps else self.steps
            failed = sum(not succeeds(step, resources) for step in steps)
        if failed:
            raise Failure(f"{failed} of {len(steps)} steps of a tick have failed")


def succeeds(step: Step, resources: Resources) -> bool:
    """Run a step; return whether it succeeded, and log the error if not."""
    try:
        step(resources)
    except DBAPIError:
        raise
    except Exception:
        logger.exception("a step of a tick has failed")
        return False
    return True


class Ticker:
    """Ticks repeatedly, unless this host's clock is wrong.

    Just after a database outage, no leases are revoked: none could be renewed during it.
    """

    def __init__(self, steps: Steps, elapsed: Callable[[], float] = time.monotonic) -> None:
        """Assume no outage so far; `elapsed` returns seconds."""
        self._steps = steps
        self._elapsed = elapsed
        self._clock = ClockCheck(elapsed)
        self._reaps_from = elapsed()

    def tick(self, resources: Resources) -> None:
        """Run all steps that are due; database errors propagate."""
        try:
            if self._clock.is_right(resources):
                self._steps.do(resources, reaps=self._elapsed() >= self._reaps_from)
                with resources.database.writing() as session:
                    heartbeats.record(session, heartbeats.TICK, resources.clock())
        except DBAPIError as error:
            if is_away(error):
                # An outage longer than a lease lets all leases expire, though all workers are live
                # (decisions 0008).
                self._reaps_from = self._elapsed() + resources.settings.lease
            raise


MAILS_COUNT: Final = timedelta(days=1)
"""How long emails to a recipient are counted."""


def see_worker(session: Session, name: str, version: str, slots: int) -> None:
    """Record that a worker is live. Each call updates the time."""
    now = session.now()
    worker = session.get(Worker, name)
    if worker is None:
        worker = Worker(id=name, version=version, slots=slots, state="playing", started_at=now)
        session.add(worker)
    worker.seen_at = now


def live_workers(session: Session) -> int:
    """Return how many workers are live."""
    live = select(func.count()).where(Worker.seen_at > session.now() - LIVE)
    return session.scalars(live).one()


def live_slots(session: Session) -> int:
    """Return how many matches the live workers can play concurrently."""
    slots = select(func.coalesce(func.sum(Worker.slots), 0))
    return int(session.scalars(slots.where(Worker.seen_at > session.now() - LIVE)).one())


def forget_worker(session: Session, name: str) -> None:
    """Record that a worker has shut down cleanly. Idempotent."""
    session.execute(delete(Worker).where(Worker.id == name))


def sweep(session: Session) -> None:
    """Delete expired tickets, email counts older than a day, and workers and processes long gone.

    Idempotent.
    """
    now = session.now()
    session.execute(delete(Ticket).where(Ticket.expires_at <= now))
    session.execute(delete(MailCount).where(MailCount.last_at <= now - MAILS_COUNT))
    session.execute(delete(Worker).where(Worker.seen_at <= now - GONE))
    heartbeats.sweep(session)


DUE: Final = timedelta(hours=3)
"""When the chores are due, as time after midnight UTC."""

SPARED: Final = timedelta(days=2)
"""How long an unreferenced object is kept: a row may soon refer to one just stored."""

AT_ONCE: Final = 500
"""Objects looked up per transaction."""

Unnamed: TypeAlias = Callable[[Session, Iterable[str]], list[str]]
"""A function that returns which of the given keys no row refers to."""

Chore: TypeAlias = Callable[[Resources], int]
"""A function that deletes what is no longer needed, and returns how much.

It is idempotent, and safe to run concurrently.
"""

Chores: TypeAlias = Mapping[str, Chore]
"""The chores, by the name of what they delete."""


class Daily:
    """Runs the chores once a day, on the first call after they are due."""

    def __init__(self, chores: Chores) -> None:
        """Schedule the chores for the first call."""
        self._chores = chores
        self._done: datetime | None = None

    def do(self, resources: Resources) -> None:
        """Run the chores if due; if one fails, all are due again."""
        due = last_due(resources.clock, DUE)
        if due != self._done:
            do_chores(resources, self._chores)
            self._done = due


def last_due(clock: Clock, after_midnight: timedelta) -> datetime:
    """Return when a daily job was last due."""
    now = clock()
    today = now.replace(hour=0, minute=0, second=0, microsecond=0) + after_midnight
    return today if today <= now else today - timedelta(days=1)


def do_chores(resources: Resources, chores: Chores) -> None:
    """Run all chores, and log what they deleted. Idempotent, and safe to run concurrently."""
    counts = [f"{chore(resources)} {name}" for name, chore in chores.items()]
    logger.info("upkeep: %s deleted", ", ".join(counts))


def delete_unnamed(resources: Resources, prefix: str, unnamed: Unnamed) -> int:
    """Delete the objects below a prefix that no row refers to; return how many."""
    count, stored = 0, resources.objects.keys(prefix, resources.clock() - SPARED)
    while keys := list(islice(stored, AT_ONCE)):
        with resources.database.reading() as session:
            strays = unnamed(session, keys)
        for key in strays:
            resources.objects.delete(key)
        count += len(strays)
    return count
