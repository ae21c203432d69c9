"""The tables of the hub itself: its processes, counts, and the audit."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import (
    JSON,
    Index,
)
from sqlalchemy.orm import Mapped, mapped_column

from cw_hub.store.tables.base import (
    BIG_KEY,
    Base,
    Big,
    CompetitionId,
    Json,
    Str16,
    Str24,
    Str40,
    Str60,
    Str80,
)


class Worker(Base):
    """A process that plays matches; alive if seen within the last minute."""

    __tablename__ = "workers"

    id: Mapped[Str80] = mapped_column(primary_key=True)
    """`host:pid:start`."""
    version: Mapped[Str40]
    slots: Mapped[int]
    state: Mapped[Str16]
    started_at: Mapped[datetime]
    seen_at: Mapped[datetime] = mapped_column(index=True)


class Heartbeat(Base):
    """A role of a process, and its status; alive if seen within the last minute."""

    __tablename__ = "heartbeats"

    process: Mapped[Str80] = mapped_column(primary_key=True)
    """`host:pid:start`."""
    role: Mapped[Str16] = mapped_column(primary_key=True)
    version: Mapped[Str40]
    started_at: Mapped[datetime]
    seen_at: Mapped[datetime] = mapped_column(index=True)
    figures: Mapped[Json] = mapped_column(JSON, default=dict)
    """Numbers by name, such as `cpu_seconds`."""


class Mark(Base):
    """A named timestamp of the site, such as that of its last tick."""

    __tablename__ = "marks"

    name: Mapped[Str40] = mapped_column(primary_key=True)
    at: Mapped[datetime]


class Count(Base):
    """How often an event has occurred in the processes of the site."""

    __tablename__ = "counts"

    name: Mapped[Str40] = mapped_column(primary_key=True)
    value: Mapped[Big]


class Audit(Base):
    """An audited action; a trigger refuses to change or delete the row."""

    __tablename__ = "audit"
    __table_args__ = (Index(None, "competition_id", "at"), Index(None, "object", "at"))

    id: Mapped[int] = mapped_column(BIG_KEY, primary_key=True)
    at: Mapped[datetime]
    competition_id: Mapped[CompetitionId | None]
    actor: Mapped[Str60]
    net: Mapped[Str24]
    verb: Mapped[Str40]
    object: Mapped[Str60]
    detail: Mapped[Json] = mapped_column(JSON, default=dict)
