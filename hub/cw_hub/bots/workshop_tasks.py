"""Workshop tasks, stored as rows: created by pages, claimed by workers, ended by either.

A user has at most one task of each kind per game and occupies one slot at a time; their other tasks
wait. Users are served in the order of their requests.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from threading import Lock
from typing import Any, Final, NamedTuple, TypeAlias

from cachetools import LRUCache
from sqlalchemy import ColumnElement, and_, delete, func, or_, select, update

from cw.errors import ArenaError, UsageError
from cw.games.rules import Json
from cw_hub.bots import programs, shares
from cw_hub.bots.addresses import PROGRAM, ClaimedSeat, isolation_of
from cw_hub.bots.drafts import Draft
from cw_hub.operation.queue import WORKSHOP
from cw_hub.operation.resources import Resources
from cw_hub.players.messages import DRAFT, MATCH, Built, Done, FromPlayer, Piece, Program
from cw_hub.players.messages import Draft as MessagesDraft
from cw_hub.players.messages import News as MessagesNews
from cw_hub.store.database import Session
from cw_hub.store.models import ProgramCheck, TaskKind, TaskState, User, WorkshopPiece, WorkshopTask
from cw_hub.store.objects import file_at

Kind: TypeAlias = TaskKind

OPEN: Final = ("queued", "running")

LOST_AFTER: Final = timedelta(seconds=20)
"""How long after its last report the worker of a task counts as gone."""

RETENTION: Final = timedelta(days=7)
"""How long a finished task is stored, with everything that it reported."""

PATIENCE: Final = timedelta(seconds=2)
"""How long other work waits before a series gives way to it."""

IS_SERIES: Final = WorkshopTask.kind == "series"

LOOKED_AT: Final = 20
"""Maximum number of users considered for the next task; skipped ones have used up their share."""

SENT_AGAIN: Final = timedelta(seconds=60)
"""How long after its message an unclaimed task is sent again."""

GONE: Final = "the machine that ran it is gone"
LEFT: Final = "the machine that ran it was stopped"


@dataclass(frozen=True, slots=True)
class New:
    """A task to be queued."""

    draft: Draft
    kind: TaskKind
    request: Json
    digest: str
    """The digest of the files."""
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
        """Whether it is waiting or running."""
        return self.state in OPEN


@dataclass(frozen=True, slots=True)
class Claim:
    """A task claimed by a worker."""

    id: int
    draft: Draft
    kind: TaskKind
    request: dict[str, Any]
    source: bytes
    worker: str
    report: Json
    """The last report of a task that gave way; None if it has not started before."""


class News(NamedTuple):
    """A worker's report on a task."""

    report: Json
    """Replaces the previous report."""
    pieces: Sequence[Piece] = ()
    """New pieces since the last report."""


def begin(session: Session, new: New) -> int:
    """Queue a task, replacing the previous one of its kind; return its id.

    The previous task's worker finds it deleted and stops. Of concurrent callers, the later one's
    task remains.
    """
    draft = new.draft
    session.scalars(select(User.id).where(User.id == draft.user).with_for_update()).one()
    session.execute(delete(WorkshopTask).where(is_of(draft, new.kind)))
    now = session.now()
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
    """Return the condition for a draft's task of a kind."""
    table = WorkshopTask
    return and_(table.user_id == draft.user, table.game == draft.game, table.kind == kind)


def find(session: Session, draft: Draft, kind: TaskKind) -> Task | None:
    """Return a draft's task of a kind, or None."""
    table = WorkshopTask
    columns = (table.id, table.user_id, table.state, table.request, table.report, table.cause)
    row = session.execute(select(*columns).where(is_of(draft, kind))).one_or_none()
    return None if row is None else Task(*row)


def ahead_of(session: Session, kind: Kind, task: Task) -> int:
    """Return how many tasks are served before a waiting one; series are served last."""
    earlier = WorkshopTask.id < task.id
    before = or_(~IS_SERIES, earlier) if kind == "series" else and_(~IS_SERIES, earlier)
    waiting = select(func.count()).where(WorkshopTask.state == "queued", before)
    return session.scalars(waiting).one()


def own_running(session: Session, user: int) -> TaskKind | None:
    """Return the kind of a user's running task, or None."""
    running = select(WorkshopTask.kind).where(
        WorkshopTask.user_id == user, WorkshopTask.state == "running"
    )
    return session.scalar(running)


