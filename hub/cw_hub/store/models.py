"""The ORM models of all tables of the hub.

Times are UTC; columns of `Mapped[X | None]` are nullable.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias, get_args

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
    true,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from cw_hub.context import LONGEST_ID, present_id

Json: TypeAlias = Any
"""A JSON value whose structure depends on the column."""


class Moment(TypeDecorator[datetime]):
    """A time in UTC; SQLite stores it without a zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the time in UTC; raise ValueError if it has no zone."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value} has no time zone")
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the time in UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


BIG_KEY: Final = BigInteger().with_variant(Integer, "sqlite")
"""An autoincrementing key; SQLite supports that only for INTEGER, which is as large."""

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


class Base(DeclarativeBase):
    """Base class of all tables of the hub."""

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


def one_of(column: str, choices: Any) -> CheckConstraint:
    """Return a check constraint that a column has one of the values of a `Literal`."""
    values = ", ".join(f"'{value}'" for value in get_args(choices))
    return CheckConstraint(f"{column} IN ({values})", name=column)


Role: TypeAlias = Literal["player", "admin"]

MailState: TypeAlias = Literal["waiting", "sent", "dead", "dropped"]

TicketKind: TypeAlias = Literal[
    "session", "reset", "verify", "email", "api", "card", "host_card", "team", "host"
]


class User(Base):
    """An account. A deleted one keeps its row, its id and, for a while, its username_key."""

    __tablename__ = "users"
    __table_args__ = (one_of("role", Role), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    username: Mapped[Str32 | None]
    username_key: Mapped[Str32 | None] = mapped_column(unique=True)
    """The case-folded username: names that differ only in case are equal."""
    display_name: Mapped[Str64 | None]
    email: Mapped[Str254 | None]
    email_verified_at: Mapped[datetime | None]
    password_hash: Mapped[Str200 | None]
    github_id: Mapped[Big | None] = mapped_column(unique=True)
    role: Mapped[Role] = mapped_column(String(16), default="player")
    country: Mapped[Str2 | None]
    born: Mapped[date | None]
    avatar: Mapped[Str64 | None]
    """The SHA-256 of the avatar."""
    bot_mails: Mapped[bool] = mapped_column(default=True, server_default=true())
    """Whether to email the user when one of their bots cannot be reached."""
    host_mails: Mapped[bool] = mapped_column(default=True, server_default=true())
    """Whether to email the user announcements by the hosts of their tournaments."""
    locked_at: Mapped[datetime | None]
    created_at: Mapped[datetime]
    deleted_at: Mapped[datetime | None]


class Friend(Base):
    """A user's friend; the relation is not mutual."""

    __tablename__ = "friends"

    user_id: Mapped[UserId] = mapped_column(primary_key=True)
    friend_id: Mapped[UserId] = mapped_column(primary_key=True, index=True)
    created_at: Mapped[datetime]


class PersonalLimit(Base):
    """A personal limit that overrides the default for one user."""

    __tablename__ = "personal_limits"

    user_id: Mapped[UserId] = mapped_column(primary_key=True)
    name: Mapped[Str32] = mapped_column(primary_key=True)
    most: Mapped[int]
    """The maximum; 0 forbids the activity altogether."""


class KnownPlace(Base):
    """A browser or network from which a user has logged in, stored as a digest."""

    __tablename__ = "known_places"

    user_id: Mapped[UserId] = mapped_column(primary_key=True)
    place: Mapped[Str64] = mapped_column(primary_key=True)
    seen_at: Mapped[datetime] = mapped_column(index=True)


class MailCount(Base):
    """Emails to one recipient within a day; the email address is stored as a keyed digest."""

    __tablename__ = "mail_counts"

    address: Mapped[Str64] = mapped_column(primary_key=True)
    sent: Mapped[Json] = mapped_column(JSON, default=list)
    """Pairs of an email's kind and the time it was sent, as ISO 8601."""
    last_at: Mapped[datetime] = mapped_column(index=True)


class Mail(Base):
    """A queued or sent email; its recipient and link are looked up when it is sent."""

    __tablename__ = "mails"
    __table_args__ = (
        one_of("state", MailState),
        Index(None, "state", "due_at"),
        Index(None, "user_id", "news_key", unique=True),
    )

    id: Mapped[int] = mapped_column(BIG_KEY, primary_key=True)
    message_id: Mapped[Str80] = mapped_column(unique=True)
    """The Message-ID, constant across attempts, so that servers can detect duplicates.

    The link is derived from it.
    """
    kind: Mapped[Str16]
    user_id: Mapped[UserId] = mapped_column(index=True)
    bot_id: Mapped[BotId | None]
    """The bot that the email is about."""
    email: Mapped[Str254 | None]
    """The recipient, if not the account's own email address; erased when the email is sent."""
    news_key: Mapped[Str40 | None]
    """The key of the news it contains: no user gets the same news twice."""
    words: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))
    """Subject and paragraphs, if it is news for many users; erased when the email is sent."""
    state: Mapped[MailState] = mapped_column(String(16), default="waiting")
    attempt: Mapped[int] = mapped_column(default=0)
    """Number of attempts to send it."""
    due_at: Mapped[datetime]
    """When it may be sent; while it is being sent, when the sender's lease expires."""
    reason: Mapped[Str80] = mapped_column(default="")
    """Why the last attempt failed."""
    created_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]


