"""The tables of matches, their seats and games, and of maps."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypeAlias

from sqlalchemy import (
    JSON,
    ForeignKey,
    Index,
    String,
    UniqueConstraint,
)
from sqlalchemy.orm import Mapped, mapped_column

from cw_hub.origin import LONGEST_ID, present_id
from cw_hub.store.tables.base import (
    BIG_KEY,
    Base,
    Big,
    BotId,
    CompetitionId,
    Json,
    MatchId,
    RoundId,
    Str10,
    Str16,
    Str32,
    Str40,
    Str64,
    Str80,
    Str120,
    Str500,
    one_of,
)

MatchState: TypeAlias = Literal["queued", "in_progress", "interrupted", "done", "void", "failed"]


class Match(Base):
    """A match, kept for ever: who plays what, why, and how it ended."""

    __tablename__ = "matches"
    __table_args__ = (
        UniqueConstraint("kind", "key"),
        UniqueConstraint("competition_id", "seq"),
        one_of("state", MatchState),
        Index(None, "state", "id"),
        Index(None, "competition_id", "finished_at"),
        Index(None, "competition_id", "at"),
    )

    id: Mapped[int] = mapped_column(BIG_KEY, primary_key=True)
    match_id: Mapped[Str10] = mapped_column(unique=True)
    """`m_` and 8 hexadecimal digits: its public id."""
    competition_id: Mapped[CompetitionId | None]
    kind: Mapped[Str16]
    """The format it is played for, or `practice`."""
    key: Mapped[Str120]
    """What was planned; makes planning idempotent."""
    game: Mapped[Str32]
    players: Mapped[int]
    options: Mapped[Json] = mapped_column(JSON, default=dict)
    seed: Mapped[Big]
    map_id: Mapped[str | None] = mapped_column(String(16), ForeignKey("maps.map_id"))
    level: Mapped[float | None]
    round_id: Mapped[RoundId | None] = mapped_column(index=True)
    sequence: Mapped[int | None]
    """Its position in the order of a ladder's round."""
    state: Mapped[MatchState] = mapped_column(String(16), default="queued")
    attempt: Mapped[int] = mapped_column(default=0)
    troubles: Mapped[int] = mapped_column(default=0)
    """Attempts that failed through our fault."""
    worker: Mapped[Str80 | None]
    lease_until: Mapped[datetime | None]
    sent_at: Mapped[datetime | None]
    turn: Mapped[int] = mapped_column(default=0)
    """The turn that the attempt has reached."""
    at: Mapped[datetime]
    """When it was planned, or is due."""
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    reason: Mapped[Str40 | None]
    request_id: Mapped[str | None] = mapped_column(String(LONGEST_ID), default=present_id)
    """The id of the request or tick that planned it, for finding its log lines."""
    seq: Mapped[Big | None]
    """1, 2, 3 ... without gaps: the order in which rated results were applied."""


class MatchParticipant(Base):
    """A seat of a match, and its result."""

    __tablename__ = "match_participants"
    __table_args__ = (
        UniqueConstraint("bot_id", "match_id"),
        Index(None, "match_id", "rank", "slot"),
    )

    match_id: Mapped[MatchId] = mapped_column(primary_key=True)
    slot: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    bot_id: Mapped[BotId | None]
    name: Mapped[Str40]
    spec: Mapped[Str120 | None]
    """`builtin:NAME` or `program:` for a participant without a row in `bots`."""
    endpoint: Mapped[Str500 | None]
    """The address of a web service whose address changed after the match was planned."""
    version: Mapped[int | None]
    """The number of the program version that played, once the match was claimed."""
    rank: Mapped[int | None]
    score: Mapped[float | None]
    points: Mapped[float | None]
    pair_rank: Mapped[int | None]
    crashed: Mapped[bool] = mapped_column(default=False)
    faults: Mapped[Json] = mapped_column(JSON, default=list)
    stats: Mapped[Json] = mapped_column(JSON, default=dict)
    mu: Mapped[float | None]
    phi: Mapped[float | None]
    sigma: Mapped[float | None]


class Battle(Base):
    """One game of a match, with one replay."""

    __tablename__ = "battles"

    match_id: Mapped[MatchId] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    options: Mapped[Json] = mapped_column(JSON, default=dict)
    first_slot: Mapped[int]
    """The slot in the first seat."""
    reason: Mapped[Str40]
    ranks: Mapped[Json] = mapped_column(JSON)
    scores: Mapped[Json] = mapped_column(JSON)
    turns: Mapped[int]
    replay_key: Mapped[Str120 | None]
    bytes: Mapped[Big] = mapped_column(default=0)
    pruned_at: Mapped[datetime | None]
    started_at: Mapped[datetime]
    ended_at: Mapped[datetime]


class Map(Base):
    """A map; its body is in the object store."""

    __tablename__ = "maps"

    map_id: Mapped[Str16] = mapped_column(primary_key=True)
    game: Mapped[Str32]
    players: Mapped[int]
    rows: Mapped[int]
    cols: Mapped[int]
    meta: Mapped[Json] = mapped_column(JSON, default=dict)
    sha256: Mapped[Str64]
    last_used_at: Mapped[datetime | None]
