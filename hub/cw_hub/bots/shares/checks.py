"""Checks of programs as rows: running, or waiting for their share of the places."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Final

from sqlalchemy import delete, or_, select, update
from sqlalchemy.orm import Session

from cw_hub.bots.shares import places
from cw_hub.clock import Clock
from cw_hub.store.tables import Bot, Heartbeat, ProgramCheck
from cw_hub.store.upsert import insert_missing

SENT_AGAIN: Final = timedelta(seconds=60)
"""How long after its message a check that no worker has taken is sent again."""


def begin(
    session: Session, clock: Clock, bot: int, worker: str, experiments: Collection[str]
) -> bool:
    """Take the check of a program; return False if it runs elsewhere, or must wait for its share.

    Concurrent callers: at most one succeeds.
    """
    owner = session.scalars(select(Bot.user_id).where(Bot.id == bot)).one()
    insert_missing(session, ProgramCheck, [{"bot_id": bot}])
    check = session.scalars(
        select(ProgramCheck).where(ProgramCheck.bot_id == bot).with_for_update()
    ).one()
    if check.worker in {each.process for each in places.workers_of(session, clock)}:
        # Requested again while running: its end sends it again.
        check.sent_at = clock()
        return False
    check.worker = check.sent_at = None
    if places.claim(session, clock, places.test_of(owner), experiments) is not None:
        return False
    check.worker = worker
    return True


def wait(session: Session, clock: Clock, bot: int) -> None:
    """Leave the check of a program to the next tick, or to the end of a running one. Idempotent."""
    insert_missing(session, ProgramCheck, [{"bot_id": bot}])
    runs = (ProgramCheck.bot_id == bot, ProgramCheck.worker.is_not(None))
    session.execute(update(ProgramCheck).where(*runs).values(sent_at=clock()))


def end(session: Session, bot: int) -> None:
    """End the check of a program; one requested meanwhile waits. Idempotent."""
    session.execute(
        delete(ProgramCheck).where(ProgramCheck.bot_id == bot, ProgramCheck.sent_at.is_(None))
    )
    its = update(ProgramCheck).where(ProgramCheck.bot_id == bot)
    session.execute(its.values(worker=None, sent_at=None))


def forget(session: Session, bot: int) -> None:
    """Delete the check of a bot that has no program to check. Idempotent."""
    session.execute(delete(ProgramCheck).where(ProgramCheck.bot_id == bot))


def any_waits(session: Session) -> bool:
    """Return whether a check is waiting, or its worker may be gone."""
    return session.scalar(select(ProgramCheck.bot_id).limit(1)) is not None


def leave(session: Session, worker: str | None = None) -> None:
    """Stop counting the places of a stopping worker, and let its checks run elsewhere.

    Without a name, those of all workers, none of which can be running.
    """
    stopped = ProgramCheck.worker.is_not(None) if worker is None else ProgramCheck.worker == worker
    session.execute(update(ProgramCheck).where(stopped).values(worker=None, sent_at=None))
    gone = Heartbeat.role == "worker" if worker is None else Heartbeat.process == worker
    session.execute(update(Heartbeat).where(gone).values(figures={}))


def take_due(session: Session, clock: Clock) -> list[int]:
    """Return the ids of the bots whose checks are due, and mark these as sent.

    Concurrent callers: each check is returned to one of them.
    """
    live = [worker.process for worker in places.workers_of(session, clock)]
    now = clock()
    due = (
        or_(ProgramCheck.worker.is_(None), ProgramCheck.worker.not_in(live)),
        or_(ProgramCheck.sent_at.is_(None), ProgramCheck.sent_at <= now - SENT_AGAIN),
    )
    change = update(ProgramCheck).where(*due).values(sent_at=now, worker=None)
    return sorted(session.scalars(change.returning(ProgramCheck.bot_id)))
