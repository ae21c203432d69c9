"""The tables of the workshop: drafts, and what workers do with them."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypeAlias

from sqlalchemy import JSON, ForeignKey, Index, String, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from cw.hub.store.tables.base import (
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
    """A file of the program that a person writes for a game, as it was typed last."""

    __tablename__ = "draft_files"

    user_id: Mapped[UserId] = mapped_column(primary_key=True)
    game: Mapped[Str40] = mapped_column(primary_key=True)
    name: Mapped[Str120] = mapped_column(primary_key=True)
    text: Mapped[Long]
    digest: Mapped[Str64]
    """The SHA-256 of its bytes, in hexadecimal digits."""
    size: Mapped[int]
    """In bytes."""
    changed_at: Mapped[datetime]


class WorkshopTask(Base):
    """What a worker does with a draft as it was when that was asked for.

    A person has one of each kind for a game: the next one takes the place of the one before.
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
        # No number is used again: a worker may still hold that of a task that was replaced.
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(BIG_KEY, primary_key=True)
    """In the order in which tasks were asked for."""
    user_id: Mapped[UserId]
    game: Mapped[Str40]
    kind: Mapped[TaskKind] = mapped_column(String(16))
    state: Mapped[TaskState] = mapped_column(String(16), default="queued")
    request: Mapped[Json] = mapped_column(JSON)
    """Against whom, in which seat, about which turn: as the kind needs it."""
    digest: Mapped[Str64]
    """Of the files of the draft."""
    source: Mapped[bytes | None]
    """The files as a zip; null once the task is over."""
    report: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))
    """What the page is told of it; null before its worker has told anything."""
    cause: Mapped[Str200] = mapped_column(default="")
    """Why it ended before it was done; "" if it did not."""
    worker: Mapped[Str120] = mapped_column(default="")
    created_at: Mapped[datetime]
    sent_at: Mapped[datetime | None]
    """When the last message was sent by which a worker learns of it."""
    beat_at: Mapped[datetime | None]
    """When its worker was last heard of."""
    ended_at: Mapped[datetime | None]


class WorkshopPiece(Base):
    """A piece of what a task tells beside `report`: lines of a match, turns, a replay."""

    __tablename__ = "workshop_pieces"

    task_id: Mapped[int] = mapped_column(
        BIG_KEY, ForeignKey("workshop_tasks.id", ondelete="CASCADE"), primary_key=True
    )
    kind: Mapped[Str16] = mapped_column(primary_key=True)
    first: Mapped[int] = mapped_column(primary_key=True)
    """The first number that it tells of: of a line, a turn or a match."""
    last: Mapped[int]
    data: Mapped[bytes]
    """Packed."""
