"""Tasks of the workshop as rows: begun by pages, claimed by workers, ended by either.

A person has one task of each kind for a game, and holds one place at a time: what else that person
has asked for waits. Others are served in the order in which they asked.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, NamedTuple, TypeAlias

from sqlalchemy import ColumnElement, and_, delete, func, or_, select, update
from sqlalchemy.orm import Session

from cw.games.rules import Json
from cw.hub.bots.shares import places
from cw.hub.bots.workshop.drafts import Draft
from cw.hub.clock import Clock
from cw.hub.operation.resources import Resources
from cw.hub.players.messages import Piece
from cw.hub.store.tables import (
    ProgramCheck,
    TaskKind,
    TaskState,
    User,
    WorkshopPiece,
    WorkshopTask,
)

Kind: TypeAlias = TaskKind

OPEN: Final = ("queued", "running")

LOST_AFTER: Final = timedelta(seconds=20)
"""How long after its last word the worker of a task counts as gone."""

RETENTION: Final = timedelta(days=7)
"""How long a task that is over stays, with all that it has told."""

PATIENCE: Final = timedelta(seconds=2)
"""How long anything else waits before a series gives way to it."""

IS_SERIES: Final = WorkshopTask.kind == "series"

LOOKED_AT: Final = 20
"""People among whom the next one is looked for: those before have used up their share."""

SENT_AGAIN: Final = timedelta(seconds=60)
"""How long after its message a task that nobody has claimed is sent again."""

GONE: Final = "the machine that ran it is gone"
LEFT: Final = "the machine that ran it was stopped"


@dataclass(frozen=True, slots=True)
class New:
    """A task that is asked for."""

    draft: Draft
    kind: TaskKind
    request: Json
    digest: str
    """Of the files."""
    source: bytes
    """The files as a zip."""


@dataclass(frozen=True, slots=True)
class Task:
    """A task as pages know it."""

    id: int
    user_id: int
    state: TaskState
    request: Json
    report: Json
    cause: str

    @property
    def is_open(self) -> bool:
        """Whether it waits, or goes on."""
        return self.state in OPEN


@dataclass(frozen=True, slots=True)
class Claim:
    """A task as its worker has it."""

    id: int
    draft: Draft
    kind: TaskKind
    request: dict[str, Any]
    source: bytes
    worker: str
    report: Json
    """What was told of it before it gave way; None for one that begins."""


class News(NamedTuple):
    """What a worker tells of a task."""

    report: Json
    """Takes the place of what was told before."""
    pieces: Sequence[Piece] = ()
    """What is new beside that."""


def begin(session: Session, clock: Clock, new: New) -> int:
    """Queue a task in the place of the one before of its kind; return its id.

    The worker of that one finds it gone, and ends what it runs. By two at once: the later stays.
    """
    draft = new.draft
    session.scalars(select(User.id).where(User.id == draft.user).with_for_update()).one()
    session.execute(delete(WorkshopTask).where(is_of(draft, new.kind)))
    now = clock()
    row = WorkshopTask(
        user_id=draft.user,
        game=draft.game,
        kind=new.kind,
        request=new.request,
        digest=new.digest,
        source=new.source,
        created_at=now,
        sent_at=now,
    )
    session.add(row)
    session.flush()
    return row.id


def is_of(draft: Draft, kind: TaskKind) -> ColumnElement[bool]:
    """Return the condition for the task of a kind with a draft."""
    table = WorkshopTask
    return and_(table.user_id == draft.user, table.game == draft.game, table.kind == kind)


def find(session: Session, draft: Draft, kind: TaskKind) -> Task | None:
    """Return the task of a kind with a draft, None if there is none."""
    table = WorkshopTask
    columns = (table.id, table.user_id, table.state, table.request, table.report, table.cause)
    row = session.execute(select(*columns).where(is_of(draft, kind))).one_or_none()
    return None if row is None else Task(*row)


def ahead_of(session: Session, kind: Kind, task: Task) -> int:
    """Return how many tasks are served before one that waits: series are last."""
    earlier = WorkshopTask.id < task.id
    before = or_(~IS_SERIES, earlier) if kind == "series" else and_(~IS_SERIES, earlier)
    waiting = select(func.count()).where(WorkshopTask.state == "queued", before)
    return session.scalars(waiting).one()


def own_running(session: Session, user: int) -> TaskKind | None:
    """Return what of a person goes on now, None if nothing does."""
    running = select(WorkshopTask.kind).where(
        WorkshopTask.user_id == user, WorkshopTask.state == "running"
    )
    return session.scalar(running)


def claim(
    session: Session, clock: Clock, worker: str, experiments: Collection[str] = ()
) -> Claim | None:
    """Take the task that is next; None if none can be begun now.

    Concurrent callers: each gets another one. A task that exceeds its share of the places waits.
    """
    table = WorkshopTask
    places.lock(session)
    busy = set(session.scalars(select(table.user_id).where(table.state == "running")))
    for _ in range(LOOKED_AT):
        free = select(table).where(table.state == "queued", table.user_id.not_in(busy))
        first = free.order_by(IS_SERIES, table.id).limit(1).with_for_update()
        row = session.scalar(first)
        if row is None or row.source is None:
            return None
        refused = places.claim(session, clock, places.test_of(row.user_id), experiments)
        if refused is None:
            row.state, row.worker, row.beat_at = "running", worker, clock()
            draft = Draft(row.user_id, row.game)
            return Claim(row.id, draft, row.kind, row.request, row.source, worker, row.report)
        waits = table.state == "queued"
        if refused == "account":
            busy.add(row.user_id)
            waits = and_(waits, table.user_id == row.user_id)
        session.execute(update(table).where(waits).values(sent_at=None))
        if refused != "account":
            return None
    return None


def beat(session: Session, clock: Clock, claim: Claim, news: News) -> bool:
    """Write what a task tells; False, and nothing is written, where it is to go on no more."""
    return tell(session, claim, news, beat_at=clock())


def is_claimed(session: Session, claim: Claim) -> bool:
    """Return whether a task is still its worker's, to go on."""
    its = select(WorkshopTask.id).where(WorkshopTask.id == claim.id, is_running(claim.worker))
    return session.scalar(its) is not None


