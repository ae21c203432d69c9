"""All tables of the hub, by what they are about. Times are UTC; `Mapped[X | None]` may be null."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Text,
    TypeDecorator,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from cw.hub.origin import LONGEST_ID, present_id

Json: TypeAlias = Any
"""A value of JSON; which one, the table says."""

Role: TypeAlias = Literal["player", "admin"]
TicketKind: TypeAlias = Literal[
    "session", "reset", "verify", "api", "card", "host_card", "team", "host"
]
CompetitionState: TypeAlias = Literal["draft", "running", "paused", "over"]
GroupKind: TypeAlias = Literal["public", "internal", "final"]
EntryStatus: TypeAlias = Literal["playing", "withdrawn", "disqualified"]
BotKind: TypeAlias = Literal["url", "program", "builtin"]
BotStatus: TypeAlias = Literal["PENDING", "ACTIVE", "INACTIVE", "SUSPENDED", "RETIRED"]
VersionState: TypeAlias = Literal["building", "ready", "failed"]
MatchKind: TypeAlias = Literal["daily", "ladder", "rated", "practice", "championship"]
MatchState: TypeAlias = Literal["queued", "in_progress", "interrupted", "done", "void", "failed"]


class Moment(TypeDecorator[datetime]):
    """A moment in UTC; SQLite, which keeps no zone, is given it without one."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Turn to UTC; raise ValueError for a moment without a zone, which could be any."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value} says no zone; moments are UTC")
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Say that it is UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


BIG_KEY: Final = BigInteger().with_variant(Integer, "sqlite")
"""A key that counts up by itself; SQLite does so for its own integers alone, which are as long."""

Str2 = Annotated[str, mapped_column(String(2))]
Str10 = Annotated[str, mapped_column(String(10))]
Str16 = Annotated[str, mapped_column(String(16))]
Str24 = Annotated[str, mapped_column(String(24))]
Str32 = Annotated[str, mapped_column(String(32))]
Str40 = Annotated[str, mapped_column(String(40))]
Str60 = Annotated[str, mapped_column(String(60))]
Str64 = Annotated[str, mapped_column(String(64))]
Str80 = Annotated[str, mapped_column(String(80))]
Str120 = Annotated[str, mapped_column(String(120))]
Str200 = Annotated[str, mapped_column(String(200))]
Str254 = Annotated[str, mapped_column(String(254))]
Str500 = Annotated[str, mapped_column(String(500))]
Big = Annotated[int, mapped_column(BigInteger)]
Long = Annotated[str, mapped_column(Text)]

UserId = Annotated[int, mapped_column(ForeignKey("users.id", ondelete="CASCADE"))]
TeamId = Annotated[int, mapped_column(ForeignKey("teams.id", ondelete="CASCADE"))]
GroupId = Annotated[int, mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))]
RoundId = Annotated[int, mapped_column(ForeignKey("rounds.id"))]
BotId = Annotated[int, mapped_column(ForeignKey("bots.id"))]
CompetitionId = Annotated[int, mapped_column(ForeignKey("competitions.id"))]
MatchId = Annotated[int, mapped_column(BIG_KEY, ForeignKey("matches.id"))]


