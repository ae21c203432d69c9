"""Maintenance of the hub: which workers are live, and which rows can be deleted."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from cw_hub.clock import Clock
from cw_hub.operation.health import heartbeats
from cw_hub.operation.health.heartbeats import GONE, LIVE
from cw_hub.store.tables import MailCount, Ticket, Worker

MAILS_COUNT: Final = timedelta(days=1)
"""How long mails to an address are remembered."""


def see_worker(session: Session, clock: Clock, name: str, version: str, slots: int) -> None:
    """Record that a worker is live. Each call updates the time."""
    now = clock()
    worker = session.get(Worker, name)
    if worker is None:
        worker = Worker(id=name, version=version, slots=slots, state="playing", started_at=now)
        session.add(worker)
    worker.seen_at = now


def live_workers(session: Session, clock: Clock) -> int:
    """Return how many workers are live."""
    live = select(func.count()).where(Worker.seen_at > clock() - LIVE)
    return session.scalars(live).one()


def live_slots(session: Session, clock: Clock) -> int:
    """Return how many matches the live workers can play at the same time."""
    slots = select(func.coalesce(func.sum(Worker.slots), 0))
    return int(session.scalars(slots.where(Worker.seen_at > clock() - LIVE)).one())


def forget_worker(session: Session, name: str) -> None:
    """Record that a worker has shut down cleanly. Idempotent."""
    session.execute(delete(Worker).where(Worker.id == name))


def sweep(session: Session, clock: Clock) -> None:
    """Delete expired tickets, mail counts of a day ago, and workers and processes that are gone.

    Idempotent.
    """
    now = clock()
    session.execute(delete(Ticket).where(Ticket.expires_at <= now))
    session.execute(delete(MailCount).where(MailCount.last_at <= now - MAILS_COUNT))
    session.execute(delete(Worker).where(Worker.seen_at <= now - GONE))
    heartbeats.sweep(session, clock)