def keeps_others_waiting(session: Session, clock: Clock, experiments: Collection[str] = ()) -> bool:
    """Return whether a series must give way: to another test, or to a match where places are few.

    A test that was begun just now may find another place.
    """
    late = WorkshopTask.created_at <= clock() - PATIENCE
    tasks = select(WorkshopTask.id).where(WorkshopTask.state == "queued", ~IS_SERIES, late)
    checks = select(ProgramCheck.bot_id).where(ProgramCheck.worker.is_(None))
    others = (session.scalar(waiting.limit(1)) is not None for waiting in (tasks, checks))
    return any(others) or places.keeps_matches_waiting(session, clock, experiments)


def give_way(session: Session, clock: Clock, claim: Claim) -> None:
    """Let a series wait; it goes on later where it was."""
    its = and_(WorkshopTask.id == claim.id, is_running(claim.worker))
    session.execute(update(WorkshopTask).where(its).values(state="queued", sent_at=clock()))


def finish(session: Session, clock: Clock, claim: Claim, news: News, cause: str = "") -> bool:
    """End a task that is done, with the cause where it could not be; False as `beat` is."""
    ending = {"state": "done", "cause": cause[:200], "source": None, "ended_at": clock()}
    return tell(session, claim, news, **ending)


def tell(session: Session, claim: Claim, news: News, **values: Any) -> bool:
    """Change the row of a task that is still its worker's, and add pieces."""
    its = and_(WorkshopTask.id == claim.id, is_running(claim.worker))
    changed = session.execute(update(WorkshopTask).where(its).values(report=news.report, **values))
    if changed.rowcount == 0:  # type: ignore[attr-defined]
        return False
    session.add_all(
        WorkshopPiece(
            task_id=claim.id, kind=one.kind, first=one.first, last=one.last, data=one.data
        )
        for one in news.pieces
    )
    return True


