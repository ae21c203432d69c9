"""The tables of the workshop: drafts, and worker tasks on them."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypeAlias

from sqlalchemy import JSON, ForeignKey, Index, String, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from cw_hub.store.tables.base import (
    BIG_KEY,
    Base,
    Json,
    Long,
    Str16,
    Str40,
    Str64,
    Str120,
    Str200,
    UserId,
    one_of,
)

TaskKind: TypeAlias = Literal["run", "ask", "series", "check"]

TaskState: TypeAlias = Literal["queued", "running", "done", "stopped", "lost"]


class DraftFile(Base):
    """A file of a person's draft for a game, as last typed."""

    __tablename__ = "draft_files"

    user_id: Mapped[UserId] = mapped_column(primary_key=True)
    game: Mapped[Str40] = mapped_column(primary_key=True)
    name: Mapped[Str120] = mapped_column(primary_key=True)
    text: Mapped[Long]
    digest: Mapped[Str64]
    """The hexadecimal SHA-256 of its bytes."""
    size: Mapped[int]
    """In bytes."""
    changed_at: Mapped[datetime]


class WorkshopTask(Base):
    """A worker's task on a draft, as the draft was when the task was requested.

    A person has one task of each kind per game; a new one replaces it.
    """

    __tablename__ = "workshop_tasks"
    __table_args__ = (
        UniqueConstraint("user_id", "game", "kind"),
        one_of("kind", TaskKind),
        one_of("state", TaskState),
        Index(
            "ix_workshop_tasks_running",
            "user_id",
            unique=True,
            sqlite_where=text("state = 'running'"),
            postgresql_where=text("state = 'running'"),
        ),
        Index(None, "state", "id"),
        # No id is reused: a worker may still hold that of a replaced task.
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(BIG_KEY, primary_key=True)
    """In the order of the requests."""
    user_id: Mapped[UserId]
    game: Mapped[Str40]
    kind: Mapped[TaskKind] = mapped_column(String(16))
    state: Mapped[TaskState] = mapped_column(String(16), default="queued")
    request: Mapped[Json] = mapped_column(JSON)
    """Opponent, seat, turn: as the kind needs."""
    digest: Mapped[Str64]
    """The digest of the draft's files."""
    source: Mapped[bytes | None]
    """The files as a zip; null once the task is over."""
    report: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))
    """The report for the page; null until its worker sends one."""
    cause: Mapped[Str200] = mapped_column(default="")
    """Why it ended early; "" if it did not."""
    worker: Mapped[Str120] = mapped_column(default="")
    created_at: Mapped[datetime]
    sent_at: Mapped[datetime | None]
    """When its last message to the workers was sent."""
    beat_at: Mapped[datetime | None]
    """The last heartbeat of its worker."""
    ended_at: Mapped[datetime | None]


class WorkshopPiece(Base):
    """A piece of a task's output besides `report`: lines of a match, turns, a replay."""

    __tablename__ = "workshop_pieces"

    task_id: Mapped[int] = mapped_column(
        BIG_KEY, ForeignKey("workshop_tasks.id", ondelete="CASCADE"), primary_key=True
    )
    kind: Mapped[Str16] = mapped_column(primary_key=True)
    first: Mapped[int] = mapped_column(primary_key=True)
    """The number of its first line, turn or match."""
    last: Mapped[int]
    data: Mapped[bytes]
    """Compressed."""