def claim_task(session: Session, worker: str, experiments: Collection[str] = ()) -> Claim | None:
    """Claim the next task; return None if none can start now.

    Concurrent callers get different tasks. A task that exceeds its share of the slots waits.
    """
    table = WorkshopTask
    shares.lock(session)
    busy = set(session.scalars(select(table.user_id).where(table.state == "running")))
    for _ in range(LOOKED_AT):
        free = select(table).where(table.state == "queued", table.user_id.not_in(busy))
        first = free.order_by(IS_SERIES, table.id).limit(1).with_for_update()
        row = session.scalar(first)
        if row is None or row.source is None:
            return None
        refused = shares.claim(session, shares.test_of(row.user_id), experiments)
        if refused is None:
            row.state, row.worker, row.beat_at = "running", worker, session.now()
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


def beat(session: Session, claim: Claim, news: News) -> bool:
    """Record a report on a task; return False, recording nothing, if the task must stop."""
    return tell(session, claim, news, beat_at=session.now())


def is_task_claimed(session: Session, claim: Claim) -> bool:
    """Return whether a worker's claim on a task is still valid."""
    its = select(WorkshopTask.id).where(WorkshopTask.id == claim.id, is_running(claim.worker))
    return session.scalar(its) is not None


def keeps_others_waiting(session: Session, experiments: Collection[str] = ()) -> bool:
    """Return whether a series must give way: to another test, or to a match if slots are scarce.

    A test that has only just started to wait may still find another slot.
    """
    late = WorkshopTask.created_at <= session.now() - PATIENCE
    tasks = select(WorkshopTask.id).where(WorkshopTask.state == "queued", ~IS_SERIES, late)
    checks = select(ProgramCheck.bot_id).where(ProgramCheck.worker.is_(None))
    others = (session.scalar(waiting.limit(1)) is not None for waiting in (tasks, checks))
    return any(others) or shares.keeps_matches_waiting(session, experiments)


def give_way(session: Session, claim: Claim) -> None:
    """Requeue a series; it resumes later where it stopped."""
    its = and_(WorkshopTask.id == claim.id, is_running(claim.worker))
    session.execute(update(WorkshopTask).where(its).values(state="queued", sent_at=session.now()))


def finish(session: Session, claim: Claim, news: News, cause: str = "") -> bool:
    """End a finished or failed task, with the cause of a failure; return False as `beat` does."""
    ending = {"state": "done", "cause": cause[:200], "source": None, "ended_at": session.now()}
    return tell(session, claim, news, **ending)


def tell(session: Session, claim: Claim, news: News, **values: Any) -> bool:
    """Update the row of a task if the claim is still valid, and add pieces."""
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
    """Return the condition for the running tasks of a worker."""
    return and_(WorkshopTask.state == "running", WorkshopTask.worker == worker)


def stop(session: Session, draft: Draft, kind: TaskKind, cause: str) -> None:
    """End a waiting or running task; its worker stops as soon as it notices."""
    end(session, and_(is_of(draft, kind), WorkshopTask.state.in_(OPEN)), "stopped", cause)


def lose_all_of(session: Session, worker: str) -> None:
    """Release the tasks of a stopping worker."""
    end(session, is_running(worker), "lost", LEFT)


def lose_all(session: Session) -> None:
    """Release all running tasks: no other process can be running them."""
    end(session, WorkshopTask.state == "running", "lost", LEFT)


def sweep(session: Session) -> None:
    """Release the tasks of workers that no longer report. Idempotent."""
    silent = WorkshopTask.beat_at < session.now() - LOST_AFTER
    end(session, and_(WorkshopTask.state == "running", silent), "lost", GONE)


def end(session: Session, which: ColumnElement[bool], state: TaskState, cause: str) -> None:
    """End unfinished tasks."""
    ending = {"state": state, "cause": cause, "source": None, "ended_at": session.now()}
    session.execute(update(WorkshopTask).where(which).values(**ending))


def forget_old(resources: Resources) -> int:
    """Delete tasks that ended long ago; return how many. Idempotent."""
    old = WorkshopTask.ended_at < resources.clock() - RETENTION
    with resources.database.writing() as session:
        count: int = session.execute(delete(WorkshopTask).where(old)).rowcount  # type: ignore[attr-defined]
    return count