class Ticket(Base):
    """A random token that was issued, stored as its SHA-256. A used one is deleted."""

    __tablename__ = "tickets"

    digest: Mapped[Str64] = mapped_column(primary_key=True)
    kind: Mapped[TicketKind] = mapped_column(String(16))
    user_id: Mapped[UserId | None] = mapped_column(index=True)
    team_id: Mapped[TeamId | None] = mapped_column(index=True)
    competition_id: Mapped[CompetitionId | None] = mapped_column(index=True)
    parent: Mapped[str | None] = mapped_column(
        String(64), ForeignKey("tickets.digest", ondelete="CASCADE"), index=True
    )
    """The ticket that this session was created from, and with which it ends."""
    label: Mapped[Str40 | None]
    email: Mapped[Str254 | None]
    """The email address that a link proves, which then becomes the user's."""
    scopes: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    last_used_at: Mapped[datetime | None]


BotKind: TypeAlias = Literal["url", "program", "builtin"]

BotStatus: TypeAlias = Literal["PENDING", "ACTIVE", "INACTIVE", "SUSPENDED", "RETIRED"]

VersionState: TypeAlias = Literal["building", "ready", "failed"]

Decision: TypeAlias = Literal["stronger", "not stronger"]

ComparisonState: TypeAlias = Literal["running", "decided", "undecided", "stopped"]


ProgramUse: TypeAlias = Literal["match", "test"]


class Bot(Base):
    """A named program that plays one game and belongs to a user or a team."""

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
    """The public id: `b_` and 8 hexadecimal digits."""
    game: Mapped[Str32]
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    team_id: Mapped[int | None] = mapped_column(ForeignKey("teams.id"), unique=True)
    name: Mapped[Str32]
    name_key: Mapped[Str64]
    """The case-folded name."""
    kind: Mapped[BotKind] = mapped_column(String(16))
    endpoint: Mapped[Str500]
    """The URL of a `url` bot, the strategy of a `builtin`, or "" for a program."""
    description: Mapped[Str500] = mapped_column(default="")
    settings: Mapped[Json] = mapped_column(JSON, default=dict)
    secret: Mapped[bytes | None]
    """The sealed secret; see sealing.py."""
    key_id: Mapped[Str16 | None]
    secret_version: Mapped[int] = mapped_column(default=0)
    status: Mapped[BotStatus] = mapped_column(String(16), default="PENDING")
    reason: Mapped[Str500] = mapped_column(default="")
    check_due_at: Mapped[datetime | None]
    """When the next health check is due; null if no sweep checks the bot."""
    checked_at: Mapped[datetime | None]
    healthy_at: Mapped[datetime | None]
    failures: Mapped[int] = mapped_column(default=0)
    """Number of consecutive failures."""
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
    """The language, by the name that kits use; "" if unknown."""
    note: Mapped[Str120] = mapped_column(default="", server_default=text("''"))
    """A one-line note by its author."""
    state: Mapped[VersionState] = mapped_column(String(16))
    log: Mapped[Long] = mapped_column(default="")
    """The names of the files in its log."""
    checks: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))
    """The steps of its check; null until checked."""
    created_at: Mapped[datetime]


class BotActivation(Base):
    """An activation of a version, which from then on is the one that the bot plays with."""

    __tablename__ = "bot_activations"

    id: Mapped[int] = mapped_column(primary_key=True)
    bot_id: Mapped[BotId] = mapped_column(index=True)
    number: Mapped[int]
    """The activated version's number."""
    at: Mapped[datetime]


class ProgramCheck(Base):
    """A program check claimed by a worker: running, or waiting for its share of the program slots.

    The row is deleted when the check ends.
    """

    __tablename__ = "program_checks"

    bot_id: Mapped[BotId] = mapped_column(primary_key=True)
    worker: Mapped[str | None] = mapped_column(String(80))
    """Null while the check waits."""
    sent_at: Mapped[datetime | None]
    """When its last message was sent; null if it must be sent again."""


