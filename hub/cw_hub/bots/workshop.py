"""The workshop: drafts of bots and their tasks, as rows.

A draft is the files that a user edits for a game. Every save passes the digest of the content it
was based on, so that edits made in another window are never silently overwritten.

Tasks of a draft are created by pages, claimed by workers, and ended by either. A user has at most
one task of each kind per game and occupies one slot at a time; their other tasks wait. Users are
served in the order of their requests.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, delete, func, or_, select, update

from cw import kits
from cw.errors import UsageError, short
from cw.games.rules import Json
from cw.workshop.project import (
    LARGEST_FILE,
    MAIN,
    MOST_FILES,
    NAME,
    USUAL,
    ChangedMeanwhile,
    TextFile,
    digest_of,
)
from cw_hub.bots import shares
from cw_hub.context import Clock
from cw_hub.operation.resources import Resources
from cw_hub.players.messages import Kind, News
from cw_hub.store.database import Session, insert_missing
from cw_hub.store.models import (
    Bot,
    BotVersion,
    DraftFile,
    ProgramCheck,
    TaskState,
    User,
    WorkshopPiece,
    WorkshopTask,
)

LARGEST: Final = 2 * 1024 * 1024
"""Maximum size in bytes of all files of a draft together."""

ALSO_HERE: Final = "another window has changed this file meanwhile"


@dataclass(frozen=True, slots=True)
class Draft:
    """The identity of a draft: a user has one per game."""

    user: int
    game: str


def files(session: Session, draft: Draft) -> list[TextFile]:
    """Return a draft's files, sorted by name; before the first edit, those of a kit."""
    return stored(session, draft) or from_kit(draft.game)


def stored(session: Session, draft: Draft) -> list[TextFile]:
    """Return a draft's stored files, sorted by name; none before the first edit."""
    mine = select(DraftFile.name, DraftFile.text, DraftFile.digest).where(
        DraftFile.user_id == draft.user, DraftFile.game == draft.game
    )
    rows = [TextFile(*row) for row in session.execute(mine)]
    # Sorted here, because databases differ in their sort order.
    return sorted(rows, key=lambda file: file.name)


def from_kit(game: str, language: str = "") -> list[TextFile]:
    """Return the editable files of a game's kit, sorted by name; "" means the first language."""
    kit = kits.files(game, language or next(iter(kits.languages_of(game))))
    return [text_file(name, kit[name].read_text()) for name in sorted(kit) if NAME.fullmatch(name)]


def text_file(name: str, text: str) -> TextFile:
    """Return a file of a draft; raise UsageError if it is invalid."""
    data = text.encode()
    if not NAME.fullmatch(name):
        raise UsageError(f"{short(name)} is not a valid name of a file in a draft")
    if "\0" in text:
        raise UsageError(f"{name} contains a NUL character, which text cannot have: delete it")
    if len(data) > LARGEST_FILE:
        raise UsageError(f"a file may have at most {LARGEST_FILE} bytes, not {len(data)}")
    return TextFile(name, text, sha256(data).hexdigest())


def save_file(session: Session, draft: Draft, file: TextFile, base: str) -> TextFile:
    """Save a file if its stored content has the digest `base` ("" for a new file); return it.

    Raises ChangedMeanwhile if the content differs, and UsageError if the draft becomes too large.
    """
    session.scalars(select(User.id).where(User.id == draft.user).with_for_update()).one()
    there = {each.name: each for each in files(session, draft)}
    now = there.get(file.name)
    if (now.digest if now else "") != base:
        raise ChangedMeanwhile(now, ALSO_HERE)
    there[file.name] = file
    refuse_large(list(there.values()))
    insert_missing(
        session, DraftFile, [row_of(draft, each, session.clock) for each in there.values()]
    )
    row = session.get_one(DraftFile, (draft.user, draft.game, file.name))
    row.text, row.digest = file.text, file.digest
    row.size, row.changed_at = len(file.text.encode()), session.now()
    return file


def language_of(draft: list[TextFile]) -> str:
    """Return the language of a draft, or the default one if unknown."""
    names = {each.name for each in draft}
    return next((language for language, main in MAIN.items() if main in names), USUAL)


def is_untouched(game: str, draft: list[TextFile]) -> bool:
    """Return whether a draft consists of the unchanged files of a kit."""
    return any(draft == from_kit(game, language) for language in kits.languages_of(game))