def take_due(session: Session, silence: timedelta = SENT_AGAIN) -> int:
    """Return how many waiting tasks may have lost their messages, and mark these as sent again.

    With concurrent callers, each task is counted once.
    """
    now = session.now()
    late = or_(WorkshopTask.sent_at.is_(None), WorkshopTask.sent_at <= now - silence)
    due = update(WorkshopTask).where(WorkshopTask.state == "queued", late).values(sent_at=now)
    count: int = session.execute(due).rowcount  # type: ignore[attr-defined]
    return count


def forget_messages(session: Session) -> None:
    """Mark all waiting tasks as unsent, because their messages may be lost."""
    waiting = update(WorkshopTask).where(WorkshopTask.state == "queued")
    session.execute(waiting.values(sent_at=None))


def any_waits(session: Session) -> bool:
    """Return whether a task waits for a worker."""
    waiting = select(WorkshopTask.id).where(WorkshopTask.state == "queued")
    return session.scalar(waiting.limit(1)) is not None


def take_refused(session: Session) -> None:
    """Mark refused tasks as waiting for a slot again. Idempotent."""
    refused = (WorkshopTask.state == "queued", WorkshopTask.sent_at.is_(None))
    session.execute(update(WorkshopTask).where(*refused).values(sent_at=session.now()))


def pieces_of(session: Session, task: int, kind: str) -> list[bytes]:
    """Return all pieces of a kind that a task has reported, in order."""
    its = select(WorkshopPiece.data).where(
        WorkshopPiece.task_id == task, WorkshopPiece.kind == kind
    )
    return list(session.scalars(its.order_by(WorkshopPiece.first)))


def count_pieces(session: Session, task: int, kind: str) -> int:
    """Return how many pieces of a kind a task has reported."""
    its = select(func.count()).where(WorkshopPiece.task_id == task, WorkshopPiece.kind == kind)
    return session.scalars(its).one()


def piece_with(session: Session, task: int, kind: str, number: int) -> bytes | None:
    """Return the piece that covers a number, or None."""
    its = select(WorkshopPiece.data).where(
        WorkshopPiece.task_id == task,
        WorkshopPiece.kind == kind,
        WorkshopPiece.first <= number,
        WorkshopPiece.last >= number,
    )
    return session.scalar(its)


MOST_BYTES: Final = 64 * 1024 * 1024
"""Maximum bytes of cached programs: a hundred typical ones, or two of the largest."""


class Programs:
    """A cache of compiled programs by language and sources."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        """Set the maximum number of bytes."""
        self._lock = Lock()
        self._programs = LRUCache[tuple[str, str], bytes](most, getsizeof=len)

    def find(self, language: str, digest: str) -> bytes | None:
        """Return the program compiled from sources with a digest, or None if it is not cached."""
        with self._lock:
            return self._programs.get((language, digest))

    def keep(self, language: str, digest: str, program: bytes) -> None:
        """Cache a program, evicting the least recently used ones if necessary."""
        with self._lock:
            if len(program) <= self._programs.maxsize:
                self._programs[language, digest] = program


PROGRAMS: Final = Programs()


DO: Final = "workshop_task"
"""The name of the job that carries out the next task of any kind."""

LONGEST: Final[Mapping[TaskKind, float]] = {"run": 300, "ask": 120, "series": 1800, "check": 300}
"""Maximum duration of a task in seconds, including its compiler."""

OUR_FAULT: Final = "an error of the site"

logger = logging.getLogger(__name__)


def do_next(resources: Resources, *, worker: str, experiments: Collection[str] = ()) -> bool:
    """Carry out the next task; return whether one could start."""
    with resources.database.writing() as session:
        claim = claim_task(session, worker, experiments)
    if claim is None:
        return False
    do(resources, claim, experiments)
    return True


def send_next(resources: Resources) -> None:
    """Have a worker look for a task again, as one that was refused may now be able to start."""
    with resources.database.reading() as session:
        if not any_waits(session):
            return
    with resources.database.writing() as session:
        take_refused(session)
    resources.queue.send(DO, queue=WORKSHOP)


def send_lost(resources: Resources) -> None:
    """Resend unclaimed tasks whose messages may be lost; concurrent calls send each once."""
    with resources.database.writing() as session:
        count = take_due(session)
    for _ in range(count):
        resources.queue.send(DO, queue=WORKSHOP)


def do(resources: Resources, claim: Claim, experiments: Collection[str]) -> None:
    """Carry out a task until it ends or must stop; none of its processes outlives the call."""
    try:
        with resources.players.play(draft_of(resources, claim), sent(resources, claim)) as play:
            follow(resources, claim, play, experiments)
    except ArenaError as error:
        give_up(resources, claim, str(error))
    except Exception:
        logger.exception("the %s %s of the workshop", claim.kind, claim.id)
        give_up(resources, claim, OUR_FAULT)


def give_up(resources: Resources, claim: Claim, cause: str) -> None:
    """End a task that cannot be carried out."""
    with resources.database.writing() as session:
        finish(session, claim, news_of(None), cause)


def follow(
    resources: Resources,
    claim: Claim,
    play: Iterable[FromPlayer],
    experiments: Collection[str],
) -> None:
    """Record a player's reports on a task, until it ends or must stop."""
    for message in play:
        if isinstance(message, Built):
            PROGRAMS.keep(claim.request["language"], digest_of(claim), message.data)
        elif isinstance(message, Done):
            with resources.database.writing() as session:
                finish(session, claim, news_of(message.news), message.cause)
        elif not goes_on(resources, claim, message, experiments):
            return


