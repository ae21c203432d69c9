"""Tickets: random strings that grant a right, such as sessions, links and API tokens.

Only the SHA-256 of each is stored. A ticket grants its holder one right, until it expires, is used
up or is revoked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from secrets import token_urlsafe
from typing import Final, Literal, TypeAlias

from sqlalchemy import ColumnElement, bindparam, delete, func, select, update

from cw.errors import CapacityError, UsageError
from cw_hub.accounts import audit
from cw_hub.store.database import Session
from cw_hub.store.models import Ticket, TicketKind, User

LENGTH: Final = 43
"""Length of a ticket in characters: 256 bits."""

TOKEN: Final = "cw_"  # noqa: S105
"""Prefix of access tokens, so that users and secret scanners recognise them."""

Scope: TypeAlias = Literal["read", "bots", "admin"]
"""Rights of an access token: read one's own data, manage one's bots, act as an admin."""

LinkKind: TypeAlias = Literal["reset", "verify", "email"]
LINKS: Final[tuple[LinkKind, ...]] = ("reset", "verify", "email")
LINK_LIFETIME: Final = timedelta(hours=24)

REMEMBERED: Final = "remembered"
"""The label of a session that outlives the browser session."""

PRINTED: Final = "printed"
"""The label of a link that was not emailed, which therefore proves no email address."""

LIFETIMES: Final = {REMEMBERED: timedelta(days=90), None: timedelta(days=7)}
"""The lifetime of a session after its last use, by label."""

EXTENDED: Final = timedelta(days=1)
"""A session is extended at most once per this interval."""


@dataclass(frozen=True, slots=True)
class Redeemed:
    """The contents of a ticket that has been used up."""

    user_id: int
    label: str | None
    email: str | None = None
    """The email address that the ticket proves to be the user's."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The user authenticated by a session or an access token, and that ticket itself."""

    user_id: int
    username: str
    display_name: str | None
    avatar: str | None
    is_admin: bool
    digest: str
    label: str | None
    last_used_at: datetime | None
    """None if the access token has never been used."""
    expires_at: datetime
    scopes: frozenset[Scope] | None = None
    """What an access token allows; None for a session, which allows everything."""


HOLDER: Final = (
    select(
        Ticket.user_id,
        User.username,
        User.display_name,
        User.avatar,
        User.role,
        Ticket.digest,
        Ticket.label,
        Ticket.last_used_at,
        Ticket.expires_at,
        Ticket.scopes,
    )
    .join(User, User.id == Ticket.user_id)
    .where(
        Ticket.digest == bindparam("digest"),
        Ticket.kind == bindparam("kind"),
        Ticket.expires_at > bindparam("now"),
        User.locked_at.is_(None),
        User.deleted_at.is_(None),
    )
)
"""The query for the user of a ticket; built once, as every page for players runs it."""


def digest_of(ticket: str) -> str:
    """Return the stored digest of a ticket."""
    return sha256(ticket.encode("utf-8", "surrogatepass")).hexdigest()


def issue_session(session: Session, user_id: int, *, remembered: bool) -> str:
    """Return a new ticket that logs a user in; each call returns a different one."""
    label = REMEMBERED if remembered else None
    ticket = Ticket(kind="session", user_id=user_id, label=label)
    return issue(session, session.now(), ticket, LIFETIMES[label])


def issue_link(session: Session, kind: LinkKind, user_id: int, label: str | None = None) -> str:
    """Return a new ticket for a link; earlier ones stay valid."""
    return issue(
        session, session.now(), Ticket(kind=kind, user_id=user_id, label=label), LINK_LIFETIME
    )


def issue_link_again(
    session: Session,
    kind: LinkKind,
    user_id: int,
    text: str,
    email: str | None = None,
) -> None:
    """Use the given text as the ticket of a link, valid from now on. Idempotent.

    `text` must have 256 bits that cannot be guessed; `email` is the email address that the link
    proves, if it is not the account's.
    """
    revoke(session, text)
    now = session.now()
    ticket = Ticket(kind=kind, user_id=user_id, digest=digest_of(text), email=email)
    ticket.created_at = ticket.last_used_at = now
    ticket.expires_at = now + LINK_LIFETIME
    session.add(ticket)


