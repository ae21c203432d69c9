"""The tables of bots and of their uploaded programs."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypeAlias

from sqlalchemy import (
    JSON,
    CheckConstraint,
    ForeignKey,
    Index,
    String,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from cw_hub.store.tables.base import (
    Base,
    Big,
    BotId,
    Json,
    Long,
    Str10,
    Str16,
    Str32,
    Str40,
    Str64,
    Str120,
    Str500,
    UserId,
    one_of,
)

BotKind: TypeAlias = Literal["url", "program", "builtin"]

BotStatus: TypeAlias = Literal["PENDING", "ACTIVE", "INACTIVE", "SUSPENDED", "RETIRED"]

VersionState: TypeAlias = Literal["building", "ready", "failed"]

Decision: TypeAlias = Literal["stronger", "not stronger"]

ComparisonState: TypeAlias = Literal["running", "decided", "undecided", "stopped"]


ProgramUse: TypeAlias = Literal["match", "test"]


class Bot(Base):
    """A named program that plays one game; it belongs to a user or a team."""

    __tablename__ = "bots"
    __table_args__ = (
        CheckConstraint("(user_id IS NULL) <> (team_id IS NULL)", name="one_owner"),
        one_of("kind", BotKind),
        one_of("status", BotStatus),
        Index(
            "ix_bots_name_of_users",
            "game",
            "name_key",
            unique=True,
            sqlite_where=text("user_id IS NOT NULL"),
            postgresql_where=text("user_id IS NOT NULL"),
        ),
        Index(None, "status", "check_due_at"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    bot_id: Mapped[Str10] = mapped_column(unique=True)
    """`b_` and 8 hexadecimal digits: its public id."""
    game: Mapped[Str32]
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    team_id: Mapped[int | None] = mapped_column(ForeignKey("teams.id"), unique=True)
    name: Mapped[Str32]
    name_key: Mapped[Str64]
    """The case-folded name."""
    kind: Mapped[BotKind] = mapped_column(String(16))
    endpoint: Mapped[Str500]
    """The URL of a `url`, the strategy of a `builtin`; "" for a program."""
    description: Mapped[Str500] = mapped_column(default="")
    settings: Mapped[Json] = mapped_column(JSON, default=dict)
    secret: Mapped[bytes | None]
    """Sealed; see sealing.py."""
    key_id: Mapped[Str16 | None]
    secret_version: Mapped[int] = mapped_column(default=0)
    status: Mapped[BotStatus] = mapped_column(String(16), default="PENDING")
    reason: Mapped[Str500] = mapped_column(default="")
    check_due_at: Mapped[datetime | None]
    """Null: no sweep checks it."""
    checked_at: Mapped[datetime | None]
    healthy_at: Mapped[datetime | None]
    failures: Mapped[int] = mapped_column(default=0)
    """Consecutive failures."""
    failures_total: Mapped[int] = mapped_column(default=0)
    protocol_ok: Mapped[bool] = mapped_column(default=False)
    checks: Mapped[Json] = mapped_column(JSON, default=list)
    """The steps of the last check."""
    created_at: Mapped[datetime]


class BotVersion(Base):
    """A program uploaded for a bot; its bytes are in the object store.

    It is immutable except for the result of its single check.
    """

    __tablename__ = "bot_versions"
    __table_args__ = (UniqueConstraint("bot_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    bot_id: Mapped[BotId]
    number: Mapped[int]
    sha256: Mapped[Str64]
    size: Mapped[Big]
    language: Mapped[Str16] = mapped_column(default="", server_default=text("''"))
    """As kits name it; "" if unknown."""
    note: Mapped[Str120] = mapped_column(default="", server_default=text("''"))
    """One line by its author."""
    state: Mapped[VersionState] = mapped_column(String(16))
    log: Mapped[Long] = mapped_column(default="")
    """The names of its files."""
    checks: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))
    """The steps of its check; null until checked."""
    created_at: Mapped[datetime]


class BotActivation(Base):
    """An activation: a version of a bot became the one that plays."""

    __tablename__ = "bot_activations"

    id: Mapped[int] = mapped_column(primary_key=True)
    bot_id: Mapped[BotId] = mapped_column(index=True)
    number: Mapped[int]
    """The number of the version."""
    at: Mapped[datetime]


class ProgramCheck(Base):
    """A program check claimed by a worker: running, or waiting for its share of the program slots.

    The row is deleted when the check ends.
    """

    __tablename__ = "program_checks"

    bot_id: Mapped[BotId] = mapped_column(primary_key=True)
    worker: Mapped[str | None] = mapped_column(String(80))
    """Null while it waits."""
    sent_at: Mapped[datetime | None]
    """When its last message was sent; null if it must be sent again."""


class LastProgram(Base):
    """The single row that records which kind of program run started last.

    Whoever starts a run locks it, so that two workers do not take the same program slot.
    """

    __tablename__ = "last_program"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    kind: Mapped[ProgramUse | None] = mapped_column(String(16))
    """Null until the first start."""
    accounts: Mapped[Json] = mapped_column(JSON, default=list)


class Comparison(Base):
    """Matches between two versions of a program, or one version and a built-in strategy."""

    __tablename__ = "comparisons"
    __table_args__ = (
        one_of("state", ComparisonState),
        one_of("decision", Decision),
        Index(
            "ix_comparisons_running",
            "user_id",
            unique=True,
            sqlite_where=text("state = 'running'"),
            postgresql_where=text("state = 'running'"),
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[UserId]
    bot_id: Mapped[BotId] = mapped_column(index=True)
    new: Mapped[int]
    """The number of the version that may be stronger."""
    old: Mapped[int | None]
    """The number of the version it is compared with; null for a built-in strategy."""
    strategy: Mapped[Str40] = mapped_column(default="")
    """The built-in strategy it is compared with; "" for a version."""
    state: Mapped[ComparisonState] = mapped_column(String(16), default="running")
    decision: Mapped[Decision | None] = mapped_column(String(16))
    """Null until decided."""
    reason: Mapped[Str120] = mapped_column(default="")
    """Why it was stopped."""
    planned: Mapped[int] = mapped_column(default=0)
    """Pairs planned so far, finished ones included; pairs are numbered from 0."""
    pairs: Mapped[int] = mapped_column(default=0)
    """Finished pairs that count, in order."""
    total: Mapped[float] = mapped_column(default=0.0)
    """Sum of the scores of the counted pairs."""
    squares: Mapped[float] = mapped_column(default=0.0)
    """Sum of the squares of those scores."""
    wins: Mapped[int] = mapped_column(default=0)
    losses: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
