"""What keeps the hub in order: which workers live, and what may be forgotten."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from sqlalchemy import delete
from sqlalchemy.orm import Session

from cw.hub.clock import Clock
from cw.hub.store.tables import Ticket, Worker

LIVE: Final = timedelta(seconds=60)
"""How long ago a worker that lives was seen at most."""

GONE: Final = timedelta(days=1)
"""How long a worker that is not seen any more is remembered."""


def see_worker(session: Session, clock: Clock, name: str, version: str, slots: int) -> None:
    """Note that a worker lives. Twice: seen later."""
    now = clock()
    worker = session.get(Worker, name)
    if worker is None:
        worker = Worker(id=name, version=version, slots=slots, state="playing", started_at=now)
        session.add(worker)
    worker.seen_at = now


def forget_worker(session: Session, name: str) -> None:
    """Note that a worker has ended in an orderly way. Twice: the same."""
    session.execute(delete(Worker).where(Worker.id == name))


def sweep(session: Session, clock: Clock) -> None:
    """Forget tickets that have expired and workers that are gone. Twice: the same."""
    now = clock()
    session.execute(delete(Ticket).where(Ticket.expires_at <= now))
    session.execute(delete(Worker).where(Worker.seen_at <= now - GONE))