def issue_token(
    session: Session,
    user_id: int,
    label: str,
    *,
    scopes: Iterable[Scope],
    lifetime: timedelta,
) -> str:
    """Return a new access token, marked as never used; each call returns a different one."""
    ticket = Ticket(kind="api", user_id=user_id, label=label, scopes=sorted(scopes))
    text = issue(session, session.now(), ticket, lifetime, TOKEN)
    ticket.last_used_at = None
    return text


def issue(
    session: Session, now: datetime, ticket: Ticket, lifetime: timedelta, prefix: str = ""
) -> str:
    """Complete and store a ticket; return its text, which is not stored."""
    text = prefix + token_urlsafe(32)
    ticket.digest = digest_of(text)
    ticket.created_at = ticket.last_used_at = now
    ticket.expires_at = now + lifetime
    session.add(ticket)
    return text


def find_holder(session: Session, ticket: str) -> Holder | None:
    """Return the user of a session; None if it has ended, or the user is locked or deleted.

    Executes one query.
    """
    return _find_holder(session, "session", ticket)


def find_bearer(session: Session, token: str) -> Holder | None:
    """Return the user of an access token; None if it is invalid, or the user locked or deleted.

    Executes one query.
    """
    return _find_holder(session, "api", token)


def _find_holder(session: Session, kind: TicketKind, ticket: str) -> Holder | None:
    parameters = {"digest": digest_of(ticket), "kind": kind, "now": session.now()}
    row = session.execute(HOLDER, parameters).one_or_none()
    if row is None:
        return None
    return Holder(
        user_id=row.user_id,
        username=row.username or "",
        display_name=row.display_name,
        avatar=row.avatar,
        is_admin=row.role == "admin",
        digest=row.digest,
        label=row.label,
        last_used_at=row.last_used_at,
        expires_at=row.expires_at,
        scopes=frozenset(row.scopes or ()) if kind == "api" else None,
    )


def is_stale(holder: Holder, now: datetime) -> bool:
    """Return whether a session is due to be extended."""
    return holder.last_used_at is None or now - holder.last_used_at >= EXTENDED


def extend(session: Session, holder: Holder) -> None:
    """Restart a session's lifetime from now; one that has ended stays ended. Idempotent."""
    now = session.now()
    session.execute(
        update(Ticket)
        .where(Ticket.digest == holder.digest)
        .values(last_used_at=now, expires_at=now + LIFETIMES[holder.label])
    )


def is_open(session: Session, kind: LinkKind, ticket: str) -> bool:
    """Return whether a link can still be used, without using it up."""
    query = select(Ticket.digest).where(*_is_open(session.now(), kind, ticket))
    return session.execute(query).one_or_none() is not None


def redeem(session: Session, kind: LinkKind, ticket: str) -> Redeemed | None:
    """Use up a link and return its contents; None if it is unknown, used or expired.

    Of concurrent callers, exactly one succeeds.
    """
    row = session.execute(
        delete(Ticket)
        .where(*_is_open(session.now(), kind, ticket))
        .returning(Ticket.user_id, Ticket.label, Ticket.email)
        # A single DELETE decides: reading the row first would let others redeem it in the meantime.
        .execution_options(synchronize_session=False)
    ).one_or_none()
    return None if row is None else Redeemed(row.user_id, row.label, row.email)


def _is_open(now: datetime, kind: LinkKind, ticket: str) -> tuple[ColumnElement[bool], ...]:
    return (
        Ticket.digest == digest_of(ticket),
        Ticket.kind == kind,
        Ticket.user_id.is_not(None),
        Ticket.expires_at > now,
    )


def revoke(session: Session, ticket: str) -> None:
    """Delete a ticket, which also ends everything created from it. Idempotent."""
    revoke_digest(session, digest_of(ticket))


def revoke_digest(session: Session, digest: str) -> None:
    """Delete the ticket with a digest, which also ends everything created from it. Idempotent."""
    session.execute(delete(Ticket).where(Ticket.digest == digest))