def begin_again(session: Session, draft: Draft, language: str, base: str) -> None:
    """Replace a draft whose digest is `base` with the kit of a language.

    An unedited draft is replaced whatever its digest. Raises ChangedMeanwhile, without changing
    anything, if another window has edited it, and UsageError for an unknown language.
    """
    kit = from_kit(draft.game, language)
    session.scalars(select(User.id).where(User.id == draft.user).with_for_update()).one()
    there = files(session, draft)
    if not is_untouched(draft.game, there) and digest_of(there) != base:
        raise ChangedMeanwhile(None, "another window has changed your draft meanwhile")
    mine = (DraftFile.user_id == draft.user, DraftFile.game == draft.game)
    session.execute(delete(DraftFile).where(*mine))
    insert_missing(session, DraftFile, [row_of(draft, each, session.clock) for each in kit])


def fill(session: Session, draft: Draft, sent: Mapping[str, bytes]) -> bool:
    """Fill an empty draft with files; return False, and change nothing, if it has been edited.

    Raises UsageError if a file cannot be edited here: versions saved from the draft would lack it.
    """
    there = [text_file(name, decoded(name, data)) for name, data in sent.items()]
    refuse_large(there)
    session.scalars(select(User.id).where(User.id == draft.user).with_for_update()).one()
    if stored(session, draft):
        return False
    insert_missing(session, DraftFile, [row_of(draft, each, session.clock) for each in there])
    return True


def decoded(name: str, data: bytes) -> str:
    """Return the text of a file; raise UsageError if it is not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise UsageError(
            f"{short(name)} is not UTF-8 text: the workshop edits nothing else"
        ) from None


def refuse_large(there: list[TextFile]) -> None:
    """Raise UsageError if a draft has too many files or is too large."""
    if len(there) > MOST_FILES:
        raise UsageError(f"a draft may have at most {MOST_FILES} files")
    size = sum(len(each.text.encode()) for each in there)
    if size > LARGEST:
        raise UsageError(f"a draft may have at most {LARGEST} bytes, not {size}")


def row_of(draft: Draft, file: TextFile, clock: Clock) -> dict[str, object]:
    """Return the database row of a draft's file."""
    return {
        "user_id": draft.user,
        "game": draft.game,
        "name": file.name,
        "text": file.text,
        "digest": file.digest,
        "size": len(file.text.encode()),
        "changed_at": clock(),
    }


MOST_VERSIONS: Final = 20
"""Maximum number of own versions offered as opponents."""


@dataclass(frozen=True, slots=True)
class OwnVersion:
    """One of the user's own versions that a draft can play against."""

    bot: str
    number: int
    bot_id: str
    sha256: str

    @property
    def key(self) -> str:
        """The value that pages send; no strategy has such a name."""
        return f"{self.bot}/{self.number}"

    @property
    def name(self) -> str:
        """The version's name in a match."""
        return f"{self.bot}-{self.number}"


def own_versions(session: Session, draft: Draft) -> list[OwnVersion]:
    """Return the versions that a user's draft can play against, latest first."""
    columns = (Bot.name, BotVersion.number, Bot.bot_id, BotVersion.sha256)
    mine = (Bot.user_id == draft.user, Bot.game == draft.game, BotVersion.state == "ready")
    rows = select(*columns).join(BotVersion, BotVersion.bot_id == Bot.id).where(*mine)
    latest = rows.order_by(BotVersion.created_at.desc(), BotVersion.id.desc())
    return [OwnVersion(*row) for row in session.execute(latest.limit(MOST_VERSIONS))]


# Tasks


DO: Final = "workshop_task"
"""The name of the job that carries out the next task of any kind."""

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
    kind: Kind
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
    kind: Kind
    request: dict[str, Any]
    source: bytes
    worker: str
    report: Json
    """The last report of a task that gave way; None if it has not started before."""


def begin_task(session: Session, new: New) -> int:
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


def is_of(draft: Draft, kind: Kind) -> ColumnElement[bool]:
    """Return the condition for a draft's task of a kind."""
    table = WorkshopTask
    return and_(table.user_id == draft.user, table.game == draft.game, table.kind == kind)


def find_task(session: Session, draft: Draft, kind: Kind) -> Task | None:
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


def own_running(session: Session, user: int) -> Kind | None:
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


def stop_task(session: Session, draft: Draft, kind: Kind, cause: str) -> None:
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
