"""The tables of bots and of the programs that were uploaded for them."""

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

from cw.hub.store.tables.base import (
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
    """A program that plays one game, under a name; it belongs to a user or to a team."""

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
    """`b_` and 8 hexadecimal digits: its name outside of the database."""
    game: Mapped[Str32]
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    team_id: Mapped[int | None] = mapped_column(ForeignKey("teams.id"), unique=True)
    name: Mapped[Str32]
    name_key: Mapped[Str64]
    """The name with its case folded."""
    kind: Mapped[BotKind] = mapped_column(String(16))
    endpoint: Mapped[Str500]
    """The address of a `url`, the strategy of a `builtin`; "" for a program."""
    description: Mapped[Str500] = mapped_column(default="")
    settings: Mapped[Json] = mapped_column(JSON, default=dict)
    secret: Mapped[bytes | None]
    """Sealed; see sealing.py."""
    key_id: Mapped[Str16 | None]
    secret_version: Mapped[int] = mapped_column(default=0)
    status: Mapped[BotStatus] = mapped_column(String(16), default="PENDING")
    reason: Mapped[Str500] = mapped_column(default="")
    check_due_at: Mapped[datetime | None]
    """Null: no sweep asks it."""
    checked_at: Mapped[datetime | None]
    healthy_at: Mapped[datetime | None]
    failures: Mapped[int] = mapped_column(default=0)
    """In a row."""
    failures_total: Mapped[int] = mapped_column(default=0)
    protocol_ok: Mapped[bool] = mapped_column(default=False)
    checks: Mapped[Json] = mapped_column(JSON, default=list)
    """The steps of the last check."""
    created_at: Mapped[datetime]


class BotVersion(Base):
    """A program that was uploaded for a bot; its bytes are in the object store.

    Nothing of it changes but for what its one check has come to.
    """

    __tablename__ = "bot_versions"
    __table_args__ = (UniqueConstraint("bot_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    bot_id: Mapped[BotId]
    number: Mapped[int]
    sha256: Mapped[Str64]
    size: Mapped[Big]
    language: Mapped[Str16] = mapped_column(default="", server_default=text("''"))
    """As kits name it; "" for one that is not known."""
    note: Mapped[Str120] = mapped_column(default="", server_default=text("''"))
    """What its author says of it, in a line."""
    state: Mapped[VersionState] = mapped_column(String(16))
    log: Mapped[Long] = mapped_column(default="")
    """The names of its files."""
    checks: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))
    """The steps of its check; null until it was checked."""
    created_at: Mapped[datetime]


class BotActivation(Base):
    """That a version of a bot was made the one that plays."""

    __tablename__ = "bot_activations"

    id: Mapped[int] = mapped_column(primary_key=True)
    bot_id: Mapped[BotId] = mapped_column(index=True)
    number: Mapped[int]
    """Of the version."""
    at: Mapped[datetime]


class ProgramCheck(Base):
    """A check of a program that a worker has taken: it runs, or waits for its share of the places.

    Its row is deleted at its end.
    """

    __tablename__ = "program_checks"

    bot_id: Mapped[BotId] = mapped_column(primary_key=True)
    worker: Mapped[str | None] = mapped_column(String(80))
    """Null while it waits."""
    sent_at: Mapped[datetime | None]
    """When its last message was sent; null if it is to be sent again."""


class LastProgram(Base):
    """The one row that says what was begun last of all that runs programs.

    Whoever begins something locks it, so that two workers do not take the same place.
    """

    __tablename__ = "last_program"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    kind: Mapped[ProgramUse | None] = mapped_column(String(16))
    """Null before anything was begun."""
    accounts: Mapped[Json] = mapped_column(JSON, default=list)


class Comparison(Base):
    """Matches of two versions of a program, or of one against a built-in strategy."""

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
    """That of the version that it is compared with; null for a built-in strategy."""
    strategy: Mapped[Str40] = mapped_column(default="")
    """The built-in strategy that it is compared with; "" for a version."""
    state: Mapped[ComparisonState] = mapped_column(String(16), default="running")
    decision: Mapped[Decision | None] = mapped_column(String(16))
    """Null until there is one."""
    reason: Mapped[Str120] = mapped_column(default="")
    """Why it was stopped."""
    planned: Mapped[int] = mapped_column(default=0)
    """Pairs that are planned, or over; those of a comparison are counted from 0."""
    pairs: Mapped[int] = mapped_column(default=0)
    """Pairs that are over and count, in their order."""
    total: Mapped[float] = mapped_column(default=0.0)
    """The sum of their scores."""
    squares: Mapped[float] = mapped_column(default=0.0)
    """The sum of the squares of their scores."""
    wins: Mapped[int] = mapped_column(default=0)
    losses: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