def revoke_all(session: Session, user_id: int, *kinds: TicketKind) -> None:
    """Delete a user's tickets, all of them or only some kinds. Idempotent."""
    of_user = delete(Ticket).where(Ticket.user_id == user_id)
    session.execute(of_user.where(Ticket.kind.in_(kinds)) if kinds else of_user)


MOST: Final = 10
"""Maximum number of valid tokens per user."""

LONGEST_NAME: Final = 40
DAYS: Final = (30, 90, 365)
"""The offered validity periods of tokens, in days."""

NOTED: Final = timedelta(minutes=10)
"""The use of a token is recorded at most once per this interval."""


class TooManyTokens(CapacityError):
    """A user already has the maximum number of tokens."""


class NotAdmin(UsageError):
    """The token would allow more than its user may do."""


@dataclass(frozen=True, slots=True)
class NewToken:
    """A requested token: its name, what it allows, and for how long."""

    name: str
    scopes: frozenset[Scope]
    days: int


@dataclass(frozen=True, slots=True)
class Token:
    """A token as listed for its user; the token itself is shown only once."""

    digest: str
    name: str
    scopes: tuple[Scope, ...]
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None

    @property
    def short(self) -> str:
        """The first characters of its digest, enough to identify it."""
        return self.digest[:12]


def create(session: Session, user_id: int, new: NewToken) -> str:
    """Create a token for a user and return it, which is the only time. Each call adds another.

    Raises TooManyTokens if the user has ten, even with concurrent callers, and NotAdmin if the
    scope `admin` is requested for a user who is not an admin.
    """
    user = session.scalars(select(User).where(User.id == user_id).with_for_update()).one()
    if "admin" in new.scopes and user.role != "admin":
        raise NotAdmin(f"{user.username} is not an admin: cw hub user admin {user.username}")
    mine = (Ticket.user_id == user_id, Ticket.kind == "api", Ticket.expires_at > session.now())
    if session.scalars(select(func.count()).where(*mine)).one() >= MOST:
        raise TooManyTokens(f"You have {MOST} tokens. Please revoke one first.")
    lifetime = timedelta(days=new.days)
    text = issue_token(session, user_id, new.name, scopes=new.scopes, lifetime=lifetime)
    detail = {"name": new.name, "scopes": sorted(new.scopes), "days": new.days}
    audit.record(session, "create token", f"user:{user_id}", detail=detail)
    return text


OF_USER: Final = (
    select(Ticket)
    .where(Ticket.user_id == bindparam("user"), Ticket.kind == "api")
    .where(Ticket.expires_at > bindparam("now"))
    .order_by(Ticket.created_at, Ticket.digest)
)


def of_user(session: Session, user_id: int) -> list[Token]:
    """Return a user's valid tokens, oldest first."""
    rows = session.scalars(OF_USER, {"user": user_id, "now": session.now()})
    return [
        Token(
            row.digest,
            row.label or "",
            tuple(row.scopes or ()),
            row.created_at,
            row.expires_at,
            row.last_used_at,
        )
        for row in rows
    ]


def revoke_token(session: Session, user_id: int, digest: str) -> bool:
    """Revoke a user's token; return whether it existed.

    Of concurrent callers, exactly one succeeds.
    """
    gone = session.scalar(
        delete(Ticket)
        .where(Ticket.digest == digest, Ticket.user_id == user_id, Ticket.kind == "api")
        .returning(Ticket.label)
        .execution_options(synchronize_session=False)
    )
    if gone is None:
        return False
    audit.record(session, "revoke token", f"user:{user_id}", detail={"name": gone})
    return True


def is_token_stale(holder: Holder, now: datetime) -> bool:
    """Return whether the use of a token is due to be recorded."""
    return holder.last_used_at is None or now - holder.last_used_at >= NOTED


def note_use(session: Session, holder: Holder) -> None:
    """Record that a token has been used; a revoked one stays revoked. Idempotent."""
    used = update(Ticket).where(Ticket.digest == holder.digest)
    session.execute(used.values(last_used_at=session.now()))