class LastProgram(Base):
    """The single row that records which kind of program run started last.

    A worker that starts a run locks it, so that two workers do not take the same program slot.
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
    """Number of pairs planned so far, including finished ones; pairs are numbered from 0."""
    pairs: Mapped[int] = mapped_column(default=0)
    """The finished pairs that count, in order."""
    total: Mapped[float] = mapped_column(default=0.0)
    """Sum of the scores of the counted pairs."""
    squares: Mapped[float] = mapped_column(default=0.0)
    """Sum of the squares of those scores."""
    wins: Mapped[int] = mapped_column(default=0)
    losses: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]


CompetitionState: TypeAlias = Literal["draft", "planned", "running", "paused", "over"]
"""A draft is hidden; a planned competition is public and starts automatically."""


class Competition(Base):
    """A competition: a game and a format, such as a daily game, a ladder or a rated tournament."""

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
    """Incremented with every change visible on its pages; used as their ETag."""
    created_at: Mapped[datetime]
    description: Mapped[Long] = mapped_column(default="", server_default=text("''"))
    """The description as Markdown."""
    zone: Mapped[Str64] = mapped_column(default="UTC", server_default=text("'UTC'"))
    """The time zone (tz database name) in which its hosts enter times."""
    picture: Mapped[Str64 | None]
    """The SHA-256 of the image shown in lists and link previews."""


class CompetitionHost(Base):
    """A host of a competition."""

    __tablename__ = "competition_hosts"

    competition_id: Mapped[CompetitionId] = mapped_column(primary_key=True)
    user_id: Mapped[UserId] = mapped_column(primary_key=True, index=True)
    added_at: Mapped[datetime]


class Invitation(Base):
    """An invitation link with which users join a competition and form teams."""

    __tablename__ = "invitations"

    competition_id: Mapped[CompetitionId] = mapped_column(primary_key=True)
    code: Mapped[Str16] = mapped_column(unique=True)
    is_open: Mapped[bool] = mapped_column(default=True)
    most_teams: Mapped[int]
    """Maximum number of teams with a slot; further teams wait."""
    most_members: Mapped[int]
    """Maximum number of members per team."""
    created_at: Mapped[datetime]


class Guest(Base):
    """An email address imported by a host, to receive the invitation."""

    __tablename__ = "guests"

    competition_id: Mapped[CompetitionId] = mapped_column(primary_key=True)
    email: Mapped[Str254] = mapped_column(primary_key=True)
    team: Mapped[Str40] = mapped_column(default="")
    """The team name proposed in the imported list, or ""."""
    added_at: Mapped[datetime]


class Event(Base):
    """A scheduled event of a competition: an announcement, or an action to be applied."""

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


MatchState: TypeAlias = Literal["queued", "in_progress", "interrupted", "done", "void", "failed"]


class Match(Base):
    """A match with its participants, its purpose and its result; kept forever."""

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
    """The public id: `m_` and 8 hexadecimal digits."""
    competition_id: Mapped[CompetitionId | None]
    kind: Mapped[Str16]
    """The format it is played for, or `practice`."""
    key: Mapped[Str120]
    """Identifies what was planned; makes planning idempotent."""
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
    """Number of attempts that failed through a fault of the hub."""
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
    """The id of the request or tick that planned it, to find its log lines."""
    seq: Mapped[Big | None]
    """1, 2, 3 ... without gaps: the order in which rated results were applied."""


class MatchParticipant(Base):
    """A seat of a match, with the participant and its result."""

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
    """The URL of a web service whose URL changed after the match was planned."""
    version: Mapped[int | None]
    """The version number of the program that played, set when the match is claimed."""
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
    """A game of a match, with one replay."""

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
    """The last heartbeat of a process in one role; alive if seen within the last minute."""

    __tablename__ = "heartbeats"

    process: Mapped[Str80] = mapped_column(primary_key=True)
    """`host:pid:start`."""
    role: Mapped[Str16] = mapped_column(primary_key=True)
    version: Mapped[Str40]
    started_at: Mapped[datetime]
    seen_at: Mapped[datetime] = mapped_column(index=True)
    figures: Mapped[Json] = mapped_column(JSON, default=dict)
    """Metrics by name, such as `cpu_seconds`."""


class Mark(Base):
    """A named timestamp of the site, such as that of its last tick."""

    __tablename__ = "marks"

    name: Mapped[Str40] = mapped_column(primary_key=True)
    at: Mapped[datetime]


class Count(Base):
    """The number of times an event has occurred in the processes of the site."""

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


class Rating(Base):
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
    """The open match for which the bot is reserved."""


class RatingTotal(Base):
    """Aggregated results of a bot, which can be rebuilt from the matches."""

    __tablename__ = "rating_totals"
    # The key is most of the row: SQLite stores rows in the order in which ranges are summed.
    __table_args__ = {"sqlite_with_rowid": False}  # noqa: RUF012 - as SQLAlchemy has it

    competition_id: Mapped[CompetitionId] = mapped_column(primary_key=True)
    players: Mapped[int] = mapped_column(primary_key=True)
    """Number of players of the matches; 0 for any number."""
    day: Mapped[int] = mapped_column(primary_key=True)
    """Days since 1970 in UTC; 0 for all time."""
    bot_id: Mapped[BotId] = mapped_column(primary_key=True, index=True)
    games: Mapped[int] = mapped_column(default=0)
    wins: Mapped[int] = mapped_column(default=0)
    draws: Mapped[int] = mapped_column(default=0)
    losses: Mapped[int] = mapped_column(default=0)


GroupKind: TypeAlias = Literal["public", "internal", "final"]

EntryStatus: TypeAlias = Literal["playing", "waiting", "removed", "withdrawn", "disqualified"]
"""A `waiting` team has no slot yet; a `removed` one returns if its removal is undone."""


class Group(Base):
    """A group of teams in a ladder that play each other."""

    __tablename__ = "groups"
    __table_args__ = (UniqueConstraint("competition_id", "slug"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[CompetitionId]
    slug: Mapped[Str32]
    name: Mapped[Str40]
    kind: Mapped[GroupKind] = mapped_column(String(16))
    revision: Mapped[int] = mapped_column(default=0)


class Team(Base):
    """A team in a ladder; any holder of its token may act for it."""

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
    """When a host removed it; the removal can be undone for an hour."""
    code: Mapped[Str16 | None]
    """The captain's code for new members; null for a team without an account."""


