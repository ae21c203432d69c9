"""The tables of accounts: users, their friends, and their tickets."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal, TypeAlias

from sqlalchemy import (
    JSON,
    ForeignKey,
    Index,
    String,
    true,
)
from sqlalchemy.orm import Mapped, mapped_column

from cw_hub.store.tables.base import (
    BIG_KEY,
    Base,
    Big,
    BotId,
    CompetitionId,
    Json,
    Str2,
    Str16,
    Str32,
    Str40,
    Str64,
    Str80,
    Str200,
    Str254,
    TeamId,
    UserId,
    one_of,
)

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
    """Whether to mail the user when a bot of theirs cannot be reached."""
    host_mails: Mapped[bool] = mapped_column(default=True, server_default=true())
    """Whether to mail the user announcements of their tournaments' hosts."""
    locked_at: Mapped[datetime | None]
    created_at: Mapped[datetime]
    deleted_at: Mapped[datetime | None]


class Friend(Base):
    """One user added another as a friend; not mutual."""

    __tablename__ = "friends"

    user_id: Mapped[UserId] = mapped_column(primary_key=True)
    friend_id: Mapped[UserId] = mapped_column(primary_key=True, index=True)
    created_at: Mapped[datetime]


class PersonalLimit(Base):
    """A limit that differs for one person."""

    __tablename__ = "personal_limits"

    user_id: Mapped[UserId] = mapped_column(primary_key=True)
    name: Mapped[Str32] = mapped_column(primary_key=True)
    most: Mapped[int]
    """0 forbids it altogether."""


class KnownPlace(Base):
    """A browser or network from which a user has logged in, stored as a digest."""

    __tablename__ = "known_places"

    user_id: Mapped[UserId] = mapped_column(primary_key=True)
    place: Mapped[Str64] = mapped_column(primary_key=True)
    seen_at: Mapped[datetime] = mapped_column(index=True)


class MailCount(Base):
    """Mails to one address within a day; the address is stored as a digest only we can compute."""

    __tablename__ = "mail_counts"

    address: Mapped[Str64] = mapped_column(primary_key=True)
    sent: Mapped[Json] = mapped_column(JSON, default=list)
    """Pairs of a mail's kind and its time as ISO 8601."""
    last_at: Mapped[datetime] = mapped_column(index=True)


class Mail(Base):
    """A mail, queued or sent; its address and link are looked up when it is sent."""

    __tablename__ = "mails"
    __table_args__ = (
        one_of("state", MailState),
        Index(None, "state", "due_at"),
        Index(None, "user_id", "news_key", unique=True),
    )

    id: Mapped[int] = mapped_column(BIG_KEY, primary_key=True)
    message_id: Mapped[Str80] = mapped_column(unique=True)
    """Constant across attempts, so that a server can detect duplicates. The link is derived from
    it.
    """
    kind: Mapped[Str16]
    user_id: Mapped[UserId] = mapped_column(index=True)
    bot_id: Mapped[BotId | None]
    """The bot that the mail is about."""
    email: Mapped[Str254 | None]
    """The recipient, if not the address of the account; erased when the mail is sent."""
    news_key: Mapped[Str40 | None]
    """The news it contains: nobody gets the same news twice."""
    words: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))
    """Subject and paragraphs, if it is news for many; erased when the mail is sent."""
    state: Mapped[MailState] = mapped_column(String(16), default="waiting")
    attempt: Mapped[int] = mapped_column(default=0)
    """Number of attempts to send it."""
    due_at: Mapped[datetime]
    """When it may be sent; while it is being sent, when that sender counts as gone."""
    reason: Mapped[Str80] = mapped_column(default="")
    """Why the last attempt failed."""
    created_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]


class Ticket(Base):
    """A random token that was handed out, stored as its SHA-256. A used one is deleted."""

    __tablename__ = "tickets"

    digest: Mapped[Str64] = mapped_column(primary_key=True)
    kind: Mapped[TicketKind] = mapped_column(String(16))
    user_id: Mapped[UserId | None] = mapped_column(index=True)
    team_id: Mapped[TeamId | None] = mapped_column(index=True)
    competition_id: Mapped[CompetitionId | None] = mapped_column(index=True)
    parent: Mapped[str | None] = mapped_column(
        String(64), ForeignKey("tickets.digest", ondelete="CASCADE"), index=True
    )
    """The ticket that this session was created from, and ends with."""
    label: Mapped[Str40 | None]
    email: Mapped[Str254 | None]
    """The address that a link proves, which then becomes the user's."""
    scopes: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    last_used_at: Mapped[datetime | None]
