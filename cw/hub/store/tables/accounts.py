"""The tables of accounts: users, their friends, and the tickets that let them in."""

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

from cw.hub.store.tables.base import (
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
    """An account. One that was deleted keeps its row, its id and, for a while, its username_key."""

    __tablename__ = "users"
    __table_args__ = (one_of("role", Role), {"sqlite_autoincrement": True})

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
    bot_mails: Mapped[bool] = mapped_column(default=True, server_default=true())
    """Whether a mail shall say that a bot of theirs cannot be reached."""
    host_mails: Mapped[bool] = mapped_column(default=True, server_default=true())
    """Whether mails shall tell what the hosts of their tournaments announce."""
    locked_at: Mapped[datetime | None]
    created_at: Mapped[datetime]
    deleted_at: Mapped[datetime | None]


class Friend(Base):
    """That one user has added another as a friend; it goes one way."""

    __tablename__ = "friends"

    user_id: Mapped[UserId] = mapped_column(primary_key=True)
    friend_id: Mapped[UserId] = mapped_column(primary_key=True, index=True)
    created_at: Mapped[datetime]


class PersonalLimit(Base):
    """That a limit is another one for a person."""

    __tablename__ = "personal_limits"

    user_id: Mapped[UserId] = mapped_column(primary_key=True)
    name: Mapped[Str32] = mapped_column(primary_key=True)
    most: Mapped[int]
    """0: it may not be done at all."""


class KnownPlace(Base):
    """A browser or a network from which somebody has logged in, by a digest of it."""

    __tablename__ = "known_places"

    user_id: Mapped[UserId] = mapped_column(primary_key=True)
    place: Mapped[Str64] = mapped_column(primary_key=True)
    seen_at: Mapped[datetime] = mapped_column(index=True)


class MailCount(Base):
    """What an address was sent within a day, by a digest of it that nobody else can make."""

    __tablename__ = "mail_counts"

    address: Mapped[Str64] = mapped_column(primary_key=True)
    sent: Mapped[Json] = mapped_column(JSON, default=list)
    """Pairs of the kind of a mail and its moment, as ISO 8601."""
    last_at: Mapped[datetime] = mapped_column(index=True)


class Mail(Base):
    """A mail that waits to be sent, or was; its address and its link are found when it is sent."""

    __tablename__ = "mails"
    __table_args__ = (
        one_of("state", MailState),
        Index(None, "state", "due_at"),
        Index(None, "user_id", "news_key", unique=True),
    )

    id: Mapped[int] = mapped_column(BIG_KEY, primary_key=True)
    message_id: Mapped[Str80] = mapped_column(unique=True)
    """The same at each attempt: a server that gets it twice can tell. The link is made of it."""
    kind: Mapped[Str16]
    user_id: Mapped[UserId] = mapped_column(index=True)
    bot_id: Mapped[BotId | None]
    """The bot that it is about."""
    email: Mapped[Str254 | None]
    """Where it goes, if not to the address of the account; erased when it is sent."""
    news_key: Mapped[Str40 | None]
    """What news it tells: nobody is told the same twice."""
    words: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))
    """Its subject and its paragraphs, if it tells news to many; erased when it is sent."""
    state: Mapped[MailState] = mapped_column(String(16), default="waiting")
    attempt: Mapped[int] = mapped_column(default=0)
    """How often somebody has begun to send it."""
    due_at: Mapped[datetime]
    """When it may be sent; while somebody sends it, when that one counts as gone."""
    reason: Mapped[Str80] = mapped_column(default="")
    """Why the last attempt has failed."""
    created_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]


class Ticket(Base):
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
    email: Mapped[Str254 | None]
    """The address that a link proves, and that its user has from then on."""
    scopes: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    last_used_at: Mapped[datetime | None]
