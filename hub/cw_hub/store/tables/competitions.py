"""The tables of competitions of any format."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypeAlias

from sqlalchemy import (
    JSON,
    Index,
    String,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from cw_hub.store.tables.base import (
    Base,
    Big,
    CompetitionId,
    GroupId,
    Json,
    Long,
    Str16,
    Str32,
    Str40,
    Str64,
    Str80,
    Str120,
    Str254,
    UserId,
)

CompetitionState: TypeAlias = Literal["draft", "planned", "running", "paused", "over"]
"""A draft is hidden; a planned competition is public and starts by itself."""


class Competition(Base):
    """A game and a format: a daily game, a ladder, a rated tournament."""

    __tablename__ = "competitions"
    __table_args__ = (UniqueConstraint("format", "slug"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    slug: Mapped[Str32]
    game: Mapped[Str32]
    format: Mapped[Str16]
    title: Mapped[Str80]
    settings: Mapped[Json] = mapped_column(JSON, default=dict)
    seed: Mapped[Big]
    state: Mapped[CompetitionState] = mapped_column(String(16), default="draft")
    last_seq: Mapped[Big] = mapped_column(default=0)
    """The highest `matches.seq` assigned so far."""
    revision: Mapped[int] = mapped_column(default=0)
    """Increases with every change visible on its pages; used as their ETag."""
    created_at: Mapped[datetime]
    description: Mapped[Long] = mapped_column(default="", server_default=text("''"))
    """Markdown."""
    zone: Mapped[Str64] = mapped_column(default="UTC", server_default=text("'UTC'"))
    """The time zone (tz database name) in which its hosts enter times."""
    picture: Mapped[Str64 | None]
    """The SHA-256 of the picture shown in lists and links."""


class CompetitionHost(Base):
    """A host of a competition."""

    __tablename__ = "competition_hosts"

    competition_id: Mapped[CompetitionId] = mapped_column(primary_key=True)
    user_id: Mapped[UserId] = mapped_column(primary_key=True, index=True)
    added_at: Mapped[datetime]


class Invitation(Base):
    """The link by which people join a competition and form teams."""

    __tablename__ = "invitations"

    competition_id: Mapped[CompetitionId] = mapped_column(primary_key=True)
    code: Mapped[Str16] = mapped_column(unique=True)
    is_open: Mapped[bool] = mapped_column(default=True)
    most_teams: Mapped[int]
    """Further teams wait."""
    most_members: Mapped[int]
    """Maximum size of a team."""
    created_at: Mapped[datetime]


class Guest(Base):
    """An address imported by a host, to receive the invitation."""

    __tablename__ = "guests"

    competition_id: Mapped[CompetitionId] = mapped_column(primary_key=True)
    email: Mapped[Str254] = mapped_column(primary_key=True)
    team: Mapped[Str40] = mapped_column(default="")
    """The team name proposed by the list, or ""."""
    added_at: Mapped[datetime]


class Event(Base):
    """A scheduled event of a competition: something announced or applied."""

    __tablename__ = "events"
    __table_args__ = (Index(None, "competition_id", "at"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[CompetitionId]
    group_id: Mapped[GroupId | None]
    at: Mapped[datetime]
    kind: Mapped[Str32]
    title: Mapped[Str120]
    text: Mapped[Long]
    data: Mapped[Json] = mapped_column(JSON, default=dict)
    announced: Mapped[bool] = mapped_column(default=False)
    applied_at: Mapped[datetime | None]