class Table(DeclarativeBase):
    """A table of the hub."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar = {datetime: Moment}


def one_of(column: str, *values: str) -> CheckConstraint:
    """Return the rule that a column has one of these values."""
    listed = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{column} IN ({listed})", name=column)


# People


class User(Table):
    """An account. One that was deleted keeps its row and its id, and nothing else."""

    __tablename__ = "users"
    __table_args__ = (one_of("role", "player", "admin"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    username: Mapped[Str32 | None]
    username_key: Mapped[Str32 | None] = mapped_column(unique=True)
    """The username with its case folded: two names that differ in case alone are one."""
    display_name: Mapped[Str64 | None]
    email: Mapped[Str254 | None]
    email_verified_at: Mapped[datetime | None]
    password_hash: Mapped[Str200 | None]
    github_id: Mapped[Big | None] = mapped_column(unique=True)
    role: Mapped[Role] = mapped_column(String(16), default="player")
    country: Mapped[Str2 | None]
    born: Mapped[date | None]
    avatar: Mapped[Str64 | None]
    """The SHA-256 of the picture."""
    locked_at: Mapped[datetime | None]
    created_at: Mapped[datetime]
    deleted_at: Mapped[datetime | None]


class Friend(Table):
    """That one user has added another as a friend; it goes one way."""

    __tablename__ = "friends"

    user_id: Mapped[UserId] = mapped_column(primary_key=True)
    friend_id: Mapped[UserId] = mapped_column(primary_key=True, index=True)
    created_at: Mapped[datetime]


class Ticket(Table):
    """A random string that was handed out: we keep its SHA-256 alone. One used up is deleted."""

    __tablename__ = "tickets"

    digest: Mapped[Str64] = mapped_column(primary_key=True)
    kind: Mapped[TicketKind] = mapped_column(String(16))
    user_id: Mapped[UserId | None] = mapped_column(index=True)
    team_id: Mapped[TeamId | None] = mapped_column(index=True)
    competition_id: Mapped[CompetitionId | None] = mapped_column(index=True)
    parent: Mapped[str | None] = mapped_column(
        String(64), ForeignKey("tickets.digest", ondelete="CASCADE"), index=True
    )
    """The ticket that this session was made from, and ends with."""
    label: Mapped[Str40 | None]
    scopes: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    last_used_at: Mapped[datetime | None]


# Competitions


class Competition(Table):
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
    """The highest `matches.seq` that was given."""
    revision: Mapped[int] = mapped_column(default=0)
    """Rises with every change that its pages show: their ETag."""
    created_at: Mapped[datetime]


class Group(Table):
    """The teams of a ladder that play each other."""

    __tablename__ = "groups"
    __table_args__ = (UniqueConstraint("competition_id", "slug"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[CompetitionId]
    slug: Mapped[Str32]
    name: Mapped[Str40]
    kind: Mapped[GroupKind] = mapped_column(String(16))
    revision: Mapped[int] = mapped_column(default=0)


class Team(Table):
    """A name in a ladder; whoever holds its token acts for it."""

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
    """The name with its case folded, which may make it longer."""
    out_of_competition: Mapped[bool] = mapped_column(default=False)
    machine: Mapped[Str120 | None]
    ssh_key: Mapped[Long | None]


class Entry(Table):
    """That a team plays in a group; a finalist has two."""

    __tablename__ = "entries"

    group_id: Mapped[GroupId] = mapped_column(primary_key=True)
    team_id: Mapped[TeamId] = mapped_column(primary_key=True, index=True)
    joined_at: Mapped[datetime]
    status: Mapped[EntryStatus] = mapped_column(String(16), default="playing")
    reason: Mapped[Str200] = mapped_column(default="")
    from_group_id: Mapped[int | None] = mapped_column(ForeignKey("groups.id"))


class Event(Table):
    """What happens in a competition at its time: something announced, something applied."""

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


class Round(Table):
    """A round of a group; at most one of a group is open."""

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


class RoundScore(Table):
    """What a team has made of a round: written once, when the round ends."""

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


# Bots


class Bot(Table):
    """A program that plays one game, under a name; it belongs to a user or to a team."""

    __tablename__ = "bots"
    __table_args__ = (
        CheckConstraint("(user_id IS NULL) <> (team_id IS NULL)", name="one_owner"),
        one_of("kind", "url", "program", "builtin"),
        one_of("status", "PENDING", "ACTIVE", "INACTIVE", "SUSPENDED", "RETIRED"),
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


class BotVersion(Table):
    """A program that was uploaded for a bot; its bytes are in the object store."""

    __tablename__ = "bot_versions"
    __table_args__ = (UniqueConstraint("bot_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    bot_id: Mapped[BotId]
    number: Mapped[int]
    sha256: Mapped[Str64]
    size: Mapped[Big]
    state: Mapped[VersionState] = mapped_column(String(16))
    log: Mapped[Long] = mapped_column(default="")
    created_at: Mapped[datetime]


class Rating(Table):
    """The rating of a bot in a competition."""

    __tablename__ = "ratings"
    __table_args__ = (Index("ix_ratings_shown", "competition_id", text("(mu - 2 * phi)")),)

    competition_id: Mapped[CompetitionId] = mapped_column(primary_key=True)
    bot_id: Mapped[BotId] = mapped_column(primary_key=True, index=True)
    mu: Mapped[float] = mapped_column(default=1500.0)
    phi: Mapped[float] = mapped_column(default=350.0)
    sigma: Mapped[float] = mapped_column(default=0.06)
    crash_streak: Mapped[int] = mapped_column(default=0)
    last_match_at: Mapped[datetime | None]
    playing_id: Mapped[MatchId | None] = mapped_column(index=True)
    """The open match that holds the bot."""


class RatingTotal(Table):
    """How often a bot has won: a summary that can be made anew from the matches."""

    __tablename__ = "rating_totals"
    # Its key is most of a row: SQLite keeps the rows in the order in which ranges are summed up.
    __table_args__ = {"sqlite_with_rowid": False}  # noqa: RUF012 - as SQLAlchemy has it

    competition_id: Mapped[CompetitionId] = mapped_column(primary_key=True)
    players: Mapped[int] = mapped_column(primary_key=True)
    """The number of players of the matches; 0 for all."""
    day: Mapped[int] = mapped_column(primary_key=True)
    """Days since 1970 in UTC; 0 for ever."""
    bot_id: Mapped[BotId] = mapped_column(primary_key=True, index=True)
    games: Mapped[int] = mapped_column(default=0)
    wins: Mapped[int] = mapped_column(default=0)
    draws: Mapped[int] = mapped_column(default=0)
    losses: Mapped[int] = mapped_column(default=0)


# Matches


class Match(Table):
    """One row for ever: who plays what, why, and how it ended."""

    __tablename__ = "matches"
    __table_args__ = (
        UniqueConstraint("kind", "key"),
        UniqueConstraint("competition_id", "seq"),
        one_of("kind", "daily", "ladder", "rated", "practice", "championship"),
        one_of("state", "queued", "in_progress", "interrupted", "done", "void", "failed"),
        Index(None, "state", "id"),
        Index(None, "competition_id", "finished_at"),
        Index(None, "competition_id", "at"),
    )

    id: Mapped[int] = mapped_column(BIG_KEY, primary_key=True)
    match_id: Mapped[Str10] = mapped_column(unique=True)
    """`m_` and 8 hexadecimal digits: its name outside of the database."""
    competition_id: Mapped[CompetitionId | None]
    kind: Mapped[MatchKind] = mapped_column(String(16))
    key: Mapped[Str120]
    """What was planned: planning the same twice makes one row."""
    game: Mapped[Str32]
    players: Mapped[int]
    options: Mapped[Json] = mapped_column(JSON, default=dict)
    seed: Mapped[Big]
    map_id: Mapped[str | None] = mapped_column(String(16), ForeignKey("maps.map_id"))
    level: Mapped[float | None]
    round_id: Mapped[RoundId | None] = mapped_column(index=True)
    sequence: Mapped[int | None]
    """The place in the order of a ladder's round."""
    state: Mapped[MatchState] = mapped_column(String(16), default="queued")
    attempt: Mapped[int] = mapped_column(default=0)
    troubles: Mapped[int] = mapped_column(default=0)
    """Attempts that ended by a fault of ours."""
    worker: Mapped[Str80 | None]
    lease_until: Mapped[datetime | None]
    sent_at: Mapped[datetime | None]
    turn: Mapped[int] = mapped_column(default=0)
    """How far the attempt has come."""
    at: Mapped[datetime]
    """When it was planned, or is due."""
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    reason: Mapped[Str40 | None]
    request_id: Mapped[str | None] = mapped_column(String(LONGEST_ID), default=present_id)
    """Of the request, or of the tick, that has planned it: the log tells the rest."""
    seq: Mapped[Big | None]
    """1, 2, 3 ... without gaps: the order in which rated results were applied."""


