"""What keeps the hub in order: which workers live, and what may be forgotten."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from cw.hub.clock import Clock
from cw.hub.operation.health import heartbeats
from cw.hub.operation.health.heartbeats import GONE, LIVE
from cw.hub.store.tables import MailCount, Ticket, Worker

MAILS_COUNT: Final = timedelta(days=1)
"""How long it is remembered that an address was sent a mail."""


def see_worker(session: Session, clock: Clock, name: str, version: str, slots: int) -> None:
    """Note that a worker lives. Twice: seen later."""
    now = clock()
    worker = session.get(Worker, name)
    if worker is None:
        worker = Worker(id=name, version=version, slots=slots, state="playing", started_at=now)
        session.add(worker)
    worker.seen_at = now


def live_workers(session: Session, clock: Clock) -> int:
    """Return how many workers live."""
    live = select(func.count()).where(Worker.seen_at > clock() - LIVE)
    return session.scalars(live).one()


def live_slots(session: Session, clock: Clock) -> int:
    """Return how many matches the workers that live can play at the same time."""
    slots = select(func.coalesce(func.sum(Worker.slots), 0))
    return int(session.scalars(slots.where(Worker.seen_at > clock() - LIVE)).one())


def forget_worker(session: Session, name: str) -> None:
    """Note that a worker has ended in an orderly way. Twice: the same."""
    session.execute(delete(Worker).where(Worker.id == name))


def sweep(session: Session, clock: Clock) -> None:
    """Forget tickets that have expired, mails of a day ago, workers and processes that are gone.

    Twice: the same.
    """
    now = clock()
    session.execute(delete(Ticket).where(Ticket.expires_at <= now))
    session.execute(delete(MailCount).where(MailCount.last_at <= now - MAILS_COUNT))
    session.execute(delete(Worker).where(Worker.seen_at <= now - GONE))
    heartbeats.sweep(session, clock)
