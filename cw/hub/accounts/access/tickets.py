"""Tickets: random strings that we hand out, and of which we store only the SHA-256.

Who holds one may do what it is for, until it expires, is used up or is revoked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from secrets import token_urlsafe
from typing import Final, Literal, TypeAlias

from sqlalchemy import ColumnElement, bindparam, delete, select, update
from sqlalchemy.orm import Session

from cw.hub.clock import Clock
from cw.hub.store.tables import Ticket, TicketKind, User

LENGTH: Final = 43
"""Characters of a ticket: 256 bits."""

TOKEN: Final = "cw_"  # noqa: S105
"""How access tokens begin, so that people and scanners see what they have found."""

Scope: TypeAlias = Literal["read", "bots", "admin"]
"""What an access token may allow: to see one's own, to act for one's bots, to do as admins do."""

LinkKind: TypeAlias = Literal["reset", "verify", "email"]
LINKS: Final[tuple[LinkKind, ...]] = ("reset", "verify", "email")
LINK_LIFETIME: Final = timedelta(hours=24)

REMEMBERED: Final = "remembered"
"""The label of a session that outlives its browser."""

PRINTED: Final = "printed"
"""The label of a link that no mail has carried, so that it proves no address."""

LIFETIMES: Final = {REMEMBERED: timedelta(days=90), None: timedelta(days=7)}
"""From the last use of a session, by its label."""

EXTENDED: Final = timedelta(days=1)
"""A session that was used within this time is not written anew."""


@dataclass(frozen=True, slots=True)
class Redeemed:
    """What a ticket that was used up has said."""

    user_id: int
    label: str | None
    email: str | None = None
    """The address that it proves."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The user whom a session or an access token lets in, and that ticket itself."""

    user_id: int
    username: str
    display_name: str | None
    avatar: str | None
    is_admin: bool
    digest: str
    label: str | None
    last_used_at: datetime | None
    """None for an access token that has never been used."""
    expires_at: datetime
    scopes: frozenset[Scope] | None = None
    """What an access token allows; None for a session, which allows all."""


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
"""The user whom a ticket lets in; built once, as every page of a player asks it."""


def digest_of(ticket: str) -> str:
    """Return what we keep of a ticket."""
    return sha256(ticket.encode("utf-8", "surrogatepass")).hexdigest()


def issue_session(session: Session, clock: Clock, user_id: int, *, remembered: bool) -> str:
    """Return a new ticket that logs a user in; each call gives another."""
    label = REMEMBERED if remembered else None
    ticket = Ticket(kind="session", user_id=user_id, label=label)
    return issue(session, clock(), ticket, LIFETIMES[label])


def issue_link(
    session: Session, clock: Clock, kind: LinkKind, user_id: int, label: str | None = None
) -> str:
    """Return a new ticket for a link; each call gives another, and the earlier ones stay."""
    return issue(session, clock(), Ticket(kind=kind, user_id=user_id, label=label), LINK_LIFETIME)


def issue_link_again(  # noqa: PLR0913, PLR0917 - what it is for, and what it proves
    session: Session,
    clock: Clock,
    kind: LinkKind,
    user_id: int,
    text: str,
    email: str | None = None,
) -> None:
    """Let a text that only its reader can know be the ticket of a link, from now on. Twice: once.

    `text` must have 256 bits that nobody can guess; `email` is the address that the link proves, if
    not that of the account.
    """
    revoke(session, text)
    now = clock()
    ticket = Ticket(kind=kind, user_id=user_id, digest=digest_of(text), email=email)
    ticket.created_at = ticket.last_used_at = now
    ticket.expires_at = now + LINK_LIFETIME
    session.add(ticket)


def issue_token(  # noqa: PLR0913 - as many things as there are to be said
    session: Session,
    clock: Clock,
    user_id: int,
    label: str,
    *,
    scopes: Iterable[Scope],
    lifetime: timedelta,
) -> str:
    """Return a new access token, which has never been used; each call gives another."""
    ticket = Ticket(kind="api", user_id=user_id, label=label, scopes=sorted(scopes))
    text = issue(session, clock(), ticket, lifetime, TOKEN)
    ticket.last_used_at = None
    return text


def issue(
    session: Session, now: datetime, ticket: Ticket, lifetime: timedelta, prefix: str = ""
) -> str:
    """Complete a ticket, and return its text, which is stored nowhere."""
    text = prefix + token_urlsafe(32)
    ticket.digest = digest_of(text)
    ticket.created_at = ticket.last_used_at = now
    ticket.expires_at = now + lifetime
    session.add(ticket)
    return text


def find_holder(session: Session, clock: Clock, ticket: str) -> Holder | None:
    """Return whom a session lets in; None if it has ended, or the user is locked or gone.

    One statement.
    """
    return _find_holder(session, clock, "session", ticket)


def find_bearer(session: Session, clock: Clock, token: str) -> Holder | None:
    """Return whom an access token lets in; None if it is over, or the user is locked or gone.

    One statement.
    """
    return _find_holder(session, clock, "api", token)


def _find_holder(session: Session, clock: Clock, kind: TicketKind, ticket: str) -> Holder | None:
    parameters = {"digest": digest_of(ticket), "kind": kind, "now": clock()}
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


def extend(session: Session, clock: Clock, holder: Holder) -> None:
    """Let a session live on from now; twice is once, and one that has ended stays so."""
    now = clock()
    session.execute(
        update(Ticket)
        .where(Ticket.digest == holder.digest)
        .values(last_used_at=now, expires_at=now + LIFETIMES[holder.label])
    )


def is_open(session: Session, clock: Clock, kind: LinkKind, ticket: str) -> bool:
    """Return whether a link can be used; asking uses nothing up."""
    query = select(Ticket.digest).where(*_is_open(clock(), kind, ticket))
    return session.execute(query).one_or_none() is not None


def redeem(session: Session, clock: Clock, kind: LinkKind, ticket: str) -> Redeemed | None:
    """Use a link up and return what it said; None if it is unknown, used or too old.

    Of any number that try at once, one wins.
    """
    row = session.execute(
        delete(Ticket)
        .where(*_is_open(clock(), kind, ticket))
        .returning(Ticket.user_id, Ticket.label, Ticket.email)
        # One DELETE decides who wins: no row is read before it that another could redeem meanwhile.
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
    """End a ticket, and what was made from it; twice is once."""
    revoke_digest(session, digest_of(ticket))


def revoke_digest(session: Session, digest: str) -> None:
    """End the ticket of which we keep this, and what was made from it; twice is once."""
    session.execute(delete(Ticket).where(Ticket.digest == digest))


def revoke_all(session: Session, user_id: int, *kinds: TicketKind) -> None:
    """End all tickets of a user, or those of some kinds; twice is once."""
    of_user = delete(Ticket).where(Ticket.user_id == user_id)
    session.execute(of_user.where(Ticket.kind.in_(kinds)) if kinds else of_user)
