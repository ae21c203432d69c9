"""The tables of tournaments: teams in groups that play rounds."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypeAlias

from sqlalchemy import (
    JSON,
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
    CompetitionId,
    GroupId,
    Json,
    Long,
    RoundId,
    Str16,
    Str32,
    Str40,
    Str80,
    Str120,
    Str200,
    TeamId,
    UserId,
)

GroupKind: TypeAlias = Literal["public", "internal", "final"]

EntryStatus: TypeAlias = Literal["playing", "waiting", "removed", "withdrawn", "disqualified"]
"""A `waiting` team has no place yet; a `removed` one returns if its removal is undone."""


class Group(Base):
    """Teams of a ladder that play each other."""

    __tablename__ = "groups"
    __table_args__ = (UniqueConstraint("competition_id", "slug"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[CompetitionId]
    slug: Mapped[Str32]
    name: Mapped[Str40]
    kind: Mapped[GroupKind] = mapped_column(String(16))
    revision: Mapped[int] = mapped_column(default=0)


class Team(Base):
    """A team name in a ladder; whoever holds its token acts for it."""

    __tablename__ = "teams"
    __table_args__ = (
        UniqueConstraint("competition_id", "slug"),
        UniqueConstraint("competition_id", "name_key"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[CompetitionId]
    slug: Mapped[Str32]
    name: Mapped[Str40]
    name_key: Mapped[Str80]
    """The case-folded name; case folding may lengthen it."""
    out_of_competition: Mapped[bool] = mapped_column(default=False)
    machine: Mapped[Str120 | None]
    ssh_key: Mapped[Long | None]
    removed_at: Mapped[datetime | None]
    """When its host removed it; the removal can be undone for an hour."""
    code: Mapped[Str16 | None]
    """The captain's code for new members; null for a team without an account."""


class TeamMember(Base):
    """A person's membership of a team: one per competition."""

    __tablename__ = "team_members"

    competition_id: Mapped[CompetitionId] = mapped_column(primary_key=True)
    user_id: Mapped[UserId] = mapped_column(primary_key=True, index=True)
    team_id: Mapped[TeamId] = mapped_column(index=True)
    is_captain: Mapped[bool] = mapped_column(default=False)
    joined_at: Mapped[datetime]


class Entry(Base):
    """A team's entry in a group; a finalist has two."""

    __tablename__ = "entries"

    group_id: Mapped[GroupId] = mapped_column(primary_key=True)
    team_id: Mapped[TeamId] = mapped_column(primary_key=True, index=True)
    joined_at: Mapped[datetime]
    status: Mapped[EntryStatus] = mapped_column(String(16), default="playing")
    reason: Mapped[Str200] = mapped_column(default="")
    from_group_id: Mapped[int | None] = mapped_column(ForeignKey("groups.id"))


class Round(Base):
    """A round of a group; at most one per group is open."""

    __tablename__ = "rounds"
    __table_args__ = (
        UniqueConstraint("group_id", "number"),
        Index(
            "ix_rounds_open",
            "group_id",
            unique=True,
            sqlite_where=text("closed_at IS NULL"),
            postgresql_where=text("closed_at IS NULL"),
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    group_id: Mapped[GroupId]
    number: Mapped[int]
    board: Mapped[Json] = mapped_column(JSON)
    seed: Mapped[Big]
    positions: Mapped[Json] = mapped_column(JSON)
    opened_at: Mapped[datetime]
    closed_at: Mapped[datetime | None]


class RoundScore(Base):
    """A team's score in a round, written once, when the round ends."""

    __tablename__ = "round_scores"

    round_id: Mapped[RoundId] = mapped_column(primary_key=True)
    team_id: Mapped[TeamId] = mapped_column(primary_key=True, index=True)
    points: Mapped[float]
    won: Mapped[int]
    drawn: Mapped[int]
    lost: Mapped[int]
    battles_diff: Mapped[int]
    score_diff: Mapped[float]
    total: Mapped[float]
    position: Mapped[int]