def goes_on(
    resources: Resources, claim: Claim, message: FromPlayer, experiments: Collection[str]
) -> bool:
    """Record a report on a task; return whether the task continues."""
    if isinstance(message, MessagesNews):
        with resources.database.writing() as session:
            is_claimed = beat(session, claim, news_of(message))
    else:
        with resources.database.reading() as session:
            is_claimed = is_task_claimed(session, claim)
    is_series = claim.kind == "series"
    return is_claimed and not (is_series and has_given_way(resources, claim, experiments))


def news_of(news: MessagesNews | None) -> News:
    """Return a player's report in the form in which it is stored."""
    return News(None) if news is None else News(news.report, news.pieces)


def has_given_way(resources: Resources, claim: Claim, experiments: Collection[str]) -> bool:
    """Requeue a series if it keeps other work waiting; return whether it was requeued."""
    with resources.database.reading() as session:
        if not keeps_others_waiting(session, experiments):
            return False
    with resources.database.writing() as session:
        give_way(session, claim)
    return True


def digest_of(claim: Claim) -> str:
    """Return the SHA-256 of a draft's zipped files."""
    return sha256(claim.source).hexdigest()


def draft_of(resources: Resources, claim: Claim) -> MessagesDraft:
    """Return a task in the form sent to a player.

    Raises UsageError if programs are not run here, or if something it needs was deleted in the
    meantime.
    """
    if problem := programs.why_none(resources.settings):
        raise UsageError(problem)
    request = claim.request
    replay: bytes | None = None
    asked: tuple[bytes, ...] = ()
    player = ""
    if claim.kind == "run" and (key := request.get("replay")) is not None:
        replay = file_at(resources.objects, key)
        if replay is None:
            raise UsageError("this replay was deleted: choose another one")
    if claim.kind == "ask":
        asked, player = run_of(resources, claim)
    return MessagesDraft(
        claim.kind,
        claim.draft.game,
        isolation_of(resources.settings, "require"),
        request,
        LONGEST[claim.kind],
        PROGRAMS.find(request["language"], digest_of(claim)),
        replay,
        asked,
        player,
        claim.report,
    )


def run_of(resources: Resources, claim: Claim) -> tuple[tuple[bytes, ...], str]:
    """Return the pieces of the run that a bot is asked about, and the bot's player in it.

    Raises UsageError if another run has replaced it.
    """
    with resources.database.reading() as session:
        run = find(session, claim.draft, "run")
        pieces = pieces_of(session, run.id, MATCH) if run else []
    if run is None or not pieces or run.id != claim.request["run"]:
        raise UsageError("the run that was shown was deleted: run the bot again")
    return tuple(pieces), str(run.report["player"])


def sent(resources: Resources, claim: Claim) -> Iterator[Program]:
    """Yield a draft as it was queued, and the program version that it plays against, if any."""
    yield Program(DRAFT, claim.source)
    version = claim.request.get("version")
    if version is not None:
        hosting = programs.hosting_of_people(resources.settings)
        if hosting == "off":
            raise UsageError(programs.NO_PROGRAMS)
        spec = f"{PROGRAM}{version['sha256']}"
        seat = ClaimedSeat(claim.request["opponent"], spec, version["bot_id"])
        yield from programs.sent(resources.objects, [seat], hosting)