class MatchParticipant(Table):
    """Who sat at a slot of a match, and what came of it."""

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
    """`builtin:NAME` or `program:`, where no row of `bots` stands behind it."""
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


class Battle(Table):
    """One game of a match, with one replay."""

    __tablename__ = "battles"

    match_id: Mapped[MatchId] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    options: Mapped[Json] = mapped_column(JSON, default=dict)
    first_slot: Mapped[int]
    """The slot that had the first seat."""
    reason: Mapped[Str40]
    ranks: Mapped[Json] = mapped_column(JSON)
    scores: Mapped[Json] = mapped_column(JSON)
    turns: Mapped[int]
    replay_key: Mapped[Str120 | None]
    bytes: Mapped[Big] = mapped_column(default=0)
    pruned_at: Mapped[datetime | None]
    started_at: Mapped[datetime]
    ended_at: Mapped[datetime]


class Map(Table):
    """A map that matches are played on; its body is in the object store."""

    __tablename__ = "maps"

    map_id: Mapped[Str16] = mapped_column(primary_key=True)
    game: Mapped[Str32]
    players: Mapped[int]
    rows: Mapped[int]
    cols: Mapped[int]
    meta: Mapped[Json] = mapped_column(JSON, default=dict)
    sha256: Mapped[Str64]
    last_used_at: Mapped[datetime | None]


# The hub itself


class Worker(Table):
    """A process that plays matches; it lives if it was seen within a minute."""

    __tablename__ = "workers"

    id: Mapped[Str80] = mapped_column(primary_key=True)
    """`host:pid:start`."""
    version: Mapped[Str40]
    slots: Mapped[int]
    state: Mapped[Str16]
    started_at: Mapped[datetime]
    seen_at: Mapped[datetime] = mapped_column(index=True)


class Audit(Table):
    """What somebody did that must be accounted for; a trigger refuses to change or delete it."""

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