class TeamMember(Base):
    """A user's membership in a team: one per competition."""

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


TaskKind: TypeAlias = Literal["run", "ask", "series", "check"]

TaskState: TypeAlias = Literal["queued", "running", "done", "stopped", "lost"]


class DraftFile(Base):
    """A file of a user's draft for a game, as last saved."""

    __tablename__ = "draft_files"

    user_id: Mapped[UserId] = mapped_column(primary_key=True)
    game: Mapped[Str40] = mapped_column(primary_key=True)
    name: Mapped[Str120] = mapped_column(primary_key=True)
    text: Mapped[Long]
    digest: Mapped[Str64]
    """The hexadecimal SHA-256 of its bytes."""
    size: Mapped[int]
    """The size in bytes."""
    changed_at: Mapped[datetime]


class WorkshopTask(Base):
    """A worker's task on a draft, as the draft was when the task was requested.

    A user has one task of each kind per game; a new one replaces it.
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
        # Ids are not reused: a worker may still hold that of a replaced task.
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(BIG_KEY, primary_key=True)
    """Ids increase in the order of the requests."""
    user_id: Mapped[UserId]
    game: Mapped[Str40]
    kind: Mapped[TaskKind] = mapped_column(String(16))
    state: Mapped[TaskState] = mapped_column(String(16), default="queued")
    request: Mapped[Json] = mapped_column(JSON)
    """Opponent, seat and turn, as needed by the kind."""
    digest: Mapped[Str64]
    """The digest of the draft's files."""
    source: Mapped[bytes | None]
    """The files as a zip; null once the task is over."""
    report: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))
    """The report for the page; null until its worker sends one."""
    cause: Mapped[Str200] = mapped_column(default="")
    """Why it ended early, or ""."""
    worker: Mapped[Str120] = mapped_column(default="")
    created_at: Mapped[datetime]
    sent_at: Mapped[datetime | None]
    """When its last message to the workers was sent."""
    beat_at: Mapped[datetime | None]
    """The time of the worker's last heartbeat."""
    ended_at: Mapped[datetime | None]


class WorkshopPiece(Base):
    """Part of a task's output in addition to `report`: lines of a match, turns, a replay."""

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


__all__ = [
    "Audit",
    "Base",
    "Battle",
    "Bot",
    "BotActivation",
    "BotKind",
    "BotStatus",
    "BotVersion",
    "Comparison",
    "ComparisonState",
    "Competition",
    "CompetitionHost",
    "CompetitionState",
    "Count",
    "DraftFile",
    "Entry",
    "EntryStatus",
    "Event",
    "Friend",
    "Group",
    "GroupKind",
    "Guest",
    "Heartbeat",
    "Invitation",
    "Json",
    "KnownPlace",
    "LastProgram",
    "Mail",
    "MailCount",
    "MailState",
    "Map",
    "Mark",
    "Match",
    "MatchParticipant",
    "MatchState",
    "Moment",
    "PersonalLimit",
    "ProgramCheck",
    "Rating",
    "RatingTotal",
    "Role",
    "Round",
    "RoundScore",
    "TaskKind",
    "TaskState",
    "Team",
    "TeamMember",
    "Ticket",
    "TicketKind",
    "User",
    "VersionState",
    "Worker",
    "WorkshopPiece",
    "WorkshopTask",
]