def is_running(worker: str) -> ColumnElement[bool]:
    """Return the condition for the tasks that a worker does."""
    return and_(WorkshopTask.state == "running", WorkshopTask.worker == worker)


def stop(session: Session, clock: Clock, draft: Draft, kind: TaskKind, cause: str) -> None:
    """End a task that waits or goes on; its worker ends what it runs as soon as it sees that."""
    end(session, clock, and_(is_of(draft, kind), WorkshopTask.state.in_(OPEN)), "stopped", cause)


def lose_all_of(session: Session, clock: Clock, worker: str) -> None:
    """Give up what a worker does that is told to end."""
    end(session, clock, is_running(worker), "lost", LEFT)


def lose_all(session: Session, clock: Clock) -> None:
    """Give up all that goes on: no other process can be doing it."""
    end(session, clock, WorkshopTask.state == "running", "lost", LEFT)


def sweep(session: Session, clock: Clock) -> None:
    """Give up what is done by workers that are not heard of any more. Twice: the same."""
    silent = WorkshopTask.beat_at < clock() - LOST_AFTER
    end(session, clock, and_(WorkshopTask.state == "running", silent), "lost", GONE)


def end(
    session: Session, clock: Clock, which: ColumnElement[bool], state: TaskState, cause: str
) -> None:
    """End tasks before they are done."""
    ending = {"state": state, "cause": cause, "source": None, "ended_at": clock()}
    session.execute(update(WorkshopTask).where(which).values(**ending))


def forget_old(resources: Resources) -> int:
    """Delete the tasks that have been over for long; return how many those were. Twice: 0."""
    old = WorkshopTask.ended_at < resources.clock() - RETENTION
    with resources.database.writing() as session:
        count: int = session.execute(delete(WorkshopTask).where(old)).rowcount  # type: ignore[attr-defined]
    return count


def take_due(session: Session, clock: Clock, silence: timedelta = SENT_AGAIN) -> int:
    """Return how many tasks wait whose messages may be lost, and note that they are sent again.

    Twice, or by two at once: the second finds none.
    """
    now = clock()
    late = or_(WorkshopTask.sent_at.is_(None), WorkshopTask.sent_at <= now - silence)
    due = update(WorkshopTask).where(WorkshopTask.state == "queued", late).values(sent_at=now)
    count: int = session.execute(due).rowcount  # type: ignore[attr-defined]
    return count


def forget_messages(session: Session) -> None:
    """Let all that waits be sent again: nobody knows what became of the messages."""
    waiting = update(WorkshopTask).where(WorkshopTask.state == "queued")
    session.execute(waiting.values(sent_at=None))


def any_waits(session: Session) -> bool:
    """Return whether a task waits for a worker."""
    waiting = select(WorkshopTask.id).where(WorkshopTask.state == "queued")
    return session.scalar(waiting.limit(1)) is not None


def take_refused(session: Session, clock: Clock) -> None:
    """Note that the tasks that were refused wait for a place again. Idempotent."""
    refused = (WorkshopTask.state == "queued", WorkshopTask.sent_at.is_(None))
    session.execute(update(WorkshopTask).where(*refused).values(sent_at=clock()))


def pieces_of(session: Session, task: int, kind: str) -> list[bytes]:
    """Return all pieces of a kind that a task has told, in their order."""
    its = select(WorkshopPiece.data).where(
        WorkshopPiece.task_id == task, WorkshopPiece.kind == kind
    )
    return list(session.scalars(its.order_by(WorkshopPiece.first)))


def count_pieces(session: Session, task: int, kind: str) -> int:
    """Return how many pieces of a kind a task has told."""
    its = select(func.count()).where(WorkshopPiece.task_id == task, WorkshopPiece.kind == kind)
    return session.scalars(its).one()


def piece_with(session: Session, task: int, kind: str, number: int) -> bytes | None:
    """Return the piece that tells of a number, None if none does."""
    its = select(WorkshopPiece.data).where(
        WorkshopPiece.task_id == task,
        WorkshopPiece.kind == kind,
        WorkshopPiece.first <= number,
        WorkshopPiece.last >= number,
    )
    return session.scalar(its)
